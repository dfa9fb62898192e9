/* SPDX-License-Identifier: Apache-2.0
 *
 * wrapped.c: a program that knows nothing of destall, and calls every function
 * that its preload object wraps.  Run by tests, with the object and without.
 *
 *     wrapped look PATH...     opens, reads and stats, by every name
 *     wrapped change PATH...   says of a descriptor what changes the file
 *     wrapped mark PATH...     gives it an attribute, where there are such
 *     wrapped create DIR       new files, with and without a name
 *     wrapped fail DIR         what must fail
 *     wrapped move DIR         into it, and relative paths
 *     wrapped cancel FIFO      threads that are cancelled while they open it
 *
 * Prints one line for each call: its result, its errno, all it has filled in;
 * then "called NAME" for each name.  With the object and without it the output
 * must be the same.
 */

#include <config.h>

#include "tests/harness/wrapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NO_ERRNO 4000

static const char *const names[] = {
#define NAME(type, name, sibling, params) #name,
	REAL_CALLS(NAME)
#undef NAME
};

static bool was_called[NR_REAL_CALLS];

void *
wrapped_find(enum real_call call)
{
	void *p = dlsym(RTLD_DEFAULT, names[call]);

	if (p == NULL)
		give_up(names[call]);
	was_called[call] = true;
	begin();
	return p;
}

_Noreturn void
give_up(const char *what)
{
	fprintf(stderr, "wrapped: %s: %s\n", what, strerror(errno));
	exit(99);
}

void
begin(void)
{
	errno = NO_ERRNO;
}

void
show(const char *call, const char *what, long rc)
{
	const char *error = errno == NO_ERRNO ? "-" : strerrorname_np(errno);

	printf("%s(%s) = %ld %s\n", call, what, rc, error);
}

#define DEFINE_OPENER(name, ...) \
static int \
by_##name(const char *path, int flags, mode_t mode) \
{ \
	(void)mode; \
	return CALL(name)(__VA_ARGS__); \
}

DEFINE_OPENER(open, path, flags, mode)
DEFINE_OPENER(open64, path, flags, mode)
DEFINE_OPENER(openat, AT_FDCWD, path, flags, mode)
DEFINE_OPENER(openat64, AT_FDCWD, path, flags, mode)
DEFINE_OPENER(__open_2, path, flags)
DEFINE_OPENER(__open64_2, path, flags)
DEFINE_OPENER(__openat_2, AT_FDCWD, path, flags)
DEFINE_OPENER(__openat64_2, AT_FDCWD, path, flags)

const struct opener openers[NR_OPENERS] = {
	{ "open", false, by_open },
	{ "open64", false, by_open64 },
	{ "openat", false, by_openat },
	{ "openat64", false, by_openat64 },
	{ "__open_2", true, by___open_2 },
	{ "__open64_2", true, by___open64_2 },
	{ "__openat_2", true, by___openat_2 },
	{ "__openat64_2", true, by___openat64_2 },
};

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void	(*run)(const char *path);
	} ways[] = {
		{ "look", look }, { "change", change }, { "mark", mark },
		{ "create", create }, { "fail", fail }, { "move", move_about },
		{ "cancel", cancel },
	};
	unsigned way = 0, nr = sizeof ways / sizeof ways[0];

	while (argc > 2 && way < nr && strcmp(argv[1], ways[way].name) != 0)
		way++;
	if (argc <= 2 || way == nr) {
		fprintf(stderr, "usage: wrapped HOW PATH...\n");
		return 99;
	}
	umask(0);
	for (int i = 2; i < argc; i++)
		ways[way].run(argv[i]);
	for (unsigned i = 0; i < NR_REAL_CALLS; i++)
		if (was_called[i])
			printf("called %s\n", names[i]);
	return fflush(stdout) == 0 ? 0 : 99;
}
