/* SPDX-License-Identifier: Apache-2.0
 *
 * folder.h: the folder through which `destall profile` and one start of its job
 * speak: the schedule, which we write, and the journals, which the processes of the
 * job write.  Runs in the command only.
 *
 *  1. The folder is this user's alone (0700), under a new name for each start of
 *     the job, and gone when the session is closed, with all that is in it.
 *  2. We hold a lock on the schedule: a job that finds it free knows that nobody
 *     measures any more.
 *  3. Journals are input of strangers: a record that is none ends the reading of
 *     its file, and is counted.
 */

#ifndef ANALYZER_FOLDER_H
#define ANALYZER_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "probe/journal.h"
#include "probe/schedule.h"

#define FOLDER_NAME	"destall-profile."	/* and six letters */

struct folder_file {
	char		name[64];
	uint64_t	at;		/* read so far */
	bool		is_broken;
};

struct folder {
	char		path[PATH_MAX];
	int		dir;		/* -1: closed */
	int		lock;		/* the schedule */
	struct schedule	*schedule;
	uint32_t	nr_blocks;
	struct folder_file *files;
	size_t		nr_files;
	uint64_t	nr_broken;	/* journals that were not read to the end */
};

int folder_open(struct folder *s, uint32_t flags, struct ds_err *err);
void folder_close(struct folder *s);
	/* Also of one that could not be opened, or was all zeros. */

bool folder_add(struct folder *s, enum block_kind kind, uint32_t batches,
    uint32_t workers);
	/* One more block; false: there is no room for it. */

void folder_leave(struct folder *s, uint32_t how);
	/* 1: it is asked to leave at its next batch; 2: it may. */

typedef void folder_record_f(void *arg, size_t process,
    const struct journal_record *r, const char *text);
	/* process: the number of the journal; text: "" or what follows. */

void folder_read(struct folder *s, folder_record_f *each, void *arg);
	/* What is new in all journals. */

/* folder_sweep.c: for folder.c. */
void folder_sweep(const char *place);
	/* Removes what commands that were killed have left there. */
void folder_empty(int dir);
	/* Of its files. */

#endif
