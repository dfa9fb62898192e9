/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.c: which of the loops over pixels work on this processor.
 * Runs in clients.
 */

#include <config.h>

#include "prep/kernels.h"

#include <string.h>

static const struct kernels *const all[] = {
#if defined(__x86_64__)
	&kernels_avx2,
#endif
#if defined(__aarch64__)
	&kernels_neon,
#endif
	&kernels_plain,
	NULL,
};

const struct kernels *const *
kernels_all(void)
{
	return all;
}

const struct kernels *
kernels_find(const char *name)
{
	for (size_t i = 0; all[i] != NULL; i++) {
		if ((strcmp(name, "auto") == 0 ||
		    strcmp(name, all[i]->name) == 0) && all[i]->works())
			return all[i];
	}
	return NULL;
}
