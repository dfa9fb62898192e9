/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_text.c: tests of base/text.c.
 */

#include <config.h>

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

/* The text lies at the very end of a heap block, so that AddressSanitizer sees
 * a read past its terminator. */
static void
check_clean(const char *in, const char *clean, const char *utf8)
{
	size_t len = strlen(in);
	char *tight = malloc(len + 1);
	char out[256];

	memcpy(tight, in, len + 1);
	if (text_clean(out, sizeof out, tight) != strlen(clean) ||
	    strcmp(out, clean) != 0)
		fail_msg("clean: '%s' gave '%s'", clean, out);
	if (text_utf8(out, sizeof out, tight) != strlen(utf8) ||
	    strcmp(out, utf8) != 0)
		fail_msg("utf8: '%s' gave '%s'", utf8, out);
	free(tight);
}

static void
good_text_passes(void **state)
{
	static const char *const cases[] = {
		"", "plain", "tilde ~ back \\ slash", "\xc3\xa9t\xc3\xa9",
		"\xe2\x82\xac", "\xe6\x97\xa5\xe6\x9c\xac",
		"\xf0\x9f\x90\x88", "\xc2\xa0", "\xed\x9f\xbf",
		"\xee\x80\x80", "\xf4\x8f\xbf\xbd", "e\xcc\x81",
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_clean(cases[i], cases[i], cases[i]);
}

/* Well-formed, but not for a terminal: JSON keeps it. */
static void
hostile_characters_are_shown_as_bytes(void **state)
{
	static const struct {
		const char *in, *clean;
	} cases[] = {
		{ "a\nb", "a\\x0ab" },
		{ "\t", "\\x09" },
		{ "\r", "\\x0d" },
		{ "\b", "\\x08" },
		{ "\x7f", "\\x7f" },
		{ "\033[31m", "\\x1b[31m" },
		{ "\033]0;title\007", "\\x1b]0;title\\x07" },
		{ "\xc2\x9b", "\\xc2\\x9b" },		/* C1: CSI */
		{ "\xc2\x85", "\\xc2\\x85" },		/* C1: next line */
		{ "\xc2\xad", "\\xc2\\xad" },		/* soft hyphen */
		{ "\xcd\x8f", "\\xcd\\x8f" },		/* grapheme joiner */
		{ "\xd8\x9c", "\\xd8\\x9c" },		/* Arabic letter mark */
		{ "\xe1\x85\x9f", "\\xe1\\x85\\x9f" },	/* Hangul filler */
		{ "\xe1\xa0\x8e", "\\xe1\\xa0\\x8e" },	/* Mongolian separator */
		{ "\xe2\x80\x8b", "\\xe2\\x80\\x8b" },	/* zero width space */
		{ "\xe2\x80\x8d", "\\xe2\\x80\\x8d" },	/* zero width joiner */
		{ "\xe2\x80\x8f", "\\xe2\\x80\\x8f" },	/* right to left */
		{ "\xe2\x80\xa8", "\\xe2\\x80\\xa8" },	/* line separator */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },	/* override */
		{ "\xe2\x81\xa6", "\\xe2\\x81\\xa6" },	/* isolate */
		{ "\xe2\x81\xa0", "\\xe2\\x81\\xa0" },	/* word joiner */
		{ "\xe3\x85\xa4", "\\xe3\\x85\\xa4" },	/* filler */
		{ "\xef\xb8\x8f", "\\xef\\xb8\\x8f" },	/* selector */
		{ "\xef\xbb\xbf", "\\xef\\xbb\\xbf" },	/* byte order mark */
		{ "\xef\xbf\xb9", "\\xef\\xbf\\xb9" },	/* annotation */
		{ "\xef\xbf\xbf", "\\xef\\xbf\\xbf" },	/* U+FFFF */
		{ "\xef\xb7\x90", "\\xef\\xb7\\x90" },	/* U+FDD0 */
		{ "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81" },	/* tag A */
		{ "\xf4\x8f\xbf\xbf", "\\xf4\\x8f\\xbf\\xbf" },	/* U+10FFFF */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_clean(cases[i].in, cases[i].clean, cases[i].in);
}

static void
broken_utf8_is_shown_as_bytes(void **state)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{ "\x80", "\\x80" },
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "\xc0\xaf", "\\xc0\\xaf" },			/* overlong */
		{ "\xc1\xbf", "\\xc1\\xbf" },
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
		{ "\xe0\x9f\xbf", "\\xe0\\x9f\\xbf" },
		{ "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf" },
		{ "\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },		/* surrogate */
		{ "\xed\xbf\xbf", "\\xed\\xbf\\xbf" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },	/* too high */
		{ "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" },
		{ "\xc3", "\\xc3" },				/* cut off */
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "\xf0\x9f\x90", "\\xf0\\x9f\\x90" },
		{ "\xf0\x9f", "\\xf0\\x9f" },
		{ "\xf0", "\\xf0" },
		{ "\xe2\x82" "a", "\\xe2\\x82" "a" },
		{ "\xc3\xc3\xa9", "\\xc3\xc3\xa9" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_clean(cases[i].in, cases[i].want, cases[i].want);
}

/* Whatever the room, the output is terminated within it, and whole. */
static void
cut_at_a_whole_character(void **state)
{
	static const char in[] = "a\xe2\x82\xac\033z";
	static const char *const want[] = {
		"", "", "a", "a", "a", "a\xe2\x82\xac", "a\xe2\x82\xac",
		"a\xe2\x82\xac", "a\xe2\x82\xac", "a\xe2\x82\xac\\x1b",
		"a\xe2\x82\xac\\x1bz",
	};

	(void)state;
	for (size_t size = 1; size < sizeof want / sizeof want[0]; size++) {
		char *out = malloc(size);

		assert_int_equal(text_clean(out, size, in),
		    strlen(want[size]));
		assert_string_equal(out, want[size]);
		free(out);
	}
}

static void
four_times_always_suffices(void **state)
{
	char in[65], out[4 * 64 + 1];

	(void)state;
	memset(in, 0xff, 64);
	in[64] = '\0';
	assert_int_equal(text_utf8(out, sizeof out, in), 4 * 64);
}

static void
nearest_words(void **state)
{
	static const char *const known[] = {
		"count", "seed", "size", "classes", "tar", "help", "version",
		("a-name-longer-than-any-that-is-compared-because-words-have-64-"
		    "characters-at-most"), NULL,
	};
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "cuont", "count" },
		{ "conut", "count" },
		{ "counts", "count" },
		{ "cont", "count" },
		{ "coun", "count" },
		{ "c", "count" },		/* the beginning of it */
		{ "sede", "seed" },
		{ "sed", "seed" },
		{ "siez", "size" },
		{ "clases", "classes" },
		{ "Classes", "classes" },
		{ "tra", "tar" },
		{ "versoin", "version" },
		{ "", NULL },
		{ "x", NULL },
		{ "run", NULL },
		{ "zebra", NULL },
		{ "output", NULL },
		{ "ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
		    "ppppppppppppppppppppppppp", NULL },
		{ "\xff\xff", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *near = text_nearest(cases[i].word, known);

		if (near == NULL || cases[i].want == NULL)
			assert_ptr_equal(near, cases[i].want);
		else
			assert_string_equal(near, cases[i].want);
	}
	assert_null(text_nearest("x", known + 8));
}

struct figure {
	uint64_t n;
	const char *want;
};

static void
check_figures(const char *(*text)(char out[TEXT_FIGURE], uint64_t n),
    const struct figure *f, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char out[TEXT_FIGURE];

		assert_ptr_equal(text(out, f[i].n), out);
		assert_string_equal(out, f[i].want);
	}
}

static void
figures(void **state)
{
	static const struct figure sizes[] = {
		{ 0, "0 B" }, { 1023, "1023 B" }, { 1024, "1.00 KiB" },
		{ 10235, "10.0 KiB" }, { 102350, "100 KiB" },
		{ 110000, "107 KiB" }, { 1048575, "1.00 MiB" },
		{ 1610612736, "1.50 GiB" }, { UINT64_MAX, "16.0 EiB" },
	};
	static const struct figure durations[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" },
		{ 9999, "10.0 us" }, { 999499, "999 us" },
		{ 999999, "1.00 ms" }, { 12345678, "12.3 ms" },
		{ 999999999, "1.00 s" }, { 1500000000, "1.50 s" },
		{ UINT64_C(59500000000), "1 min 00 s" },
		{ UINT64_C(125000000000), "2 min 05 s" },
		{ UINT64_C(3599500000000), "1 h 00 min" },
		{ UINT64_C(7260000000000), "2 h 01 min" },
		{ UINT64_MAX, "5124095 h 34 min" },
	};
	static const struct figure counts[] = {
		{ 0, "0" }, { 999, "999" }, { 1000, "1,000" },
		{ 1234567, "1,234,567" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};

	(void)state;
	check_figures(text_size, sizes, sizeof sizes / sizeof sizes[0]);
	check_figures(text_duration, durations,
	    sizeof durations / sizeof durations[0]);
	check_figures(text_count, counts, sizeof counts / sizeof counts[0]);
}

UNIT_MAIN(
	UNIT(good_text_passes),
	UNIT(hostile_characters_are_shown_as_bytes),
	UNIT(broken_utf8_is_shown_as_bytes),
	UNIT(cut_at_a_whole_character),
	UNIT(four_times_always_suffices),
	UNIT(nearest_words),
	UNIT(figures))
