/* SPDX-License-Identifier: Apache-2.0
 *
 * touched.c: tells whether a file that was opened is the file itself.  Knows
 * nothing of destall.  Run by tests.
 *
 *     touched FLAG[,FLAG]... FILE    as open(2) has them, with O_ and in capitals
 *     touched MODE FILE              as fopen(3) has them
 *
 * Prints "itself" or "another", and O_TMPFILE "its own"; where it cannot be
 * opened, the errno.  What is right is asked beneath the C library.
 */

#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/harness/expected.h"

static const struct {
	const char *name;
	int	flag;
} flags[] = {
	{ "O_RDONLY", O_RDONLY },
	{ "O_WRONLY", O_WRONLY },
	{ "O_RDWR", O_RDWR },
	{ "O_APPEND", O_APPEND },
	{ "O_CLOEXEC", O_CLOEXEC },
	{ "O_CREAT", O_CREAT },
	{ "O_DIRECT", O_DIRECT },
	{ "O_DIRECTORY", O_DIRECTORY },
	{ "O_EXCL", O_EXCL },
	{ "O_NONBLOCK", O_NONBLOCK },
	{ "O_PATH", O_PATH },
	{ "O_TMPFILE", O_TMPFILE },
	{ "O_TRUNC", O_TRUNC },
};

static int
find_flag(const char *name)
{
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (strcmp(flags[i].name, name) == 0)
			return flags[i].flag;
	exit(99);
}

static int
open_by(char *how, const char *path)
{
	int all = 0;
	FILE *f;

	if (islower((unsigned char)how[0])) {
		f = fopen(path, how);
		return f != NULL ? fileno(f) : -1;
	}
	for (char *p = strtok(how, ","); p != NULL; p = strtok(NULL, ","))
		all |= find_flag(p);
	return open(path, all, 0644);
}

int
main(int argc, char **argv)
{
	expected_call *raw = expected_raw();
	struct stat a, b;
	int fd;

	if (argc != 3)
		return 99;
	fd = open_by(argv[1], argv[2]);
	if (fd < 0) {
		printf("errno %d\n", errno);
		return 0;
	}
	if (raw(SYS_newfstatat, fd, "", &a, AT_EMPTY_PATH) != 0 ||
	    raw(SYS_newfstatat, AT_FDCWD, argv[2], &b, 0) != 0)
		return 99;
	if (S_ISDIR(b.st_mode) && S_ISREG(a.st_mode))
		printf("its own\n");
	else
		printf("%s\n", a.st_dev == b.st_dev && a.st_ino == b.st_ino ?
		    "itself" : "another");
	return 0;
}
