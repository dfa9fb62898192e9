/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_wait_line.c: tests of the line for a call that tells nothing: when it
 * shows and what it says is unit_progress.c's; here, that its thread comes and
 * goes, and only on a terminal.
 */

#include <config.h>

#include "loader/wait_line.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/unit.h"

/* Standard error is fd meanwhile. */
static void
wait_on(int fd, bool want_thread)
{
	char term[] = "TERM=xterm", *env[] = { term, NULL };
	extern char **environ;
	char **before = environ;
	int saved = dup(STDERR_FILENO);
	struct wait_line w;

	assert_true(saved >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	environ = env;
	wait_line_start(&w, "run", "/data/tr\033[31main");
	environ = before;
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(w.runs, want_thread);
	assert_string_equal(w.what, "run: listing /data/tr\\x1b[31main");
	wait_line_end(&w);
	assert_false(w.runs);
	assert_int_equal(w.over, -1);
	/* once more does no harm */
	wait_line_end(&w);
}

static void
no_thread_without_a_terminal(void **state)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	wait_on(fd, false);
	close(fd);
}

static void
a_thread_on_a_terminal(void **state)
{
	int end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), fd;

	(void)state;
	if (end < 0 || grantpt(end) != 0 || unlockpt(end) != 0 ||
	    (fd = open(ptsname(end), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
		if (end >= 0)
			close(end);
		return;		/* no terminals here */
	}
	for (int i = 0; i < 10; i++)
		wait_on(fd, true);
	close(fd);
	close(end);
}

UNIT_MAIN(
	UNIT(no_thread_without_a_terminal),
	UNIT(a_thread_on_a_terminal))
