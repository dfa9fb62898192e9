/* SPDX-License-Identifier: Apache-2.0
 *
 * shim.c: what the preloaded test objects share.
 * Runs inside the program under test.
 */

#include <config.h>

#include "tests/shim/shim.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXIT_BROKEN_TEST 99
#define ERRNO_LIMIT	134	/* past the last errno of Linux */

bool
shim_is_for_us(const char *variable)
{
	const char *want = getenv(variable);
	char path[PATH_MAX];
	const char *name;
	ssize_t n;

	if (want == NULL || *want == '\0')
		return true;
	n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	name = strrchr(path, '/');
	return strcmp(name == NULL ? path : name + 1, want) == 0;
}

int
shim_errno_by_name(const char *name, size_t len)
{
	for (int e = 1; e < ERRNO_LIMIT; e++) {
		const char *known = strerrorname_np(e);

		if (known != NULL && strlen(known) == len &&
		    memcmp(known, name, len) == 0)
			return e;
	}
	return 0;
}

void *
shim_next(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	if (next == NULL)
		shim_broken("the C library has no function", name);
	return next;
}

/* Raw system calls: the wrappers of write and _exit are not to see this. */
static void
put(const char *text)
{
	if (syscall(SYS_write, STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

_Noreturn void
shim_broken(const char *variable, const char *text)
{
	put("test shim: ");
	put(variable);
	put(": ");
	put(text);
	put("\n");
	for (;;)
		syscall(SYS_exit_group, EXIT_BROKEN_TEST);
}
