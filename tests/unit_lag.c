/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_lag.c: tests of stage/lag.c.
 */

#include <config.h>

#include "stage/lag.h"

#include <errno.h>
#include <string.h>

#include "tests/harness/unit.h"

#define SEC	UINT64_C(1000000000)
#define BEGUN	(UINT64_C(77) * SEC)	/* some time, not 0 */

static void
policies_are_read(void **state)
{
	static const struct {
		const char *text;
		enum stage_lag kind;
		uint64_t ns;
	} good[] = {
		{ "auto", STAGE_LAG_AUTO, 60 * SEC },
		{ "wait", STAGE_LAG_WAIT, 60 * SEC },
		{ "wait:90s", STAGE_LAG_WAIT, 90 * SEC },
		{ "wait:2m", STAGE_LAG_WAIT, 120 * SEC },
		{ "detach", STAGE_LAG_DETACH, 5 * SEC },
		{ "detach:250ms", STAGE_LAG_DETACH, SEC / 4 },
		{ "detach:0s", STAGE_LAG_DETACH, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct lag lag = { STAGE_LAG_AUTO, 1 };

		assert_int_equal(lag_parse(good[i].text, &lag, NULL), 0);
		assert_int_equal(lag.kind, good[i].kind);
		assert_int_equal(lag.ns, good[i].ns);
	}
}

static void
other_words_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "Auto", "auto:5s", "auto ", "wait:", "wait:5", "wait 5s",
		"waits", "detach:-5s", "detach:5s ", "detach:99999999999999h",
		"5s", "wait:60s:5s",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct lag lag = { STAGE_LAG_DETACH, 12345 };
		struct ds_err err = { .text = "" };

		assert_int_equal(lag_parse(bad[i], &lag, &err), -EINVAL);
		assert_non_null(strstr(err.text, "write auto, wait"));
		assert_int_equal(lag.kind, STAGE_LAG_DETACH);
		assert_int_equal(lag.ns, 12345);
	}
}

static void
near(double got, double want)
{
	if (got < 0.99 * want || got > 1.01 * want)
		fail_msg("%g where %g was expected", got, want);
}

static void
a_steady_pace(void **state)
{
	struct pace p = { 0 };

	(void)state;
	assert_true(pace_rate(&p, BEGUN) == 0);
	assert_false(pace_is_full(&p, BEGUN));
	/* 100 a second, told every 10 ms, from 5000 on. */
	for (uint64_t i = 0; i <= 3000; i++) {
		uint64_t now = BEGUN + i * SEC / 100;

		pace_note(&p, now, 5000 + i);
		assert_int_equal(pace_is_full(&p, now), i >= 1000);
		if (i == 0)
			assert_true(pace_rate(&p, now) == 0);
		else
			near(pace_rate(&p, now), 100);
	}
}

static void
the_past_is_forgotten(void **state)
{
	uint64_t now = BEGUN;
	struct pace p = { 0 };

	(void)state;
	pace_note(&p, now, 0);
	pace_note(&p, now += SEC, 1000000);
	near(pace_rate(&p, now), 1000000);
	near(pace_rate(&p, now + 4 * SEC), 200000);
	/* Nothing more comes, and nobody notes it. */
	assert_true(pace_rate(&p, now + 12 * SEC) == 0);
	assert_true(pace_rate(&p, now + 9999 * SEC) == 0);
	/* Long after. */
	pace_note(&p, now += 1000 * SEC, 1000000);
	assert_true(pace_rate(&p, now) == 0);
	for (unsigned i = 1; i <= 2000; i++)
		pace_note(&p, now += SEC / 100, 1000000 + 2 * i);
	near(pace_rate(&p, now), 200);
	/* What cannot be is nothing. */
	pace_note(&p, now += SEC, 3);
	assert_true(pace_rate(&p, now) == 0);
	pace_note(&p, BEGUN - SEC, 4);
	assert_true(pace_rate(&p, BEGUN - SEC) == 0);
}

static void
makers_are_counted(void **state)
{
	struct making m = { 0 };

	(void)state;
	assert_true(making_rate(&m) == 0);
	making_note(&m, 50, SEC);
	assert_true(making_rate(&m) == 0);
	m.makers = 4;
	near(making_rate(&m), 200);
	/* The last minute counts more than the first. */
	for (unsigned i = 0; i < 600; i++)
		making_note(&m, 10, SEC / 10);
	for (unsigned i = 0; i < 600; i++)
		making_note(&m, 1, SEC / 10);
	near(making_rate(&m), 40);
}

/* Does a policy detach, after as many seconds of waiting, and since the blocker
 * took something? */
static bool
is_over(const char *policy, double waited, double took, double received,
    double alone)
{
	struct pace pace = { 0 };
	struct making making = { 1000, 0, 1 };
	struct lag_case c = {
		.now_ns = BEGUN + 1000 * SEC, .pace = &pace, .making = &making,
	};
	struct lag lag;

	assert_int_equal(lag_parse(policy, &lag, NULL), 0);
	c.waits_since_ns = c.now_ns - (uint64_t)(waited * 1e9);
	c.blocker_took_ns = c.now_ns - (uint64_t)(took * 1e9);
	for (unsigned i = 0; i <= 1000; i++)
		pace_note(&pace, BEGUN + i * SEC,
		    (uint64_t)(received * i));
	making.ns = alone > 0 ? (uint64_t)(1e12 / alone) : 0;
	return lag_is_over(&lag, &c);
}

static void
wait_and_detach(void **state)
{
	(void)state;
	assert_false(is_over("detach:5s", 4.9, 0.1, 1, 100));
	assert_true(is_over("detach:5s", 5, 0.1, 1, 100));
	assert_false(is_over("wait:60s", 59, 100, 1, 100));
	assert_true(is_over("wait:60s", 60, 100, 1, 100));
	assert_true(is_over("wait:60s", 100, 60, 1, 100));
	/* As long as it takes units. */
	assert_false(is_over("wait:60s", 1000, 59, 1, 100));
	assert_false(is_over("wait:60s", 1000, 0, 1, 100));
}

static void
slower_than_alone(void **state)
{
	struct lag lag = { STAGE_LAG_AUTO, LAG_WAIT_NS };
	struct pace pace = { 0 };
	struct making making = { 1000, SEC, 1 };
	struct lag_case c = {
		.now_ns = BEGUN + SEC, .waits_since_ns = BEGUN + 1,
		.blocker_took_ns = BEGUN, .pace = &pace, .making = &making,
	};

	(void)state;
	assert_true(is_over("auto", 0.1, 0, 90, 100));
	assert_false(is_over("auto", 0.1, 0, 110, 100));
	/* Its makers have made nothing yet. */
	assert_false(is_over("auto", 0.1, 0, 1, 0));
	assert_true(is_over("auto", 60, 60, 110, 100));
	assert_false(is_over("auto", 60, 59, 110, 100));
	/* Not a whole span to judge by, and then one. */
	assert_false(lag_is_over(&lag, &c));
	pace_note(&pace, BEGUN, 0);
	assert_false(lag_is_over(&lag, &c));
	c.now_ns = BEGUN + 10 * SEC - 1;
	assert_false(lag_is_over(&lag, &c));
	c.now_ns++;
	assert_true(lag_is_over(&lag, &c));
	c.waits_since_ns = 0;
	assert_false(lag_is_over(&lag, &c));
}

UNIT_MAIN(
	UNIT(policies_are_read),
	UNIT(other_words_are_refused),
	UNIT(a_steady_pace),
	UNIT(the_past_is_forgotten),
	UNIT(makers_are_counted),
	UNIT(wait_and_detach),
	UNIT(slower_than_alone))
