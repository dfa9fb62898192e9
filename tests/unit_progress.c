/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_progress.c: tests of base/progress.c, on a pseudo-terminal in place of
 * standard error and with a clock that only the test moves.
 */

#include <config.h>

#include "base/progress.h"

#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness/unit.h"

#define CLEAR	"\r\033[K"

static struct {
	uint64_t now;
	int master, slave;
	int saved_stderr;
	char **saved_environ;
} stage;

static uint64_t
stage_now(void *arg)
{
	(void)arg;
	return stage.now;
}

/* columns: of the terminal on standard error; 0 puts a pipe there. */
static void
enter(const char *const *env, unsigned short columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	int fds[2];

	if (columns > 0) {
		assert_int_equal(openpty(&stage.master, &stage.slave, NULL,
		    NULL, &size), 0);
	} else {
		assert_int_equal(pipe(fds), 0);
		stage.master = fds[0];
		stage.slave = fds[1];
	}
	assert_int_equal(fcntl(stage.master, F_SETFL, O_NONBLOCK), 0);
	stage.saved_stderr = dup(STDERR_FILENO);
	assert_int_equal(dup2(stage.slave, STDERR_FILENO), STDERR_FILENO);
	stage.saved_environ = environ;
	environ = (char **)(uintptr_t)env;
	stage.now = 1000 * NS_PER_S;
	clock_replace(stage_now, NULL);
}

static void
leave(void)
{
	clock_replace(NULL, NULL);
	environ = stage.saved_environ;
	dup2(stage.saved_stderr, STDERR_FILENO);
	close(stage.saved_stderr);
	close(stage.slave);
	close(stage.master);
}

/* What has been drawn since the last call. */
static const char *
drawn(void)
{
	static char text[4096];
	ssize_t n = read(stage.master, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static const char *const xterm[] = { "TERM=xterm", NULL };
static const char *const dumb[] = { "TERM=dumb", NULL };

static void
silent_for_two_seconds_then_drawn(void **state)
{
	struct progress p;

	(void)state;
	enter(xterm, 80);
	progress_start(&p, "gen", "images", 100, 1300);
	progress_at(&p, 100);
	stage.now += 2 * NS_PER_S - 1;
	progress_at(&p, 200);
	assert_string_equal(drawn(), "");
	stage.now += 1;
	progress_at(&p, 300);
	assert_string_equal(drawn(),
	    CLEAR "gen: 300 of 1,300 images, 100/s, 10.0 s left");
	progress_end(&p);
	assert_string_equal(drawn(), CLEAR);
	progress_end(&p);
	assert_string_equal(drawn(), "");
	leave();
}

static void
at_most_five_redraws_a_second(void **state)
{
	struct progress p;
	unsigned redraws = 0;

	(void)state;
	enter(xterm, 80);
	progress_start(&p, "gen", "images", 0, 100000);
	stage.now += 2 * NS_PER_S;
	for (uint64_t i = 0; i < 1000; i++) {
		stage.now += NS_PER_MS;
		progress_at(&p, i);
		redraws += *drawn() != '\0';
	}
	assert_int_equal(redraws, 5);
	progress_end(&p);
	leave();
}

static void
short_works_never_show(void **state)
{
	struct progress p;

	(void)state;
	enter(xterm, 80);
	progress_start(&p, "gen", "images", 0, 10);
	for (uint64_t i = 0; i <= 10; i++)
		progress_at(&p, i);
	progress_end(&p);
	assert_string_equal(drawn(), "");
	leave();
}

/* A file, a pipe, or a terminal that would print the escapes. */
static void
nothing_where_it_cannot_be_cleared(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct progress p;

		enter(i == 0 ? xterm : dumb, i == 0 ? 0 : 80);
		progress_start(&p, "gen", "images", 0, 10);
		stage.now += 100 * NS_PER_S;
		progress_at(&p, 5);
		progress_end(&p);
		assert_string_equal(drawn(), "");
		leave();
	}
}

static void
never_wider_than_the_terminal(void **state)
{
	struct progress p;

	(void)state;
	enter(xterm, 50);
	progress_start(&p, "a long name of the work", "very long units", 0,
	    UINT64_MAX);
	stage.now += 3 * NS_PER_S;
	progress_at(&p, UINT64_MAX / 2);
	assert_int_equal(strlen(drawn()), strlen(CLEAR) + 49);
	progress_end(&p);
	leave();
}

/* Counts that make no sense give a line that makes some. */
static void
odd_counts_do_no_harm(void **state)
{
	static const struct {
		uint64_t first, total, done;
		const char *want;
	} cases[] = {
		{ 0, 10, 0, "0 of 10 x, 0/s, ? left" },
		{ 5, 10, 3, "3 of 10 x, 0/s, ? left" },
		{ 0, 10, 12, "12 of 10 x, 4/s, 0 ns left" },
		{ 0, UINT64_MAX, 1,
		    "1 of 18,446,744,073,709,551,615 x, 0/s, ? left" },
		{ 0, 0, 0, "0 of 0 x, 0/s, ? left" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct progress p;

		enter(xterm, 80);
		progress_start(&p, "w", "x", cases[i].first, cases[i].total);
		stage.now += 3 * NS_PER_S;
		progress_at(&p, cases[i].done);
		assert_string_equal(drawn() + strlen(CLEAR "w: "),
		    cases[i].want);
		progress_end(&p);
		leave();
	}
}

static void
without_a_count_the_time(void **state)
{
	struct progress p;

	(void)state;
	enter(xterm, 80);
	progress_start(&p, "w", NULL, 0, 0);
	progress_at(&p, 0);
	assert_string_equal(drawn(), "");
	stage.now += 3 * NS_PER_S;
	progress_at(&p, 0);
	assert_string_equal(drawn(), CLEAR "w: 3.00 s");
	progress_end(&p);
	leave();
}

UNIT_MAIN(
	UNIT(silent_for_two_seconds_then_drawn),
	UNIT(at_most_five_redraws_a_second),
	UNIT(short_works_never_show),
	UNIT(nothing_where_it_cannot_be_cleared),
	UNIT(never_wider_than_the_terminal),
	UNIT(odd_counts_do_no_harm),
	UNIT(without_a_count_the_time))
