/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_err.c: tests of base/err.c.
 */

#include <config.h>

#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/unit.h"

/* An error with bytes behind it that nobody may touch. */
struct guarded {
	struct ds_err err;
	char guard[16];
};

static void
arm(struct guarded *g)
{
	memset(g, 'G', sizeof *g);
}

static void
check_whole(const struct guarded *g)
{
	assert_non_null(memchr(g->err.text, '\0', sizeof g->err.text));
	for (size_t i = 0; i < sizeof g->guard; i++)
		assert_int_equal(g->guard[i], 'G');
}

static void
fail_fills_and_returns(void **state)
{
	struct guarded g;

	(void)state;
	arm(&g);
	assert_int_equal(err_fail(&g.err, -EBADMSG, "shard %s: %d", "a", 7),
	    -EBADMSG);
	assert_int_equal(g.err.code, -EBADMSG);
	assert_string_equal(g.err.text, "shard a: 7");
	check_whole(&g);
}

static void
errno_is_named(void **state)
{
	struct guarded g;

	(void)state;
	arm(&g);
	errno = ENOENT;
	assert_int_equal(err_errno(&g.err, "cannot open %s", "x"), -ENOENT);
	assert_int_equal(g.err.code, -ENOENT);
	assert_string_equal(g.err.text,
	    "cannot open x: No such file or directory");
	errno = 4000;
	assert_int_equal(err_errno(&g.err, "odd"), -4000);
	assert_string_equal(g.err.text, "odd: unknown error");
}

static void
hint_is_appended(void **state)
{
	struct guarded g;

	(void)state;
	arm(&g);
	err_fail(&g.err, -EINVAL, "no");
	assert_int_equal(err_hint(&g.err, -EINVAL, "try %d", 2), -EINVAL);
	assert_string_equal(g.err.text, "no: try 2");
	assert_int_equal(g.err.code, -EINVAL);
}

static void
nobody_needs_to_listen(void **state)
{
	(void)state;
	assert_int_equal(err_fail(NULL, -EIO, "x"), -EIO);
	errno = EPERM;
	assert_int_equal(err_errno(NULL, "x"), -EPERM);
	assert_int_equal(err_hint(NULL, -EIO, "x"), -EIO);
}

/* Texts and hints of every length around the size of the array. */
static void
long_texts_are_cut_not_overflown(void **state)
{
	char name[2 * DS_ERR_TEXT], hint[DS_ERR_TEXT + 1];

	(void)state;
	for (size_t n = DS_ERR_TEXT - 40; n < sizeof name; n += 7) {
		for (size_t m = 0; m < sizeof hint; m += 13) {
			struct guarded g;

			arm(&g);
			memset(name, 'n', n);
			name[n] = '\0';
			memset(hint, 'h', m);
			hint[m] = '\0';
			err_fail(&g.err, -EIO, "%s", name);
			check_whole(&g);
			err_hint(&g.err, -EIO, "%s", hint);
			check_whole(&g);
		}
	}
}

static void
reason_outlives_a_long_name(void **state)
{
	char name[2 * DS_ERR_TEXT];
	struct guarded g;
	size_t len;

#define END	"n: No space left on device: make room"
	(void)state;
	arm(&g);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	errno = ENOSPC;
	err_errno(&g.err, "cannot write %s", name);
	err_hint(&g.err, -ENOSPC, "make room");
	len = strlen(g.err.text);
	assert_in_range(len, DS_ERR_TEXT - 8, DS_ERR_TEXT - 1);
	assert_non_null(strstr(g.err.text, "cannot write nnn"));
	assert_non_null(strstr(g.err.text, "n...n"));
	assert_string_equal(g.err.text + len - strlen(END), END);
#undef END
	check_whole(&g);
}

/* At whatever byte the cut falls, no half of a character is left. */
static void
cut_falls_between_characters(void **state)
{
	(void)state;
	for (int shift = 0; shift < 4; shift++) {
		char name[2 * DS_ERR_TEXT] = "";
		struct guarded g;
		const char *gap;

		arm(&g);
		memset(name, 'a', (size_t)shift);
		while (strlen(name) < DS_ERR_TEXT + 20)
			strcat(name, "\xe2\x82\xac");
		err_fail(&g.err, -EIO, "%s", name);
		err_hint(&g.err, -EIO, "why");
		gap = strstr(g.err.text, "...");
		assert_non_null(gap);
		assert_memory_equal(gap - 3, "\xe2\x82\xac", 3);
		assert_memory_equal(gap + 3, "\xe2\x82\xac", 3);
	}
}

UNIT_MAIN(
	UNIT(fail_fills_and_returns),
	UNIT(errno_is_named),
	UNIT(hint_is_appended),
	UNIT(nobody_needs_to_listen),
	UNIT(long_texts_are_cut_not_overflown),
	UNIT(reason_outlives_a_long_name),
	UNIT(cut_falls_between_characters))
