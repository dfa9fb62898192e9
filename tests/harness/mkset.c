/* SPDX-License-Identifier: Apache-2.0
 *
 * mkset.c: makes a data set whose bytes tell from which item they are.
 * Run by tests.
 *
 *     mkset FOLDER COUNT MIN [MAX]   files of MIN to MAX bytes, 100 a class
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/content.h"

#define PER_CLASS	100u

static void
die(const char *what)
{
	fprintf(stderr, "mkset: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
make_file(const char *folder, unsigned i, size_t len, uint8_t *bytes)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/class%03u", folder, i / PER_CLASS);
	if (i % PER_CLASS == 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
		die(path);
	snprintf(path, sizeof path, "%s/class%03u/%06u.bin", folder,
	    i / PER_CLASS, i);
	content_fill(bytes, len, content_seed(path, len));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		die(path);
	errno = -io_write_all(fd, bytes, len);
	if (errno != 0)
		die(path);
	close(fd);
}

int
main(int argc, char **argv)
{
	unsigned long count, min, max;
	uint8_t *bytes;

	if (argc < 4) {
		fprintf(stderr, "usage: mkset FOLDER COUNT MIN [MAX]\n");
		return 2;
	}
	count = strtoul(argv[2], NULL, 10);
	min = strtoul(argv[3], NULL, 10);
	max = argc > 4 ? strtoul(argv[4], NULL, 10) : min;
	bytes = malloc(max + 8);
	if (bytes == NULL || (mkdir(argv[1], 0777) != 0 && errno != EEXIST))
		die(argv[1]);
	for (unsigned i = 0; i < count; i++)
		make_file(argv[1], i, min + content_mix(i) % (max - min + 1),
		    bytes);
	free(bytes);
	return 0;
}
