/* SPDX-License-Identifier: Apache-2.0
 *
 * job_env.h: the environment of a job.  Runs in the command only.
 *
 *  1. It is the environment that we were given, in the same order, but for the
 *     variables named here; one that is named twice there is there once.
 *  2. The preload object stands first in LD_PRELOAD, and once, whatever was
 *     there; the rest of it stays as it was.  So does the folder of the hook
 *     in PYTHONPATH.
 */

#ifndef LAUNCH_JOB_ENV_H
#define LAUNCH_JOB_ENV_H

#include <stdint.h>

#include "base/err.h"

#define JOB_ENV_VARIABLES	6u

struct job_settings {
	const char	*object;	/* to preload; NULL: none */
	const char	*data;		/* DESTALL_DATA; NULL: as it is */
	const char	*cache;		/* DESTALL_CACHE; NULL: as it is */
	uint64_t	job;		/* DESTALL_JOB */
	const char	*hook;		/* for PYTHONPATH; NULL: as it is */
	const char	*profile;	/* DESTALL_PROFILE: then it does not share,
					 * and is no job of the cache */
};

struct job_env {
	char	**list;			/* as execve(2) wants it */
	char	*own[JOB_ENV_VARIABLES];
};

int job_env_init(struct job_env *e, char *const base[],
    const struct job_settings *s, struct ds_err *err);
	/* base must live as long: its strings are borrowed.  -ENOMEM. */
void job_env_fini(struct job_env *e);

const char *job_env_find(char *const base[], const char *name);
	/* The value, or NULL; of several the first, as getenv() has it. */

char *job_env_preload(const char *object, const char *before);
	/* LD_PRELOAD with the object, malloc'd; before may be NULL. */

char *job_env_python(const char *hook, const char *before);
	/* PYTHONPATH with the folder, malloc'd; before may be NULL.  An empty
	 * entry is the current folder, and stays. */

#endif
