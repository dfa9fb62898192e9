/* SPDX-License-Identifier: Apache-2.0
 *
 * resident.c: how much of a file is in memory.  Runs in every process.
 */

#include <config.h>

#include "probe/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 6.5; of headers, only newer ones have it. */
#ifndef SYS_cachestat
#define SYS_cachestat	451
#endif

struct cachestat_range {
	uint64_t	off, len;
};

struct cachestat {
	uint64_t	nr_cache, nr_dirty, nr_writeback;
	uint64_t	nr_evicted, nr_recently_evicted;
};

#define CHUNK_PAGES	1024u	/* that mincore() is asked of at a time */

static uint64_t
page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t
resident_pages(uint64_t bytes)
{
	uint64_t page = page_bytes();

	return bytes / page + (bytes % page != 0);
}

static bool
ask_cachestat(int fd, struct resident *r)
{
	struct cachestat_range all = { 0, 0 };	/* to the end of the file */
	struct cachestat now;

	if (syscall(SYS_cachestat, (long)fd, (long)&all, (long)&now, 0L, 0L,
	    0L) != 0)
		return false;
	/* Large folios reach past the end. */
	r->in_memory = now.nr_cache < r->pages ? now.nr_cache : r->pages;
	return true;
}

static bool
may_ask_mincore(int fd, const struct stat *st)
{
	return st->st_uid == geteuid() ||
	    faccessat(fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

static bool
ask_mapping(char *map, struct resident *r)
{
	unsigned char there[CHUNK_PAGES];
	uint64_t page = page_bytes(), sum = 0;

	for (uint64_t at = 0; at < r->pages; at += CHUNK_PAGES) {
		uint64_t nr = r->pages - at;

		nr = nr < CHUNK_PAGES ? nr : CHUNK_PAGES;
		if (mincore(map + at * page, nr * page, there) != 0)
			return false;
		for (uint64_t i = 0; i < nr; i++)
			sum += there[i] & 1;
	}
	r->in_memory = sum;
	return true;
}

/* The mapping is never touched: a file that is cut short meanwhile harms
 * nobody. */
static bool
ask_mincore(int fd, const struct stat *st, struct resident *r)
{
	size_t len = (size_t)st->st_size;
	bool is_told;
	void *map;

	if (!may_ask_mincore(fd, st))
		return false;
	map = mmap(NULL, len, PROT_NONE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return false;
	is_told = ask_mapping(map, r);
	(void)munmap(map, len);
	return is_told;
}

void
resident_look(int fd, const struct stat *st, struct resident *r)
{
	int error = errno;

	*r = (struct resident){ .pages = resident_pages((uint64_t)st->st_size) };
	r->is_told = r->pages == 0 || ask_cachestat(fd, r) ||
	    ask_mincore(fd, st, r);
	errno = error;
}
