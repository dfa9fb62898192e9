/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_job.h: what `destall run` and `destall env` have in common: the options,
 * the data sets of a job, and the hub that caches them.
 * Runs in the command only.
 *
 *  1. --cache is DESTALL_CACHE: it is put into our own environment, where the
 *     hub that we start and the data sets that we open find it.
 *  2. Data sets that the user named must be there; those that were found on
 *     the job's command line may fail, and are left out.
 */

#ifndef LOADER_CMD_JOB_H
#define LOADER_CMD_JOB_H

#include <limits.h>
#include <stdbool.h>

#include "base/args.h"
#include "base/err.h"
#include "cache/roots.h"
#include "cache/survey.h"

struct job_options {
	const char	*cache;		/* NULL: not given */
	struct arg_list	data;
};

extern const struct arg_option job_options[];
extern const struct job_options job_defaults;

struct job {
	const char	*command;	/* "run": begins each line of ours */
	const char	*cache;		/* what holds of the option and the
					 * variable, or NULL */
	struct roots	roots;
	bool		are_named;	/* by the user */
	struct ds_hub	*hub;
	struct ds_data	*data[ROOTS_MAX];
};

void job_note(const struct job *j, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
	/* A line, unless DESTALL_LOG=quiet. */

int job_init(struct job *j, const char *command, const struct job_options *o,
    struct ds_err *err);
int job_find_roots(struct job *j, const struct job_options *o, int argc,
    char *const argv[], struct ds_err *err);
	/* --data, else DESTALL_DATA, where empty means none, else what argv
	 * names; there may be none.  Fails for what the user named. */
void job_find_hook(const struct job *j, char path[PATH_MAX]);
	/* The folder for PYTHONPATH.  "" if there is none; where it should be
	 * there, a line says why it is not. */
bool job_is_open(const struct job *j);
	/* There is no data set, and the user has not said that there is none:
	 * PyTorch loaders tell theirs. */
void job_tell_none(const struct job *j, const char *hook);
	/* That there is none. */
int job_connect(struct job *j, char *const options[], struct ds_err *err);
	/* To the hub, which is started with these options if there is none;
	 * says so if one runs that has another ceiling. */
int job_open_data(struct job *j, struct ds_err *err);
	/* Lists all roots and says what is cached; see rule 2. */
void job_fini(struct job *j);
	/* The data sets are no longer in use by us. */

#endif
