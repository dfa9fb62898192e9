/* SPDX-License-Identifier: Apache-2.0
 *
 * fail.c: fails the Nth call of a function of the C library.
 * Runs inside the program under test, preloaded.
 *
 *     DS_FAIL=write:3:ENOSPC     the third write, once
 *     DS_FAIL=write:3+:ENOSPC    from the third on
 *     DS_FAIL=malloc:7           ENOMEM where an allocation fails, else EIO
 *     DS_FAIL=read:1+:short      half the bytes that were asked for
 *     DS_FAIL_EXE=destall        only in the program of this name
 *     DS_FAIL_COUNT=FILE         at exit, one line "PID FUNCTION CALLS" each
 *
 *  1. Every process counts for itself; a forked child goes on from where its
 *     parent was.
 *  2. Calls before this object is set up (the loader's) do not count.
 *  3. However many threads call, exactly one of them is the Nth.
 */

#include <config.h>

#include "tests/shim/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/shim/shim.h"

static const char *const names[] = {
#define FAIL_NAME(name) #name,
	FAIL_CALLS(FAIL_NAME)
#undef FAIL_NAME
};

static atomic_ulong counts[NR_FAIL_CALLS];
static bool is_active;

static struct {
	unsigned	call;		/* NR_FAIL_CALLS: none */
	unsigned long	nth;
	bool		forever;
	bool		is_short;
	int		error;
} plan = { .call = NR_FAIL_CALLS };

enum fail_verdict
fail_count(enum fail_call call)
{
	unsigned long n;

	if (!is_active)
		return VERDICT_PASS;
	n = atomic_fetch_add_explicit(&counts[call], 1,
	    memory_order_relaxed) + 1;
	if (call != plan.call || n < plan.nth ||
	    (n > plan.nth && !plan.forever))
		return VERDICT_PASS;
	if (plan.is_short)
		return VERDICT_SHORT;
	errno = plan.error;
	return VERDICT_FAIL;
}

static unsigned
find_call(const char *name, size_t len)
{
	for (unsigned i = 0; i < NR_FAIL_CALLS; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return i;
	shim_broken("DS_FAIL: no such function", name);
}

/* What is between the second colon and the end: nothing, short, an errno. */
static void
read_error(const char *text)
{
	if (*text == '\0') {
		plan.error = plan.call <= CALL_aligned_alloc ? ENOMEM : EIO;
		return;
	}
	plan.is_short = strcmp(text, ":short") == 0;
	if (plan.is_short)
		return;
	plan.error = shim_errno_by_name(text + 1, strlen(text + 1));
	if (*text != ':' || plan.error == 0)
		shim_broken("DS_FAIL: no such errno", text);
}

static void
read_plan(const char *text)
{
	const char *colon = strchr(text, ':');
	char *end;

	if (colon == NULL || colon[1] < '0' || colon[1] > '9')
		shim_broken("DS_FAIL is not FUNCTION:N[+][:ERRNO]", text);
	plan.call = find_call(text, (size_t)(colon - text));
	plan.nth = strtoul(colon + 1, &end, 10);
	plan.forever = *end == '+';
	if (plan.nth == 0)
		shim_broken("DS_FAIL: calls count from 1", text);
	read_error(plan.forever ? end + 1 : end);
}

__attribute__((constructor)) static void
set_up(void)
{
	const char *text = getenv("DS_FAIL");

	if (!shim_is_for_us("DS_FAIL_EXE"))
		return;
	if (text != NULL && *text != '\0')
		read_plan(text);
	is_active = true;
}

/* One write for all lines, so that those of several processes do not mix. */
static void
write_counts(const char *path)
{
	char text[NR_FAIL_CALLS * 48];
	size_t len = 0;
	int fd;

	for (unsigned i = 0; i < NR_FAIL_CALLS; i++) {
		unsigned long n = atomic_load_explicit(&counts[i],
		    memory_order_relaxed);

		if (n > 0)
			len += (size_t)snprintf(text + len, sizeof text - len,
			    "%d %s %lu\n", (int)getpid(), names[i], n);
	}
	fd = (int)syscall(SYS_openat, AT_FDCWD, path,
	    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || syscall(SYS_write, fd, text, len) != (long)len)
		shim_broken("DS_FAIL_COUNT cannot be written", path);
	syscall(SYS_close, fd);
}

__attribute__((destructor)) static void
tear_down(void)
{
	const char *path = getenv("DS_FAIL_COUNT");

	if (!is_active)
		return;
	is_active = false;
	if (path != NULL && *path != '\0')
		write_counts(path);
}

/* These skip destructors. */
SHIM_EXPORT _Noreturn void
_exit(int status)
{
	tear_down();
	for (;;)
		syscall(SYS_exit_group, status);
}

SHIM_EXPORT _Noreturn void
_Exit(int status)
{
	_exit(status);
}
