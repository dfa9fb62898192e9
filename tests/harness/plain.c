/* SPDX-License-Identifier: Apache-2.0
 *
 * plain.c: a program that knows nothing of destall: reads files in shuffled
 * epochs, in the ways that programs do, and looks at every byte (content.h).
 * Run by tests, with the preload object and without; nothing of ours is linked.
 *
 *     plain [OPTION=VALUE]... FOLDER|FILE.bin...
 *
 *     epochs=1 seed=1      order, a new one for each epoch
 *     part=0/1             of each epoch's order, the positions p % n == i
 *     how=read             read, stdio, mmap, or mixed: each in turn
 *     pace=0               microseconds that each file is computed on
 *     versions=1           files may hold any of so many contents, whole; one
 *                          that is being written is read again
 *     tries=1              how often a file is opened before it counts as failed
 *     space=N              bytes of address space that it may have more, from
 *                          when all files are known
 *     ready=PATH           a file that is made when all files are known
 *     go=PATH              wait for this file after that
 *     end=PATH             another epoch, until this file is there
 *
 * Named files cost no call but open, read and close.  Prints
 *
 *     epoch 0 items N wrong N failed N
 *     all items N wrong N failed N
 *     longest N us slow N  the longest time from open to close, and how many
 *                          took more than a second
 *
 * Exit status 1 if anything was wrong or failed.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/content.h"

#define FILES_MAX	4096u
#define NAMES_MAX	(FILES_MAX * 64u)
#define BYTES_MAX	((size_t)4 << 20)
#define REREADS		5000		/* of a file that is being written */
#define REREAD_NS	1000000L
#define SLOW_US		1000000u

/* No memory is asked for: a test may be failing that. */
static char names[NAMES_MAX];
static size_t names_len;
static const char *files[FILES_MAX];
static unsigned order[FILES_MAX], nr_files;
static uint8_t bytes[BYTES_MAX + 1];
static char stream_buffer[65536], out_buffer[4096];

static struct {
	unsigned long epochs, seed, part, parts, pace, versions, tries;
	unsigned long space;
	const char *how, *ready, *go, *end;
} opt = { .epochs = 1, .seed = 1, .parts = 1, .versions = 1, .tries = 1,
	.how = "read" };

static unsigned long items, wrong, failed, longest_us, slow;

static void
die(const char *what)
{
	fprintf(stderr, "plain: %s: %s\n", what, strerror(errno));
	exit(99);
}

/*--- which files ---------------------------------------------------------*/

static void
add_file(const char *path)
{
	size_t len = strlen(path) + 1;

	if (nr_files == FILES_MAX || names_len + len > NAMES_MAX) {
		errno = ENOSPC;
		die(path);
	}
	memcpy(names + names_len, path, len);
	files[nr_files++] = names + names_len;
	names_len += len;
}

static int
visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_F)
		add_file(path);
	return 0;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
add_operand(const char *path)
{
	size_t len = strlen(path);

	if (len > 4 && strcmp(path + len - 4, ".bin") == 0)
		add_file(path);
	else if (nftw(path, visit, 16, FTW_PHYS) != 0)
		die(path);
}

static void
shuffle(unsigned long epoch)
{
	uint64_t seed = content_mix(opt.seed * 1000003 + epoch);

	for (unsigned i = 0; i < nr_files; i++)
		order[i] = i;
	for (unsigned i = nr_files; i > 1; i--) {
		unsigned j, t;

		seed = content_mix(seed);
		j = (unsigned)(seed % i);
		t = order[i - 1];
		order[i - 1] = order[j];
		order[j] = t;
	}
}

/*--- how they are read: all into bytes; the length, or -1 ----------------*/

static ssize_t
read_on(int fd)
{
	size_t len = 0;
	ssize_t n;

	while (len < sizeof bytes) {
		n = pread(fd, bytes + len, sizeof bytes - len, (off_t)len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static ssize_t
map_on(int fd)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) != 0 || st.st_size == 0 ||
	    st.st_size > (off_t)BYTES_MAX)
		return -1;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -1;
	memcpy(bytes, p, (size_t)st.st_size);
	munmap(p, (size_t)st.st_size);
	return st.st_size;
}

/* Bytes of a file as they were written for one of its versions. */
static bool
is_whole(const char *path, size_t len)
{
	uint64_t seed = content_seed(path, len);

	for (unsigned long v = 0; v < opt.versions; v++) {
		if (content_is(bytes, len, seed + v))
			return true;
	}
	return false;
}

static bool
look(const char *path, ssize_t len)
{
	if (len >= 0 && is_whole(path, (size_t)len))
		return true;
	if (opt.versions == 1 && len >= 0)
		fprintf(stderr, "plain: %s: wrong bytes\n", path);
	return false;
}

/* One that somebody writes meanwhile is mixed for a plain program, too, but
 * not for long; a copy that is mixed stays so. */
static void
look_again(const char *path, int fd)
{
	const struct timespec pause = { .tv_nsec = REREAD_NS };

	for (int i = 0; i < REREADS; i++) {
		ssize_t len = read_on(fd);

		if (len >= 0 && is_whole(path, (size_t)len))
			return;
		nanosleep(&pause, NULL);
	}
	fprintf(stderr, "plain: %s: neither one nor the other\n", path);
	wrong++;
}

static bool
read_stream(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t len;

	if (f == NULL)
		return false;
	setvbuf(f, stream_buffer, _IOFBF, sizeof stream_buffer);
	len = fread(bytes, 1, sizeof bytes, f);
	if (ferror(f)) {
		fclose(f);
		return false;
	}
	if (!look(path, (ssize_t)len)) {
		if (opt.versions > 1)
			look_again(path, fileno(f));
		else
			wrong++;
	}
	fclose(f);
	return true;
}

static bool
read_fd(const char *path, ssize_t (*get)(int fd))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = get(fd);
	if (len >= 0 && !look(path, len)) {
		if (opt.versions > 1)
			look_again(path, fd);
		else
			wrong++;
	}
	close(fd);
	return len >= 0;
}

static bool
read_by(const char *how, const char *path)
{
	if (strcmp(how, "stdio") == 0)
		return read_stream(path);
	return read_fd(path, strcmp(how, "mmap") == 0 ? map_on : read_on);
}

/*--- epochs --------------------------------------------------------------*/

static unsigned long
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long)t.tv_sec * 1000000 +
	    (unsigned long)t.tv_nsec / 1000;
}

static void
read_one(unsigned p)
{
	static const char *const ways[] = { "read", "stdio", "mmap" };
	const char *path = files[order[p]], *how = opt.how;
	unsigned long begin_us = now_us(), took_us;
	bool done = false;

	if (strcmp(how, "mixed") == 0)
		how = ways[p % 3];
	for (unsigned long i = 0; !done && i < opt.tries; i++)
		done = read_by(how, path);
	items += done;
	if (!done) {
		failed++;
		fprintf(stderr, "plain: %s: %s\n", path, strerror(errno));
	}
	took_us = now_us() - begin_us;
	if (took_us > longest_us)
		longest_us = took_us;
	slow += took_us > SLOW_US;
	if (opt.pace > 0)
		usleep((useconds_t)opt.pace);
}

static void
read_epoch(unsigned long epoch)
{
	unsigned long had = items, had_wrong = wrong, had_failed = failed;

	shuffle(epoch);
	for (unsigned p = 0; p < nr_files; p++) {
		if (p % opt.parts == opt.part)
			read_one(p);
	}
	printf("epoch %lu items %lu wrong %lu failed %lu\n", epoch,
	    items - had, wrong - had_wrong, failed - had_failed);
}

static bool
is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* The first number of /proc/self/statm is what there is, in pages. */
static void
limit_space(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	struct rlimit limit;
	unsigned long pages;

	if (f == NULL || fscanf(f, "%lu", &pages) != 1)
		die("statm");
	fclose(f);
	limit.rlim_cur = limit.rlim_max = pages *
	    (unsigned long)sysconf(_SC_PAGESIZE) + opt.space;
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		die("space");
}

static void
begin(void)
{
	int fd;

	if (opt.space > 0)
		limit_space();
	if (opt.ready != NULL) {
		fd = open(opt.ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0)
			die(opt.ready);
		close(fd);
	}
	while (opt.go != NULL && !is_there(opt.go))
		usleep(1000);
}

/*--- options -------------------------------------------------------------*/

static bool
take_number(const char *arg, const char *name, unsigned long *value)
{
	size_t len = strlen(name);

	if (strncmp(arg, name, len) != 0 || arg[len] != '=')
		return false;
	*value = strtoul(arg + len + 1, NULL, 10);
	return true;
}

static bool
take_text(const char *arg, const char *name, const char **value)
{
	size_t len = strlen(name);

	if (strncmp(arg, name, len) != 0 || arg[len] != '=')
		return false;
	*value = arg + len + 1;
	return true;
}

static void
take_option(const char *arg)
{
	if (take_number(arg, "epochs", &opt.epochs) ||
	    take_number(arg, "seed", &opt.seed) ||
	    take_number(arg, "pace", &opt.pace) ||
	    take_number(arg, "versions", &opt.versions) ||
	    take_number(arg, "tries", &opt.tries) ||
	    take_number(arg, "space", &opt.space) ||
	    take_text(arg, "how", &opt.how) ||
	    take_text(arg, "ready", &opt.ready) ||
	    take_text(arg, "go", &opt.go) ||
	    take_text(arg, "end", &opt.end) ||
	    sscanf(arg, "part=%lu/%lu", &opt.part, &opt.parts) == 2)
		return;
	errno = EINVAL;
	die(arg);
}

int
main(int argc, char **argv)
{
	unsigned long epoch;

	setvbuf(stdout, out_buffer, _IOLBF, sizeof out_buffer);
	for (int i = 1; i < argc; i++) {
		if (strchr(argv[i], '=') != NULL)
			take_option(argv[i]);
		else
			add_operand(argv[i]);
	}
	if (nr_files == 0 || opt.parts == 0)
		die("no files");
	qsort(files, nr_files, sizeof *files, compare);
	begin();
	for (epoch = 0; epoch < opt.epochs ||
	    (opt.end != NULL && !is_there(opt.end)); epoch++)
		read_epoch(epoch);
	printf("all items %lu wrong %lu failed %lu\nlongest %lu us slow %lu\n",
	    items, wrong, failed, longest_us, slow);
	return wrong + failed > 0;
}
