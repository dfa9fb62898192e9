/* SPDX-License-Identifier: Apache-2.0
 *
 * reader.c: reads files in each of the ways there are, for the tests of the
 * slow storage.  Run by those tests.
 *
 *     reader HOW BLOCK FILE...   prints how many bytes it got in all
 *
 * HOW is read, pread, readv, preadv, mmap, fopen, sendfile or range (that is
 * copy_file_range); BLOCK is what it asks for at a time, at most 64 KiB.  A
 * failure is one line, the errno, and exit status 1.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK_MAX 65536

static char buf[BLOCK_MAX];
static size_t block;
static int sink;		/* a file that takes what sendfile sends */

static ssize_t
by_read(int fd, off_t at)
{
	(void)at;
	return read(fd, buf, block);
}

static ssize_t
by_pread(int fd, off_t at)
{
	return pread(fd, buf, block, at);
}

static ssize_t
by_readv(int fd, off_t at)
{
	struct iovec iov = { buf, block };

	(void)at;
	return readv(fd, &iov, 1);
}

static ssize_t
by_preadv(int fd, off_t at)
{
	struct iovec iov = { buf, block };

	return preadv(fd, &iov, 1, at);
}

static ssize_t
by_sendfile(int fd, off_t at)
{
	(void)at;
	return sendfile(sink, fd, NULL, block);
}

static ssize_t
by_range(int fd, off_t at)
{
	(void)at;
	return copy_file_range(fd, NULL, sink, NULL, block, 0);
}

/* All of it at once: there is no second piece. */
static ssize_t
by_mmap(int fd, off_t at)
{
	struct stat st;
	void *p;

	if (at > 0)
		return 0;
	if (fstat(fd, &st) != 0)
		return -1;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -1;
	munmap(p, (size_t)st.st_size);
	return st.st_size;
}

static const struct {
	const char *name;
	ssize_t (*next)(int fd, off_t at);
} ways[] = {
	{ "read", by_read },
	{ "pread", by_pread },
	{ "readv", by_readv },
	{ "preadv", by_preadv },
	{ "sendfile", by_sendfile },
	{ "range", by_range },
	{ "mmap", by_mmap },
};

static long
read_stream(const char *path)
{
	FILE *f = fopen(path, "r");
	long total = 0;
	size_t n;

	if (f == NULL)
		return -1;
	while ((n = fread(buf, 1, block, f)) > 0)
		total += (long)n;
	fclose(f);
	return total;
}

static long
read_file(ssize_t (*next)(int fd, off_t at), const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long total = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = next(fd, total)) > 0)
		total += n;
	close(fd);
	return n < 0 ? -1 : total;
}

static long
read_by(const char *how, const char *path)
{
	if (strcmp(how, "fopen") == 0)
		return read_stream(path);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (strcmp(how, ways[i].name) == 0)
			return read_file(ways[i].next, path);
	fprintf(stderr, "reader: no way %s\n", how);
	exit(99);
}

int
main(int argc, char **argv)
{
	long total = 0, n;

	if (argc < 4)
		return 99;
	block = (size_t)atoi(argv[2]);
	sink = open("sink", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (block == 0 || block > BLOCK_MAX || sink < 0)
		return 99;
	for (int i = 3; i < argc; i++) {
		n = read_by(argv[1], argv[i]);
		if (n < 0) {
			printf("%s\n", strerrorname_np(errno));
			return 1;
		}
		total += n;
	}
	printf("%ld\n", total);
	return 0;
}
