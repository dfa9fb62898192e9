/* SPDX-License-Identifier: Apache-2.0
 *
 * store_loop.c: what a hit of the cache costs, by the way in which items lie
 * in memory, for the benchmark tests/bench/store.
 *
 *     store_loop WAY FOLDER
 *
 * 1,000 items of 110 kB, read 5 times each in another order; every cache line
 * is touched, as a decoder would.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "cache/store.h"

#define ITEMS	1000u
#define ITEM	112640u
#define ROUNDS	5u
#define STRIDE	389u		/* prime to ITEMS: another order */

static char bytes[ITEM];
static const char *maps[ITEMS];
static int memfds[ITEMS];
static int folder;		/* of files, or the view of a store */
static volatile unsigned long sink;

static _Noreturn void
give_up(const char *what)
{
	fprintf(stderr, "store_loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
touch(const char *p)
{
	unsigned long sum = 0;

	for (unsigned i = 0; i < ITEM; i += 64)
		sum += (unsigned char)p[i];
	sink += sum;
}

static void
name_of(char name[32], unsigned item)
{
	(void)snprintf(name, 32, "store_loop.%u", item);
}

/*--- setting up ----------------------------------------------------------*/

static void
fill_folder(const char *path)
{
	char name[32];

	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; i < ITEMS; i++) {
		int fd;

		name_of(name, i);
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || io_write_all(fd, bytes, ITEM) < 0)
			give_up(path);
		io_close(&fd);
	}
}

static void
fill_store(const char *path)
{
	struct store *s;
	struct store_draft d;
	struct ds_err err;
	char name[32];

	(void)path;
	if (store_new(&s, UINT64_C(1) << 30, &err) < 0)
		give_up(err.text);
	for (unsigned i = 0; i < ITEMS; i++) {
		name_of(name, i);
		if (store_begin(s, ITEM, &d, &err) < 0 ||
		    io_write_all(d.writer, bytes, ITEM) < 0 ||
		    store_publish(s, &d, name, &err) < 0)
			give_up(err.text);
	}
	folder = store_view(s);
}

static const char *
map_item(unsigned item)
{
	char name[32];
	void *p;
	int fd;

	name_of(name, item);
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	p = fd < 0 ? MAP_FAILED : mmap(NULL, ITEM, PROT_READ,
	    MAP_SHARED | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		give_up("map");
	io_close(&fd);
	return p;
}

static void
fill_kept_maps(const char *path)
{
	fill_store(path);
	for (unsigned i = 0; i < ITEMS; i++)
		maps[i] = map_item(i);
}

static void
fill_memfds(const char *path)
{
	(void)path;
	for (unsigned i = 0; i < ITEMS; i++) {
		memfds[i] = memfd_create("item", MFD_CLOEXEC);
		if (memfds[i] < 0 || io_write_all(memfds[i], bytes, ITEM) < 0)
			give_up("memfd");
	}
}

static void
fill_extent(const char *path)
{
	int fd = memfd_create("extent", MFD_CLOEXEC);
	char *p;

	(void)path;
	for (unsigned i = 0; i < ITEMS; i++) {
		if (fd < 0 || io_write_all(fd, bytes, ITEM) < 0)
			give_up("extent");
	}
	p = mmap(NULL, (size_t)ITEMS * ITEM, PROT_READ,
	    MAP_SHARED | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		give_up("extent");
	for (unsigned i = 0; i < ITEMS; i++)
		maps[i] = p + (size_t)i * ITEM;
}

/*--- reading an item -----------------------------------------------------*/

static void
read_and_touch(int fd)
{
	static char into[ITEM];

	if (fd < 0 || pread(fd, into, ITEM, 0) != (ssize_t)ITEM)
		give_up("read");
	close(fd);
	touch(into);
}

static void
read_file(unsigned item)
{
	char name[32];

	name_of(name, item);
	read_and_touch(openat(folder, name, O_RDONLY | O_CLOEXEC));
}

static void
read_memfd(unsigned item)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(),
	    memfds[item]);
	read_and_touch(open(path, O_RDONLY | O_CLOEXEC));
}

/* What an unmodified program could be given of an extent. */
static void
read_copy(unsigned item)
{
	int fd = memfd_create("copy", MFD_CLOEXEC);

	if (fd < 0 || io_write_all(fd, maps[item], ITEM) < 0)
		give_up("copy");
	read_and_touch(fd);
}

static void
read_map(unsigned item)
{
	const char *p = map_item(item);

	touch(p);
	munmap((void *)(uintptr_t)p, ITEM);
}

static void
read_kept(unsigned item)
{
	touch(maps[item]);
}

static const struct way {
	const char *name;
	void (*fill)(const char *path);
	void (*read)(unsigned item);
} ways[] = {
	{ "page-cache", fill_folder, read_file },
	{ "store-read", fill_store, read_file },
	{ "store-map", fill_store, read_map },
	{ "store-kept-map", fill_kept_maps, read_kept },
	{ "memfd-proc", fill_memfds, read_memfd },
	{ "extent-map", fill_extent, read_kept },
	{ "extent-copy", fill_extent, read_copy },
};

int
main(int argc, char **argv)
{
	const struct way *w = ways, *end = ways + sizeof ways / sizeof *ways;
	uint64_t start;

	while (argc == 3 && w < end && strcmp(w->name, argv[1]) != 0)
		w++;
	if (argc != 3 || w == end) {
		fprintf(stderr, "usage: store_loop WAY FOLDER\n");
		return 2;
	}
	for (unsigned i = 0; i < ITEM; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	w->fill(argv[2]);
	for (unsigned i = 0; i < ITEMS; i++)
		w->read(i);
	start = clock_now_ns();
	for (unsigned i = 0; i < ROUNDS * ITEMS; i++)
		w->read((unsigned)((uint64_t)i * STRIDE % ITEMS));
	printf("{\"us_per_hit\": %.3f}\n", (double)(clock_now_ns() - start) /
	    1000 / (ROUNDS * ITEMS));
	return 0;
}
