/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_tree.c: tests of analyzer/tree.c on processes of its own.
 */

#include <config.h>

#include "analyzer/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/unit.h"

#define FAMILY	3		/* a child, its child, and so on */

static pid_t family[FAMILY];

/* Each tells its pid, and starts the next; all wait for a signal. */
static _Noreturn void
be_family(int to)
{
	pid_t told[2];
	int depth = 0;

	(void)prctl(PR_SET_NAME, "a) Z (b");	/* names may hold anything */
	while (depth + 1 < FAMILY && fork() == 0)
		depth++;
	told[0] = getpid();
	told[1] = depth;
	if (io_write_all(to, told, sizeof told) != 0)
		_exit(1);
	for (;;)
		pause();
}

static void
start_family(void)
{
	pid_t told[2], pid;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_family(ends[1]);
	for (int i = 0; i < FAMILY; i++) {
		assert_int_equal(io_read_all(ends[0], told, sizeof told),
		    sizeof told);
		assert_in_range(told[1], 0, FAMILY - 1);
		family[told[1]] = told[0];
	}
	assert_int_equal(family[0], pid);
	close(ends[0]);
	close(ends[1]);
}

/* All that are ours, orphans, too; how many there were. */
static int
reap(void)
{
	int status, nr = 0;

	while (waitpid(-1, &status, 0) > 0) {
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGKILL);
		nr++;
	}
	assert_int_equal(errno, ECHILD);
	return nr;
}

static int
adopt(void **state)
{
	(void)state;
	tree_adopt();
	return 0;
}

/*--- alive ---------------------------------------------------------------*/

static void
zombies_and_the_gone_are_not_alive(void **state)
{
	siginfo_t info;
	int status;
	pid_t pid;

	(void)state;
	assert_true(tree_is_alive(getpid()));
	assert_true(tree_is_alive(1));
	assert_false(tree_is_alive(0));
	assert_false(tree_is_alive(-1));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(tree_is_alive(pid));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(tree_is_alive(pid));
}

static void
a_stopped_process_is_alive(void **state)
{
	int status;

	(void)state;
	start_family();
	assert_int_equal(kill(family[0], SIGSTOP), 0);
	assert_int_equal(waitpid(family[0], &status, WUNTRACED), family[0]);
	assert_true(tree_is_alive(family[0]));
	tree_end();
	assert_int_equal(reap(), FAMILY);
}

/*--- the end -------------------------------------------------------------*/

static void
all_descendants_end(void **state)
{
	(void)state;
	start_family();
	tree_end();
	for (int i = 0; i < FAMILY; i++)
		assert_false(tree_is_alive(family[i]));
	assert_int_equal(reap(), FAMILY);
	tree_end();				/* of none */
}

/* Whose parent has gone: they have fallen to us. */
static void
orphans_end_as_well(void **state)
{
	int status;

	(void)state;
	start_family();
	assert_int_equal(kill(family[1], SIGKILL), 0);
	assert_int_equal(kill(family[0], SIGKILL), 0);
	assert_int_equal(waitpid(family[0], &status, 0), family[0]);
	assert_true(tree_is_alive(family[2]));
	tree_end();
	assert_false(tree_is_alive(family[2]));
	assert_int_equal(reap(), FAMILY - 1);
}

/*--- those who started it ------------------------------------------------*/

/* T for stopped; once it is reported, it is. */
static char
state_of(pid_t pid)
{
	char path[64], text[512], state = '?';

	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	assert_true(io_read_text(AT_FDCWD, path, text, sizeof text) > 0);
	(void)sscanf(text, "Name:%*[^\n] Umask:%*s State: %c", &state);
	return state;
}

/* The second of the family is the job, the third its worker. */
static void
only_those_above_are_stopped(void **state)
{
	int status;

	(void)state;
	start_family();
	tree_freeze_above(&family[1], 1);
	assert_int_equal(waitpid(family[0], &status, WUNTRACED), family[0]);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(state_of(family[0]), 'T');
	assert_int_not_equal(state_of(family[1]), 'T');
	assert_int_not_equal(state_of(family[2]), 'T');
	tree_end_above();
	assert_int_equal(reap(), FAMILY);
}

static void
a_job_of_our_own_has_none_above(void **state)
{
	int status;

	(void)state;
	start_family();
	tree_freeze_above(family, 1);
	assert_int_equal(waitpid(-1, &status, WUNTRACED | WNOHANG), 0);
	for (int i = 0; i < FAMILY; i++)
		assert_int_not_equal(state_of(family[i]), 'T');
	tree_end();
	assert_int_equal(reap(), FAMILY);
}

UNIT_MAIN_WITH(adopt, NULL,
	UNIT(zombies_and_the_gone_are_not_alive),
	UNIT(a_stopped_process_is_alive),
	UNIT(all_descendants_end),
	UNIT(orphans_end_as_well),
	UNIT(only_those_above_are_stopped),
	UNIT(a_job_of_our_own_has_none_above))
