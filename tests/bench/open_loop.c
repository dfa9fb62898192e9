/* SPDX-License-Identifier: Apache-2.0
 *
 * open_loop.c: a program that reads files and knows nothing of destall, for
 * the benchmark tests/bench/preload, which runs it plain and with the object.
 *
 *     open_loop INSIDE OUTSIDE COUNT
 *
 * Two folders as tests/harness/mkset makes them, of COUNT files each; it starts
 * in OUTSIDE.  Each line of its standard input, "WAY TIMES", is done and
 * answered with the nanoseconds of each time, by the clock on the wall and by
 * that of this thread's processor time.  A file is opened, asked for its size,
 * read whole and closed; "stat" and "fstat" are the call alone.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PER_CLASS	100u	/* of mkset */
#define BUFFER		((size_t)1 << 20)

struct file {
	char	*inside, *outside;	/* absolute */
	char	name[32];		/* in its folder */
};

static struct file *files;
static unsigned nr_files, at;
static int folder, one;
static char *buffer;

static _Noreturn void
give_up(const char *what)
{
	fprintf(stderr, "open_loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/*--- the ways ------------------------------------------------------------*/

static void
read_whole(int fd, const char *path)
{
	struct stat st;
	off_t done = 0;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) != 0)
		give_up(path);
	while (done < st.st_size && n > 0) {
		n = read(fd, buffer, BUFFER);
		done += n;
	}
	if (n < 0 || done != st.st_size || close(fd) != 0)
		give_up(path);
}

static void
read_inside(const struct file *f)
{
	read_whole(open(f->inside, O_RDONLY | O_CLOEXEC), f->inside);
}

static void
read_outside(const struct file *f)
{
	read_whole(open(f->outside, O_RDONLY | O_CLOEXEC), f->outside);
}

static void
read_relative(const struct file *f)
{
	read_whole(open(f->name, O_RDONLY | O_CLOEXEC), f->name);
}

static void
read_dirfd(const struct file *f)
{
	read_whole(openat(folder, f->name, O_RDONLY | O_CLOEXEC), f->name);
}

static void
stat_outside(const struct file *f)
{
	struct stat st;

	if (stat(f->outside, &st) != 0)
		give_up(f->outside);
}

static void
fstat_outside(const struct file *f)
{
	struct stat st;

	if (fstat(one, &st) != 0)
		give_up(f->outside);
}

static const struct way {
	const char *name;
	void (*call)(const struct file *f);
} ways[] = {
	{ "inside", read_inside },
	{ "outside", read_outside },
	{ "relative", read_relative },
	{ "dirfd", read_dirfd },
	{ "stat", stat_outside },
	{ "fstat", fstat_outside },
};

/*--- the files -----------------------------------------------------------*/

static char *
join(const char *path, const char *name)
{
	size_t len = strlen(path) + strlen(name) + 2;
	char *p = malloc(len);

	if (p == NULL)
		give_up("memory");
	(void)snprintf(p, len, "%s/%s", path, name);
	return p;
}

/* In a random order, so that no cache of the processor helps. */
static void
name_files(const char *inside, const char *outside)
{
	files = calloc(nr_files, sizeof *files);
	buffer = malloc(BUFFER);
	if (files == NULL || buffer == NULL)
		give_up("memory");
	for (unsigned i = 0; i < nr_files; i++) {
		struct file *f = &files[i];
		unsigned j = (unsigned)random() % (i + 1);
		struct file moved = files[j];

		(void)snprintf(f->name, sizeof f->name, "class%03u/%06u.bin",
		    i / PER_CLASS, i);
		f->inside = join(inside, f->name);
		f->outside = join(outside, f->name);
		if (j != i) {
			files[j] = *f;
			*f = moved;
		}
	}
}

/*--- what is asked for ---------------------------------------------------*/

static const struct way *
find_way(const char *name)
{
	for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	}
	errno = EINVAL;
	give_up(name);
}

static void
measure(const struct way *w, unsigned long times)
{
	double wall = now_ns(CLOCK_MONOTONIC);
	double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned long i = 0; i < times; i++) {
		w->call(&files[at]);
		at = at + 1 < nr_files ? at + 1 : 0;
	}
	cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = now_ns(CLOCK_MONOTONIC) - wall;
	printf("%.1f %.1f\n", wall / (double)times, cpu / (double)times);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	unsigned long times;
	char line[64], name[16];

	nr_files = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	if (nr_files == 0) {
		fprintf(stderr, "usage: open_loop INSIDE OUTSIDE COUNT\n");
		return 2;
	}
	name_files(argv[1], argv[2]);
	folder = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	one = open(files[0].outside, O_RDONLY | O_CLOEXEC);
	if (folder < 0 || one < 0 || fchdir(folder) != 0)
		give_up(argv[2]);
	while (fgets(line, sizeof line, stdin) != NULL) {
		if (sscanf(line, "%15s %lu", name, &times) != 2 || times == 0) {
			errno = EINVAL;
			give_up(line);
		}
		measure(find_way(name), times);
	}
	return 0;
}
