/* SPDX-License-Identifier: Apache-2.0
 *
 * written.h: which pages of a private map are the process's own.  Runs in
 * clients, in any of their threads.
 *
 * A page of a private map is the file's until it is written to; then it is a
 * copy, and the process's own.  Which are, only the kernel knows.
 *
 *  1. A page that may be the process's own is dropped, or the call fails: who
 *     reads on would see what was there before.
 *  2. Dropping a page that is the file's changes nothing but the time that the
 *     next look at it takes.
 *  3. A page of a map that is watched is write-protected, by the kernel and for
 *     the kernel, from when it was the file's until it is written to.
 */

#ifndef STAGE_WRITTEN_H
#define STAGE_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct written {		/* pages, where somebody looked; else 0 */
	size_t	own, file;
};

/* All of these: len is of whole pages; 0 or -errno. */

int written_drop(void *base, size_t len, struct written *w);
	/* Gives back those pages of a private map that are the process's own,
	 * and perhaps some of the file's.  -errno: some are still its own. */

int written_own(void *base, size_t len);
	/* Makes all of them the process's own, while other threads read and
	 * write them.  -ENOMEM, -EINVAL (the program has taken the right to
	 * write from them), -EFAULT: some are not. */

/* How it is done; the first that works.  For tests. */
enum written_way { WRITTEN_SCAN, WRITTEN_READ, WRITTEN_ALL, WRITTEN_WAYS };
enum written_own_way { WRITTEN_POPULATE, WRITTEN_TOUCH };

int written_drop_by(enum written_way way, void *base, size_t len,
    struct written *w);
int written_own_by(enum written_own_way way, void *base, size_t len);

/*--- watch.c -------------------------------------------------------------*/

struct watch {			/* zeros: nothing is watched yet */
	bool	is_open, is_refused;
	int	fd;
	dev_t	dev;		/* to know it again */
	ino_t	ino;
};

int watch_add(struct watch *w, void *base, size_t len);
	/* What is the process's own now is not known by it: drop that next. */
void watch_remove(struct watch *w, void *base, size_t len);
int watch_drop(void *base, size_t len, struct written *w);
	/* Gives back what was written to since it is watched.  -E2BIG: that is
	 * much; -EPERM: it is not watched any more.  Then it is for
	 * written_drop() to do. */
void watch_end(struct watch *w);
	/* Also in a forked child. */

/*--- for both ------------------------------------------------------------*/

/* Linux 6.7; <linux/fs.h> may be older than the kernel. */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan_arg {
	uint64_t size, flags, start, end, walk_end;
	uint64_t vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask;
	uint64_t return_mask;
};

#define SCAN		_IOWR('f', 16, struct scan_arg)
#define SCAN_PROTECT	(UINT64_C(1) << 0)	/* flags */
#define SCAN_IF_ASYNC	(UINT64_C(1) << 1)
#define SCAN_WRITTEN	(UINT64_C(1) << 1)	/* categories */
#define SCAN_FILE	(UINT64_C(1) << 2)
#define SCAN_PRESENT	(UINT64_C(1) << 3)
#define SCAN_SWAPPED	(UINT64_C(1) << 4)
#define SCAN_REGIONS	128u

int written_pagemap(void);
	/* A descriptor, for one call: a program may close all it does not
	 * know. */
int written_give(uintptr_t start, uintptr_t end);

#endif
