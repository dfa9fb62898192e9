/* SPDX-License-Identifier: Apache-2.0
 *
 * env.c: variables of the environment.  Runs in every process.
 */

#include <config.h>

#include "base/env.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that is asked for once a program runs. */
static const char *const names[] = {
	"DESTALL_HUB", "XDG_RUNTIME_DIR", "TMPDIR", "DESTALL_JOB",
	"DESTALL_CACHE", "DESTALL_STAGE", "DESTALL_AUDIT", "DESTALL_LOG",
	"DESTALL_GROUP", "DESTALL_WINDOW", "DESTALL_LAG",
};
#define NR_NAMES	(sizeof names / sizeof names[0])

/* Written by env_keep() alone, before there is a second thread. */
static char values[NR_NAMES][ENV_VALUE];
static bool is_set[NR_NAMES];
static bool is_kept;

void
env_keep(void)
{
	for (size_t i = 0; i < NR_NAMES; i++) {
		const char *value = getenv(names[i]);

		is_set[i] = value != NULL;
		if (value != NULL)
			(void)snprintf(values[i], ENV_VALUE, "%s", value);
	}
	is_kept = true;
}

const char *
env_get(const char *name)
{
	if (!is_kept)
		return getenv(name);
	for (size_t i = 0; i < NR_NAMES; i++) {
		if (strcmp(names[i], name) == 0)
			return is_set[i] ? values[i] : NULL;
	}
	return NULL;
}
