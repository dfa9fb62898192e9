/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c: runs a fuzz target without libFuzzer, over the files and folders
 * given, or else over its own corpus.
 *
 * Each file is run as it is, cut at every length, and with every byte changed
 * in two ways: a corpus that found something once finds its neighbours too.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/fuzz/fuzz.h"

#define TEST_BROKEN	99
#define FILE_MAX_LEN	((size_t)1 << 20)
#define CHANGED_MAX	512u	/* bytes of a file that are changed */

static unsigned long files, runs;

static _Noreturn void
give_up(const char *path)
{
	perror(path);
	exit(TEST_BROKEN);
}

static void
run_once(const uint8_t *bytes, size_t len)
{
	uint8_t *tight = fuzz_copy(bytes, len);

	must(LLVMFuzzerTestOneInput(tight, len) == 0);
	free(tight);
	runs++;
}

static void
run_with_neighbours(uint8_t *bytes, size_t len)
{
	run_once(bytes, len);
	for (size_t i = 0; i < len && i < CHANGED_MAX; i++) {
		run_once(bytes, i);
		bytes[i] ^= 0x01;
		run_once(bytes, len);
		bytes[i] ^= 0x01 ^ 0xff;
		run_once(bytes, len);
		bytes[i] ^= 0xff;
	}
}

static void
run_file(int dir, const char *name)
{
	uint8_t *bytes = malloc(FILE_MAX_LEN);
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 || bytes == NULL)
		give_up(name);
	n = io_read_all(fd, bytes, FILE_MAX_LEN);
	if (n < 0)
		give_up(name);
	run_with_neighbours(bytes, (size_t)n);
	files++;
	io_close(&fd);
	free(bytes);
}

static void
run_path(const char *path)
{
	struct dirent *e;
	DIR *d = opendir(path);

	if (d == NULL && errno == ENOTDIR) {
		run_file(AT_FDCWD, path);
		return;
	}
	if (d == NULL)
		give_up(path);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.')
			run_file(dirfd(d), e->d_name);
	}
	closedir(d);
}

int
main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	char path[4096];

	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	if (argc == 1) {
		(void)snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s",
		    top != NULL ? top : ".", fuzz_name);
		run_path(path);
	}
	printf("%s: %lu files, %lu runs\n", fuzz_name, files, runs);
	return files > 0 ? 0 : TEST_BROKEN;
}
