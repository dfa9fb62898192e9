/* SPDX-License-Identifier: Apache-2.0
 *
 * start.h: for who loads the object by dlopen(3) instead of LD_PRELOAD, or has
 * it preloaded and finds data sets later.  Runs in jobs.
 */

#ifndef PRELOAD_START_H
#define PRELOAD_START_H

__attribute__((visibility("default"))) int ds_late_roots(const char *list);
	/* Before the first open, and again for more: open64() answers from the
	 * cache for files below these roots, absolute and separated by colons,
	 * as soon as the hub has them listed (attached.h, 4).  One thread at a
	 * time; DESTALL=1 is not asked for.  Preloaded, what it wraps answers so
	 * as well; only where it began without a root, which NULL asks for: no
	 * root is added.  How many spellings of roots there are now, of
	 * FILTER_ROOTS_MAX at most; -EPERM: this program has more rights than
	 * its caller. */

#endif
