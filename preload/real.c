/* SPDX-License-Identifier: Apache-2.0
 *
 * real.c: finds the functions behind ours.  Runs in jobs, in the preload
 * object.
 */

#include <config.h>

#include "preload/real.h"

#include <dlfcn.h>
#include <errno.h>

_Atomic(void *) real_addresses[NR_REAL_CALLS];

static const char *const names[][2] = {
#define REAL_NAMES(type, name, sibling, params) { #name, #sibling },
	REAL_CALLS(REAL_NAMES)
#undef REAL_NAMES
};

void *
real_find(enum real_call call)
{
	int error = errno;
	void *p = NULL;

	for (unsigned i = 0; i < 2 && p == NULL; i++)
		p = dlsym(RTLD_NEXT, names[call][i]);
	/* The program's next dlerror() is not to tell of our search. */
	if (p == NULL)
		(void)dlerror();
	atomic_store_explicit(&real_addresses[call], p, memory_order_relaxed);
	errno = p != NULL ? error : ENOSYS;
	return p;
}

__attribute__((constructor)) static void
find_all(void)
{
	int error = errno;

	for (unsigned i = 0; i < NR_REAL_CALLS; i++)
		(void)real_find((enum real_call)i);
	errno = error;
}
