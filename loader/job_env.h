/* SPDX-License-Identifier: Apache-2.0
 *
 * job_env.h: the environment of a job.  Runs in the command only.
 *
 *  1. It is the environment that we were given, in the same order, but for the
 *     variables named here; one that is named twice there is there once.
 *  2. The preload object stands first in LD_PRELOAD, and once, whatever was
 *     there; the rest of it stays as it was.
 */

#ifndef LOADER_JOB_ENV_H
#define LOADER_JOB_ENV_H

#include <stdint.h>

#include "base/err.h"

#define JOB_ENV_VARIABLES	5u

struct job_settings {
	const char	*object;	/* to preload */
	const char	*data;		/* DESTALL_DATA; NULL: as it is */
	const char	*cache;		/* DESTALL_CACHE; NULL: as it is */
	uint64_t	job;		/* DESTALL_JOB */
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

#endif
