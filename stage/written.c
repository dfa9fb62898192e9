/* SPDX-License-Identifier: Apache-2.0
 *
 * written.c: which pages of a private map are the process's own.  Runs in
 * clients, in any of their threads.
 */

#include <config.h>

#include "stage/written.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"

#define PAGEMAP		"/proc/self/pagemap"

/* One fault brings in as many pages of a file: no more of them are dropped at
 * once faster than they are looked at one by one, and so many between two that
 * are dropped go with them. */
#define FEW_PAGES	16u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED	24
#endif

/* What /proc/PID/pagemap says of a page. */
#define ENTRY_FILE	(UINT64_C(1) << 61)
#define ENTRY_SWAPPED	(UINT64_C(1) << 62)
#define ENTRY_PRESENT	(UINT64_C(1) << 63)
#define ENTRIES		1024u

static size_t
page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*--- dropping ------------------------------------------------------------*/

int
written_pagemap(void)
{
	int fd = open(PAGEMAP, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* A program that locks all its memory has locked this, too. */
int
written_give(uintptr_t start, uintptr_t end)
{
	void *p = (void *)start;	/* NOLINT: as the kernel gave it */

	if (start == end || madvise(p, end - start, MADV_DONTNEED) == 0 ||
	    (errno == EINVAL &&
	    madvise(p, end - start, MADV_DONTNEED_LOCKED) == 0))
		return 0;
	return -errno;
}

struct range {
	uintptr_t start, end;		/* to be dropped; none if equal */
};

/* Pages in ascending order; those with few others between them at once. */
static int
add_pages(struct range *r, uintptr_t start, uintptr_t end)
{
	int rc = 0;

	if (r->start == r->end || start - r->end > FEW_PAGES * page_size()) {
		rc = written_give(r->start, r->end);
		r->start = start;
	}
	r->end = end;
	return rc;
}

static int
add_regions(struct range *r, const struct scan_region v[], int nr,
    struct written *w)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < nr; i++) {
		size_t pages = (size_t)(v[i].end - v[i].start) / page_size();

		if ((v[i].categories & SCAN_FILE) != 0) {
			w->file += pages;
			continue;
		}
		w->own += pages;
		rc = add_pages(r, (uintptr_t)v[i].start, (uintptr_t)v[i].end);
	}
	return rc;
}

static int
drop_by_scan(int fd, uintptr_t base, size_t len, struct written *w)
{
	struct scan_region v[SCAN_REGIONS];
	struct scan_arg a = { .size = sizeof a, .start = base,
	    .end = base + len, .vec = (uintptr_t)v, .vec_len = SCAN_REGIONS,
	    .category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED,
	    .return_mask = SCAN_FILE };
	struct range r = { 0 };

	for (; a.start < a.end; a.start = a.walk_end) {
		int nr = ioctl(fd, SCAN, &a), rc;

		if (nr < 0)
			return -errno;
		rc = add_regions(&r, v, nr, w);
		if (rc < 0)
			return rc;
		if (a.walk_end <= a.start)
			return -EIO;
	}
	return written_give(r.start, r.end);
}

/* Of the pages from `at` on. */
static int
add_entries(struct range *r, const uint64_t entries[], size_t nr,
    uintptr_t at, struct written *w)
{
	const size_t page = page_size();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i++, at += page) {
		if ((entries[i] & (ENTRY_PRESENT | ENTRY_SWAPPED)) == 0)
			continue;
		if ((entries[i] & ENTRY_FILE) != 0) {
			w->file++;
			continue;
		}
		w->own++;
		rc = add_pages(r, at, at + page);
	}
	return rc;
}

static int
drop_by_read(int fd, uintptr_t base, size_t len, struct written *w)
{
	const size_t page = page_size(), nr = len / page;
	uint64_t entries[ENTRIES];
	struct range r = { 0 };

	if (lseek(fd, (off_t)(base / page * sizeof entries[0]), SEEK_SET) < 0)
		return -errno;
	for (size_t i = 0; i < nr; i += ENTRIES) {
		size_t n = nr - i < ENTRIES ? nr - i : ENTRIES;
		ssize_t got = io_read_all(fd, entries, n * sizeof entries[0]);
		int rc;

		if (got != (ssize_t)(n * sizeof entries[0]))
			return got < 0 ? (int)got : -EIO;
		rc = add_entries(&r, entries, n, base + i * page, w);
		if (rc < 0)
			return rc;
	}
	return written_give(r.start, r.end);
}

static int
drop_all(int fd, uintptr_t base, size_t len, struct written *w)
{
	(void)fd;
	(void)w;
	return written_give(base, base + len);
}

/* The fastest first. */
static int (*const drop_ways[])(int, uintptr_t, size_t, struct written *) = {
	[WRITTEN_SCAN] = drop_by_scan,
	[WRITTEN_READ] = drop_by_read,
	[WRITTEN_ALL] = drop_all,
};

int
written_drop_by(enum written_way way, void *base, size_t len,
    struct written *w)
{
	int fd = -1, rc;

	*w = (struct written){ 0 };
	if (way != WRITTEN_ALL) {
		fd = written_pagemap();
		if (fd < 0)
			return fd;
	}
	rc = drop_ways[way](fd, (uintptr_t)base, len, w);
	io_close(&fd);
	return rc;
}

int
written_drop(void *base, size_t len, struct written *w)
{
	int rc = -ENOTTY;

	if (len <= FEW_PAGES * page_size())
		return written_drop_by(WRITTEN_ALL, base, len, w);
	for (unsigned way = 0; rc < 0 && way < WRITTEN_WAYS; way++)
		rc = written_drop_by(way, base, len, w);
	return rc;
}

/*--- owning --------------------------------------------------------------*/

static int
own_by_populate(void *base, size_t len)
{
	for (;;)
		if (madvise(base, len, MADV_POPULATE_WRITE) == 0)
			return 0;
		else if (errno != EINTR && errno != EAGAIN)
			return -errno;
}

/* A write that changes nothing, whoever else writes there at the same time.
 * The compiler must not see that: it would make a read of it.  relaxed: what is
 * wanted of it is the fault. */
static int
own_by_touch(void *base, size_t len)
{
	const size_t page = page_size();
	char *p = base;

	for (size_t i = 0; i < len; i += page) {
		unsigned char nothing = 0;

		__asm__("" : "+r"(nothing));
		atomic_fetch_or_explicit((_Atomic unsigned char *)(p + i),
		    nothing, memory_order_relaxed);
	}
	return 0;
}

int
written_own_by(enum written_own_way way, void *base, size_t len)
{
	return way == WRITTEN_POPULATE ? own_by_populate(base, len) :
	    own_by_touch(base, len);
}

int
written_own(void *base, size_t len)
{
	int rc = written_own_by(WRITTEN_POPULATE, base, len);

	/* EINVAL: it is not known (Linux < 5.14), or the program has forbidden
	 * itself to write there: then it must not be tried. */
	if (rc == -EINVAL && madvise(NULL, 0, MADV_POPULATE_WRITE) != 0)
		rc = written_own_by(WRITTEN_TOUCH, base, len);
	return rc;
}
