/* SPDX-License-Identifier: Apache-2.0
 *
 * storage.c: files, into memory and out of it, and read alone.
 * Runs in the command only.
 */

#include <config.h>

#include "analyzer/storage.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/list.h"
#include "base/must.h"
#include "base/say.h"
#include "probe/resident.h"

#define PATHS_MOST	(1u << 22)
#define READERS_MOST	64u
#define CHUNK		(1u << 20)

/*--- which ---------------------------------------------------------------*/

void
storage_add(struct storage *s, const char *path, uint64_t bytes)
{
	s->opens++;
	s->bytes += bytes;
	if (s->nr == PATHS_MOST)
		return;
	s->paths = list_grow(s->paths, s->nr, sizeof *s->paths);
	s->paths[s->nr] = strdup(path);
	if (s->paths[s->nr] == NULL)
		say_no_memory();
	s->nr++;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void
storage_sort(struct storage *s)
{
	size_t kept = 0;

	if (s->nr == 0)
		return;
	qsort(s->paths, s->nr, sizeof *s->paths, compare);
	for (size_t i = 1; i < s->nr; i++) {
		if (strcmp(s->paths[i], s->paths[kept]) == 0)
			free(s->paths[i]);
		else
			s->paths[++kept] = s->paths[i];
	}
	s->nr = kept + 1;
}

void
storage_fini(struct storage *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->paths[i]);
	free(s->paths);
	*s = (struct storage){ 0 };
}

/*--- memory --------------------------------------------------------------*/

/* A regular file, or -1. */
static int
open_file(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode)))
		io_close(&fd);
	return fd;
}

double
storage_resident(const struct storage *s)
{
	double all = 0, in = 0;
	struct resident r;
	struct stat st;
	int fd;

	for (size_t i = 0; i < s->nr; i++) {
		fd = open_file(s->paths[i], &st);
		if (fd < 0)
			continue;
		resident_look(fd, &st, &r);
		if (r.is_told) {
			all += (double)r.pages;
			in += (double)r.in_memory;
		}
		io_close(&fd);
	}
	return all > 0 ? in / all : -1;
}

void
storage_evict(const struct storage *s)
{
	struct resident r;
	struct stat st;
	int fd;

	for (size_t i = 0; i < s->nr; i++) {
		fd = open_file(s->paths[i], &st);
		if (fd < 0)
			continue;
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		resident_look(fd, &st, &r);
		/* What was written lately must be on storage first. */
		if (r.is_told && r.in_memory > 0 && fdatasync(fd) == 0)
			(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		io_close(&fd);
	}
}

/*--- reading alone -------------------------------------------------------*/

struct crew {
	const struct storage *files;
	uint64_t	until_ns;
	_Atomic size_t	next;
	_Atomic uint64_t bytes;
};

static uint64_t
read_file(const char *path, char *room)
{
	uint64_t total = 0;
	struct stat st;
	ssize_t got;
	int fd;

	fd = open_file(path, &st);
	if (fd < 0)
		return 0;
	while ((got = read(fd, room, CHUNK)) > 0)
		total += (uint64_t)got;
	io_close(&fd);
	return total;
}

static void *
read_some(void *arg)
{
	struct crew *c = arg;
	char *room = malloc(CHUNK);
	size_t i;

	if (room == NULL)
		say_no_memory();
	/* relaxed: each file is somebody's, whoever's */
	while ((i = atomic_fetch_add_explicit(&c->next, 1,
	    memory_order_relaxed)) < c->files->nr &&
	    clock_now_ns() < c->until_ns)
		atomic_fetch_add_explicit(&c->bytes,
		    read_file(c->files->paths[i], room), memory_order_relaxed);
	free(room);
	return NULL;
}

void
storage_read(const struct storage *s, unsigned readers, uint64_t most_ns,
    struct storage_read *r)
{
	uint64_t begin_ns = clock_now_ns();
	struct crew c = { .files = s, .until_ns = begin_ns + most_ns };
	pthread_t thread[READERS_MOST];
	unsigned nr = 0;

	if (readers > READERS_MOST)
		readers = READERS_MOST;
	while (nr + 1 < readers &&
	    pthread_create(&thread[nr], NULL, read_some, &c) == 0)
		nr++;
	(void)read_some(&c);
	while (nr > 0)
		must(pthread_join(thread[--nr], NULL) == 0);
	*r = (struct storage_read){
		.s = 1e-9 * (double)(clock_now_ns() - begin_ns),
		.bytes = (double)atomic_load(&c.bytes),
	};
}
