/* SPDX-License-Identifier: Apache-2.0
 *
 * traced.c: a program that knows of the preload object only by name:
 *
 *     traced FILE...
 *
 * opens each file in all ways that there are, and prints what the object wrote
 * down: SIZE PAGES RESIDENT PATH, a line each, and LOST.
 */

#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "preload/trace.h"

typedef int begin_f(void *buf, size_t size);
typedef ssize_t end_f(void);

static _Alignas(8) char buf[65536];

static void
open_all(const char *path)
{
	FILE *f;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	f = fopen(path, "re");
	if (f != NULL)
		fclose(f);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

static void
print(size_t len)
{
	struct trace_record r;

	for (size_t at = 0; at < len;
	    at += (TRACE_HEAD + r.len + 7u) & ~(size_t)7) {
		memcpy(&r, buf + at, TRACE_HEAD);
		printf("%llu %u %u %s\n", (unsigned long long)r.size, r.pages,
		    r.resident, buf + at + TRACE_HEAD);
	}
}

int
main(int argc, char *argv[])
{
	begin_f *begin;
	end_f *end;
	ssize_t n;

	*(void **)&begin = dlsym(RTLD_DEFAULT, "ds_trace_begin");
	*(void **)&end = dlsym(RTLD_DEFAULT, "ds_trace_end");
	if (begin == NULL || end == NULL)
		return 99;
	open_all("/no/such");
	if (begin(buf, sizeof buf) != 0)
		return 1;
	for (int i = 1; i < argc; i++)
		open_all(argv[i]);
	n = end();
	open_all(argc > 1 ? argv[1] : "/");
	if (n < 0)
		return 1;
	print((size_t)n & ~(size_t)7);
	if ((n & TRACE_LOST) != 0)
		printf("LOST\n");
	return 0;
}
