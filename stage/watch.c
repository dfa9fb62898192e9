/* SPDX-License-Identifier: Apache-2.0
 *
 * watch.c: maps whose pages the kernel marks when they are written to.  Runs in
 * clients.
 *
 * To find out whether a page is the file's, the kernel looks at what it knows of
 * that page, one cache miss each: a millisecond for the 38.5 MB that a job has
 * just read, which is a quarter of the time that reading takes.  Pages that are
 * write-protected by userfaultfd(2), asynchronously, are found by the page table
 * alone: 40 microseconds (Linux 6.7).  The kernel resolves the faults itself;
 * nobody waits for us.
 *
 *  1. The descriptor is proved to be ours before each use.  When a program
 *     closes it, nothing is watched any more, and the kernel says so.
 *  2. Such a map is read in page by page, not many at once: so it is watched
 *     only when it is there already, and nobody writes to it.
 */

#include <config.h>

#include "stage/written.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY	1
#endif
/* Older headers do not have these. */
#define FEATURE_WP_SHMEM	(UINT64_C(1) << 12)
#define FEATURE_WP_UNPOPULATED	(UINT64_C(1) << 13)
#define FEATURE_WP_ASYNC	(UINT64_C(1) << 15)
#define FEATURES	(FEATURE_WP_SHMEM | FEATURE_WP_UNPOPULATED | \
			FEATURE_WP_ASYNC)

#define MUCH		16u	/* more than a sixteenth of the pages */

/*--- the descriptor ------------------------------------------------------*/

static bool
is_ours(const struct watch *w)
{
	struct stat st;

	return w->is_open && fstat(w->fd, &st) == 0 && st.st_dev == w->dev &&
	    st.st_ino == w->ino;
}

/* For faults of the program itself anyone may have one; others there are not,
 * since nothing is handed to us.  Where calls are filtered this one often is,
 * and a filter may end the program: it is not tried. */
static int
open_watch(struct watch *w)
{
	struct uffdio_api api = { .api = UFFD_API, .features = FEATURES };
	struct stat st;
	int fd;

	if (prctl(PR_GET_SECCOMP) > 0)
		return -EACCES;
	fd = (int)syscall(SYS_userfaultfd,
	    O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api) != 0 ||
	    (api.features & FEATURES) != FEATURES || fstat(fd, &st) != 0) {
		io_close(&fd);
		return -ENOSYS;
	}
	w->fd = io_out_of_the_way(fd);
	w->dev = st.st_dev;
	w->ino = st.st_ino;
	w->is_open = true;
	return 0;
}

void
watch_end(struct watch *w)
{
	if (is_ours(w))
		close(w->fd);
	*w = (struct watch){ 0 };
}

/*--- maps ----------------------------------------------------------------*/

/* Marks what is written to, and protects it anew.  How many regions there were,
 * as far as v has room and until `max` pages; *whole: that was all. */
static int
look(void *base, size_t len, struct scan_region v[SCAN_REGIONS],
    size_t max, bool *whole)
{
	struct scan_arg a = { .size = sizeof a,
	    .flags = SCAN_PROTECT | SCAN_IF_ASYNC,
	    .start = (uintptr_t)base, .end = (uintptr_t)base + len,
	    .vec = (uintptr_t)v, .vec_len = v != NULL ? SCAN_REGIONS : 0,
	    .max_pages = max, .category_mask = SCAN_WRITTEN,
	    .return_mask = SCAN_WRITTEN };
	int fd = written_pagemap(), nr;

	if (fd < 0)
		return fd;
	nr = ioctl(fd, SCAN, &a);
	if (nr < 0)
		nr = -errno;
	*whole = a.walk_end >= a.end;
	io_close(&fd);
	return nr;
}

int
watch_add(struct watch *w, void *base, size_t len)
{
	struct uffdio_register r = {
		.range = { .start = (uintptr_t)base, .len = len },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	bool whole;
	int rc;

	if (!is_ours(w)) {
		w->is_open = false;
		rc = w->is_refused ? -ENOSYS : open_watch(w);
		w->is_refused = rc < 0;
		if (rc < 0)
			return rc;
	}
	if (ioctl(w->fd, UFFDIO_REGISTER, &r) != 0)
		return -errno;
	rc = look(base, len, NULL, 0, &whole);
	if (rc >= 0 && whole)
		return 0;
	watch_remove(w, base, len);
	return rc < 0 ? rc : -EIO;
}

void
watch_remove(struct watch *w, void *base, size_t len)
{
	struct uffdio_range r = { .start = (uintptr_t)base, .len = len };

	if (is_ours(w))
		(void)ioctl(w->fd, UFFDIO_UNREGISTER, &r);
}

/* Not more at once than was written to: what is between is there. */
int
watch_drop(void *base, size_t len, struct written *w)
{
	size_t pages = len / (size_t)sysconf(_SC_PAGESIZE);
	struct scan_region v[SCAN_REGIONS];
	bool whole;
	int nr, rc = 0;

	*w = (struct written){ 0 };
	nr = look(base, len, v, pages / MUCH + 1, &whole);
	if (nr < 0)
		return nr;
	if (!whole)
		return -E2BIG;
	for (int i = 0; rc == 0 && i < nr; i++)
		rc = written_give((uintptr_t)v[i].start, (uintptr_t)v[i].end);
	return rc;
}
