/* SPDX-License-Identifier: Apache-2.0
 *
 * env.h: variables of the environment.  Runs in every process.
 *
 * A program may change its environment in one thread while another of its
 * threads is in us: getenv() does not survive that.  So the preload object keeps
 * a copy of what it will ask for, made while the program has one thread.
 */

#ifndef BASE_ENV_H
#define BASE_ENV_H

#define ENV_VALUE	4096u	/* what is longer is cut */

void env_keep(void);
	/* From now on env_get() tells how things were now. */

const char *env_get(const char *name);
	/* Its value, or NULL.  Once kept, those of env.c alone. */

#endif
