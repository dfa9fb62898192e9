/* SPDX-License-Identifier: Apache-2.0
 *
 * slow_cached.c: what of a file is in the page cache, and bringing in the rest.
 * Runs inside the programs under test, preloaded.
 *
 *  1. A page is there when mincore(2) says so; it tells of files that the caller
 *     owns or may write, as those of tests are.
 *  2. What is fetched has come when slow_cached_fetch() returns, and nothing
 *     beyond it is on its way: WILLNEED asks for just these pages, and a read
 *     that finds its pages starts no read-ahead of the kernel's.  So what is
 *     charged does not depend on time.
 *  3. All calls are raw: the wrappers are not to see them.
 */

#include <config.h>

#include "tests/shim/slow.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PAGE		4096u
#define AHEAD		(128u << 10)	/* as the kernel does by default */
#define LOOK_PAGES	1024u		/* at a time */
#define LOOK		((uint64_t)LOOK_PAGES * PAGE)

/* Part of a file, whole pages but for the end of it. */
struct part {
	uint64_t	from, to;
};

bool
slow_cached_can_miss(const char *folder)
{
	struct statfs fs;

	return statfs(folder, &fs) == 0 && fs.f_type != TMPFS_MAGIC &&
	    fs.f_type != RAMFS_MAGIC;
}

/* Up to LOOK bytes; a mapping that cannot be made counts as in memory. */
static uint64_t
count_missing_here(int fd, uint64_t from, uint64_t to)
{
	unsigned char in[LOOK_PAGES];
	uint64_t missing = 0, left;
	void *p;

	p = (void *)syscall(SYS_mmap, NULL, to - from, PROT_NONE, MAP_SHARED,
	    fd, from);
	if (p == MAP_FAILED)
		return 0;
	if (syscall(SYS_mincore, p, to - from, in) == 0)
		for (uint64_t i = 0; from + i * PAGE < to; i++) {
			left = to - from - i * PAGE;
			if ((in[i] & 1) == 0)
				missing += left < PAGE ? left : PAGE;
		}
	syscall(SYS_munmap, p, to - from);
	return missing;
}

static uint64_t
count_missing(int fd, const struct part *p)
{
	uint64_t missing = 0, to;

	for (uint64_t from = p->from; from < p->to; from = to) {
		to = p->to - from < LOOK ? p->to : from + LOOK;
		missing += count_missing_here(fd, from, to);
	}
	return missing;
}

/* The kernel takes a limited piece of WILLNEED at a time. */
static void
bring_in(int fd, const struct part *p)
{
	char buf[4 * PAGE];

	for (uint64_t at = p->from; at < p->to; at += AHEAD)
		syscall(SYS_fadvise64, fd, at, AHEAD < p->to - at ? AHEAD :
		    p->to - at, POSIX_FADV_WILLNEED);
	for (uint64_t at = p->from; at < p->to; at += sizeof buf)
		if (syscall(SYS_pread64, fd, buf, sizeof buf, at) <= 0)
			return;
}

static struct part
cut_part(uint64_t at, uint64_t len, uint64_t size)
{
	struct part p = { .from = at - at % PAGE, .to = size };

	if (at < size && len < size - at)
		p.to = at + len + (PAGE - 1) - (at + len + PAGE - 1) % PAGE;
	if (p.to > size)
		p.to = size;
	return p;
}

uint64_t
slow_cached_fetch(int fd, off64_t at, uint64_t len)
{
	struct part p;
	struct stat st;
	uint64_t missing;

	if (at == SLOW_HERE)
		at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
	if (at < 0 || len == 0 || fstat(fd, &st) != 0 || st.st_size <= at)
		return 0;
	p = cut_part((uint64_t)at, len, (uint64_t)st.st_size);
	if (count_missing(fd, &p) == 0)
		return 0;
	if (p.to - p.from < AHEAD)
		p = cut_part(p.from, AHEAD, (uint64_t)st.st_size);
	missing = count_missing(fd, &p);
	bring_in(fd, &p);
	return missing;
}
