/* SPDX-License-Identifier: Apache-2.0
 *
 * fields_open.c: what is opened by every call and flag has the number, flags
 * and offset that a system call would have given.  Run by tests.
 */

#include <config.h>

#include "tests/harness/fields.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number and flags that a system call would have given. */
struct expected {
	int	number;
	int	fl;
	int	fd;
};

static struct expected
expect(int flags)
{
	struct expected e = { .number = raw_open(fields_file, flags) };

	if (e.number < 0)
		FAIL("cannot open it with %o", (unsigned)flags);
	e.fl = fcntl(e.number, F_GETFL);
	e.fd = fcntl(e.number, F_GETFD);
	close(e.number);
	return e;
}

static void
look_at(const char *what, int fd, struct expected e)
{
	if (fd != e.number)
		FAIL("%s: descriptor %d, not %d", what, fd, e.number);
	if (fcntl(fd, F_GETFL) != e.fl)
		FAIL("%s: F_GETFL %o not %o", what,
		    (unsigned)fcntl(fd, F_GETFL), (unsigned)e.fl);
	if (fcntl(fd, F_GETFD) != e.fd)
		FAIL("%s: F_GETFD %d not %d", what, fcntl(fd, F_GETFD), e.fd);
	ask_all(what, fd);
	same_bytes(what, fd);
	fprintf(fields_report, "%s\n", what);
}

static void
open_flags(void)
{
	static const struct {
		const char *what;
		int flags;
	} ways[] = {
		{ "O_RDONLY", O_RDONLY },
		{ "O_CLOEXEC", O_CLOEXEC },
		{ "O_NONBLOCK", O_NONBLOCK },
		{ "O_NOFOLLOW", O_NOFOLLOW },
		{ "O_NOATIME", O_NOATIME },
		{ "O_NOCTTY", O_NOCTTY },
		{ "O_SYNC", O_SYNC },
		{ "O_APPEND", O_APPEND },
		{ "several", O_CLOEXEC | O_NONBLOCK | O_NOATIME | O_NOFOLLOW |
		    O_NOCTTY },
	};

	for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct expected e = expect(ways[i].flags);
		int fd = open(fields_file, ways[i].flags);

		look_at(ways[i].what, fd, e);
		close(fd);
		fd = open64(fields_file, ways[i].flags);
		look_at("open64", fd, e);
		close(fd);
		fd = openat(AT_FDCWD, fields_file, ways[i].flags);
		look_at("openat", fd, e);
		close(fd);
	}
}

/* file as "folder" and "name". */
static const char *
split(char folder[4096])
{
	snprintf(folder, 4096, "%s", fields_file);
	*strrchr(folder, '/') = '\0';
	return strrchr(fields_file, '/') + 1;
}

static void
open_paths(void)
{
	char folder[4096], path[8300];
	const char *name = split(folder);
	struct expected e;
	int dir, fd;

	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	e = expect(O_RDONLY);
	look_at("by its folder", fd = openat(dir, name, O_RDONLY), e);
	close(fd);
	snprintf(path, sizeof path, "./%s", name);
	look_at("and a dot", fd = openat(dir, path, O_RDONLY), e);
	close(fd);
	look_at("dir and absolute", fd = openat(dir, fields_file, O_RDONLY), e);
	close(fd);
	close(dir);
	e = expect(O_RDONLY);
	snprintf(path, sizeof path, "%s//.///%s", folder, name);
	look_at("slashes", fd = open(path, O_RDONLY), e);
	close(fd);
	snprintf(path, sizeof path, "%s/../%s/%s", folder,
	    strrchr(folder, '/') + 1, name);
	look_at("two dots", fd = open(path, O_RDONLY), e);
	close(fd);
	if (chdir(folder) != 0)
		FAIL("chdir");
	look_at("relative", fd = open(name, O_RDONLY), e);
	close(fd);
	if (chdir("..") != 0)
		FAIL("chdir");
	snprintf(path, sizeof path, "%s/%s", strrchr(folder, '/') + 1, name);
	look_at("from above", fd = open(path, O_RDONLY), e);
	close(fd);
}

static void
open_streams(void)
{
	static const char *const modes[] = { "r", "re", "rb", "rm", "rce" };

	for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		struct expected e = expect(strchr(modes[i], 'e') != NULL ?
		    O_CLOEXEC : 0);
		FILE *f = fopen(fields_file, modes[i]);

		if (f == NULL)
			FAIL("fopen %s", modes[i]);
		look_at("fopen", fileno(f), e);
		f = freopen(fields_file, modes[i], f);
		if (f == NULL)
			FAIL("freopen %s", modes[i]);
		look_at("freopen", fileno(f), e);
		fclose(f);
	}
}

void
fields_opens(void)
{
	open_flags();
	open_paths();
	open_streams();
}
