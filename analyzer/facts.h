/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.h: what the processes of one start of a job have told, record by record.
 * Runs in the command only.
 *
 *  1. Records are kept as they came, process by process in the order in which each
 *     wrote them; nothing in them is trusted but that their kind is one.
 *  2. A rank is a process that trains: it has said which of its loaders does.
 */

#ifndef ANALYZER_FACTS_H
#define ANALYZER_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyzer/storage.h"
#include "probe/journal.h"
#include "reports/result.h"

struct fact {
	uint16_t	kind;
	uint32_t	process, loader;
	uint64_t	word[7];
};

struct fact_loader {
	uint32_t	process, loader;
	uint64_t	batch_size, workers, prefetch, batches, samples, flags;
	uint64_t	given, given_ns;	/* batches, and the time in them */
	char		name[128];
};

struct fact_process {
	pid_t		pid;		/* 0: it has not said hello */
	enum journal_role role;
	uint64_t	rank, ranks;
	uint32_t	trains;		/* the loader, or 0 */
	uint64_t	trains_ns;
	uint32_t	blocks_ended;
	uint64_t	opens;		/* of files, where they are told */
	bool		has_left;
	enum journal_left why;
};

struct facts {
	struct fact	*list;
	size_t		nr;
	struct fact_process *processes;
	size_t		nr_processes;
	struct fact_loader *loaders;
	size_t		nr_loaders;
	struct storage	opened;		/* files, where they are told */
	char		data[4096];	/* the folder of the set's files, or "" */
	struct result	*result;	/* whose confessions notes become */
};

void facts_init(struct facts *f, struct result *r);
void facts_fini(struct facts *f);

void facts_add(void *facts, size_t process, const struct journal_record *r,
    const char *text);
	/* A folder_record_f. */

const struct fact_loader *facts_loader(const struct facts *f, uint32_t process,
    uint32_t loader);
	/* Or NULL. */

const struct fact_loader *facts_training(const struct facts *f);
	/* The loader that trains, of the first rank; NULL: none does yet. */

size_t facts_ranks(const struct facts *f);
	/* Processes that train. */

uint64_t facts_ranks_expected(const struct facts *f);
	/* As many as they say that they are; at least 1. */

bool facts_all_left(const struct facts *f);
	/* There are ranks, and each of them is about to leave. */
bool facts_has_device(const struct facts *f);
	/* The job has an accelerator at work that PyTorch knows. */

bool facts_has_left(const struct facts *f, enum journal_left why);
	/* Some rank, for this reason. */

uint32_t facts_blocks_ended(const struct facts *f);
	/* By all ranks. */

bool facts_has_role(const struct facts *f, enum journal_role role);

#endif
