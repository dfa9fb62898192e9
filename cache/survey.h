/* SPDX-License-Identifier: Apache-2.0
 *
 * survey.h: all that the hub tells of the cache, for `destall cache stat`.
 * Runs in the command only.
 *
 *  1. One question is one data set, or one job's use of one: figures of two
 *     of them may be of slightly different times.
 *  2. Names are as the hub has them, of any bytes: whoever shows them makes
 *     them fit for it.
 */

#ifndef CACHE_SURVEY_H
#define CACHE_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "cache/messages.h"
#include "cache/page.h"
#include "hub/link.h"

struct survey_set {
	uint32_t	set;
	char		*root;
	bool		in_use;
	bool		closed;		/* to admission */
	uint64_t	word[CACHE_STAT_WORDS];
};

struct survey_job {		/* one process and one data set */
	uint32_t	client;
	char		*name;		/* "1234 (python3)" */
	uint64_t	job;		/* 0: it did not say */
	bool		live;
	uint32_t	set;
	uint64_t	count[CACHE_COUNTS];
};

struct survey_hub {
	uint64_t	pid, generation, up_ns;
	uint64_t	clients;	/* but for the one that asks */
	uint64_t	connects, deaths, refused, expelled;
	uint64_t	turns, turns_over_1ms;
	uint64_t	longest_turn_cpu_ns, longest_turn_wall_ns;
	uint64_t	budget_bytes, used_bytes;
};

struct survey {
	struct survey_hub hub;
	struct survey_set *sets;
	size_t		nr_sets;
	struct survey_job *jobs;	/* those that live, and some that left */
	size_t		nr_jobs;
};

int survey_take(struct survey *s, struct link *l, struct ds_err *err);
	/* On failure too there must be a survey_fini(). */
void survey_fini(struct survey *s);

const struct survey_set *survey_find(const struct survey *s, uint32_t set);
	/* NULL: it was dropped. */

void survey_print(const struct survey *s);
	/* For people, to standard output. */

void survey_fill_json(const struct survey *s, json_t *doc);
	/* The members of the document. */
int survey_write_json(const struct survey *s, const char *path,
    struct ds_err *err);
	/* path as json_doc_write() has it. */

#endif
