/* SPDX-License-Identifier: Apache-2.0
 *
 * written.c: which pages of a private map are the process's own.  Runs in
 * clients, in any of their threads.
 *
 * A page of a private map is the file's until it is written to; then it is a
 * copy, and the process's own.  Which are, only the kernel knows.
 *
 *  1. No descriptor outlives a call: a program may close all it does not know.
 *  2. A page that may be the process's own is dropped, or the call fails: who
 *     reads on would see what was there before.
 *  3. Dropping a page that is the file's changes nothing but the time that the
 *     next look at it takes.
 */

#include <config.h>

#include "stage/maps.h"

#include <errno.h>
#include <fcntl.h>
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
#define SCAN_FILE	(UINT64_C(1) << 2)
#define SCAN_PRESENT	(UINT64_C(1) << 3)
#define SCAN_SWAPPED	(UINT64_C(1) << 4)
#define SCAN_REGIONS	128u

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

/* A program that locks all its memory has locked this, too. */
static int
drop(uintptr_t start, uintptr_t end)
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
	size_t	own;			/* bytes so far */
};

/* Pages in ascending order; those with few others between them at once. */
static int
add_pages(struct range *r, uintptr_t start, uintptr_t end)
{
	int rc = 0;

	if (r->start == r->end || start - r->end > FEW_PAGES * page_size()) {
		rc = drop(r->start, r->end);
		r->start = start;
	}
	r->end = end;
	r->own += end - start;
	return rc;
}

/* What is left; how many pages there were. */
static long
end_pages(const struct range *r)
{
	int rc = drop(r->start, r->end);

	return rc < 0 ? rc : (long)(r->own / page_size());
}

static long
drop_by_scan(int fd, uintptr_t base, size_t len)
{
	struct scan_region v[SCAN_REGIONS];
	struct scan_arg a = { .size = sizeof a, .start = base,
	    .end = base + len, .vec = (uintptr_t)v, .vec_len = SCAN_REGIONS,
	    .category_inverted = SCAN_FILE, .category_mask = SCAN_FILE,
	    .category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED };
	struct range r = { 0 };

	for (; a.start < a.end; a.start = a.walk_end) {
		int nr = ioctl(fd, SCAN, &a), rc = 0;

		if (nr < 0)
			return -errno;
		for (int i = 0; rc == 0 && i < nr; i++)
			rc = add_pages(&r, (uintptr_t)v[i].start,
			    (uintptr_t)v[i].end);
		if (rc < 0)
			return rc;
		if (a.walk_end <= a.start)
			return -EIO;
	}
	return end_pages(&r);
}

static bool
is_own(uint64_t entry)
{
	return (entry & (ENTRY_PRESENT | ENTRY_SWAPPED)) != 0 &&
	    (entry & ENTRY_FILE) == 0;
}

static long
drop_by_read(int fd, uintptr_t base, size_t len)
{
	const size_t page = page_size(), nr = len / page;
	uint64_t entries[ENTRIES];
	struct range r = { 0 };

	if (lseek(fd, (off_t)(base / page * sizeof entries[0]), SEEK_SET) < 0)
		return -errno;
	for (size_t i = 0; i < nr;) {
		size_t n = nr - i < ENTRIES ? nr - i : ENTRIES;
		ssize_t got = io_read_all(fd, entries, n * sizeof entries[0]);
		int rc = 0;

		if (got != (ssize_t)(n * sizeof entries[0]))
			return got < 0 ? (int)got : -EIO;
		for (size_t k = 0; rc == 0 && k < n; k++, i++)
			if (is_own(entries[k]))
				rc = add_pages(&r, base + i * page,
				    base + (i + 1) * page);
		if (rc < 0)
			return rc;
	}
	return end_pages(&r);
}

static long
drop_all(int fd, uintptr_t base, size_t len)
{
	(void)fd;
	return drop(base, base + len);
}

/* The fastest first. */
static long (*const drop_ways[])(int, uintptr_t, size_t) = {
	[WRITTEN_SCAN] = drop_by_scan,
	[WRITTEN_READ] = drop_by_read,
	[WRITTEN_ALL] = drop_all,
};

long
written_drop_by(enum written_way way, void *base, size_t len)
{
	int fd = -1;
	long rc;

	if (way != WRITTEN_ALL) {
		fd = open(PAGEMAP, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	rc = drop_ways[way](fd, (uintptr_t)base, len);
	io_close(&fd);
	return rc;
}

long
written_drop(void *base, size_t len)
{
	long rc = -ENOTTY;

	if (len <= FEW_PAGES * page_size())
		return written_drop_by(WRITTEN_ALL, base, len);
	for (unsigned way = 0; rc < 0 && way < WRITTEN_WAYS; way++)
		rc = written_drop_by(way, base, len);
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
