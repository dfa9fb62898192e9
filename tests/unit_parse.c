/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_parse.c: tests of base/parse.c.
 */

#include <config.h>

#include "base/parse.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include "tests/harness/unit.h"

#define UNTOUCHED	UINT64_C(0x1234567812345678)
#define KI		UINT64_C(1024)

typedef int parse_f(const char *text, uint64_t *out, struct ds_err *err);

struct number {
	const char *text;
	int rc;
	uint64_t want;
};

static void
check_numbers(parse_f *parse, const struct number *n)
{
	for (; n->text != NULL; n++) {
		struct ds_err err = { .text = "" };
		uint64_t out = UNTOUCHED;
		int rc = parse(n->text, &out, &err);

		if (rc != n->rc || out != (rc < 0 ? UNTOUCHED : n->want))
			fail_msg("'%s': %d, %llu", n->text, rc,
			    (unsigned long long)out);
		assert_int_equal(strlen(err.text) > 0, rc < 0);
		assert_int_equal(parse(n->text, &out, NULL), rc);
	}
}

static void
sizes(void **state)
{
	static const struct number cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "007", 0, 7 },
		{ "7B", 0, 7 },
		{ "1K", 0, KI },
		{ "1KiB", 0, KI },
		{ "1kB", 0, 1000 },
		{ "1KB", 0, 1000 },
		{ "512M", 0, 512 * KI * KI },
		{ "3MB", 0, 3000000 },
		{ "1.5G", 0, 1536 * KI * KI },
		{ "8GiB", 0, 8 * KI * KI * KI },
		{ "8GB", 0, UINT64_C(8000000000) },
		{ "0.1T", 0, UINT64_C(109951162777) },
		{ "2TiB", 0, 2 * KI * KI * KI * KI },
		{ "2TB", 0, UINT64_C(2000000000000) },
		{ "0.000000000001T", 0, 1 },
		{ "0.0000000000000000000000000000001T", 0, 0 },
		{ "1.99999999999999999999999999999999K", 0, 2047 },
		{ "16777215.99999999999999T", 0, UINT64_MAX },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551615B", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "18446744073709551615K", -ERANGE, 0 },
		{ "16777216T", -ERANGE, 0 },
		{ "999999999999999999999999999999G", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "G", -EINVAL, 0 },
		{ "1e30", -EINVAL, 0 },
		{ "10GBB", -EINVAL, 0 },
		{ "10g", -EINVAL, 0 },
		{ "10Gi", -EINVAL, 0 },
		{ "-3", -EINVAL, 0 },
		{ "+3", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
		{ " 5", -EINVAL, 0 },
		{ "5 ", -EINVAL, 0 },
		{ "5 G", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1..5G", -EINVAL, 0 },
		{ "1.5.5G", -EINVAL, 0 },
		{ ".5G", -EINVAL, 0 },
		{ "5.", -EINVAL, 0 },
		{ "5.G", -EINVAL, 0 },
		{ "1,5G", -EINVAL, 0 },
		{ "1.5", -EINVAL, 0 },
		{ "1.5B", -EINVAL, 0 },
		{ "30%", -EINVAL, 0 },
		{ "5\n", -EINVAL, 0 },
		{ "\xd9\xa5", -EINVAL, 0 },	/* an Arabic five */
		{ NULL, 0, 0 },
	};

	(void)state;
	check_numbers(parse_size, cases);
}

static void
durations(void **state)
{
	static const struct number cases[] = {
		{ "0s", 0, 0 },
		{ "100us", 0, 100000 },
		{ "250ms", 0, 250000000 },
		{ "60s", 0, UINT64_C(60000000000) },
		{ "1.5m", 0, UINT64_C(90000000000) },
		{ "2h", 0, UINT64_C(7200000000000) },
		{ "0.5us", 0, 500 },
		{ "18446744073s", 0, UINT64_C(18446744073000000000) },
		{ "18446744074s", -ERANGE, 0 },
		{ "18446744073.709551615s", 0, UINT64_MAX },
		{ "18446744073.709551616s", -ERANGE, 0 },
		{ "99999999999999999999h", -ERANGE, 0 },
		{ "60", -EINVAL, 0 },
		{ "0", -EINVAL, 0 },
		{ "5S", -EINVAL, 0 },
		{ "5min", -EINVAL, 0 },
		{ "5s5", -EINVAL, 0 },
		{ "-5s", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ NULL, 0, 0 },
	};

	(void)state;
	check_numbers(parse_duration, cases);
}

static int
count_2_to_9(const char *text, uint64_t *out, struct ds_err *err)
{
	return parse_count(text, 2, 9, out, err);
}

static int
count_any(const char *text, uint64_t *out, struct ds_err *err)
{
	return parse_count(text, 0, UINT64_MAX, out, err);
}

static void
counts(void **state)
{
	static const struct number small[] = {
		{ "2", 0, 2 },
		{ "9", 0, 9 },
		{ "1", -ERANGE, 0 },
		{ "10", -ERANGE, 0 },
		{ "18446744073709551618", -ERANGE, 0 },	/* 2 if it wrapped */
		{ "2x", -EINVAL, 0 },
		{ "2.0", -EINVAL, 0 },
		{ "2K", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ NULL, 0, 0 },
	};
	static const struct number any[] = {
		{ "0", 0, 0 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999999x", -EINVAL, 0 },
		{ NULL, 0, 0 },
	};

	(void)state;
	check_numbers(count_2_to_9, small);
	check_numbers(count_any, any);
}

static void
shares(void **state)
{
	static const struct {
		const char *text;
		int rc;
		double want;
	} cases[] = {
		{ "0%", 0, 0 },
		{ "30%", 0, 0.3 },
		{ "2.5%", 0, 0.025 },
		{ "100%", 0, 1 },
		{ "100.00%", 0, 1 },
		{ "100.5%", -ERANGE, 0 },
		{ "101%", -ERANGE, 0 },
		{ "18446744073709551617%", -ERANGE, 0 },
		{ "-3%", -EINVAL, 0 },
		{ "30", -EINVAL, 0 },
		{ "30%%", -EINVAL, 0 },
		{ "%", -EINVAL, 0 },
		{ "nan%", -EINVAL, 0 },
		{ ".5%", -EINVAL, 0 },
		{ "5.%", -EINVAL, 0 },
		{ "1e1%", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		double share = -1;
		int rc = parse_share(cases[i].text, &share, NULL);
		double want = cases[i].rc < 0 ? -1 : cases[i].want;

		if (rc != cases[i].rc || share < want - 1e-12 ||
		    share > want + 1e-12)
			fail_msg("'%s': %d, %f", cases[i].text, rc, share);
	}
}

static void
budgets(void **state)
{
	struct budget b;

	(void)state;
	assert_int_equal(parse_budget("8G", &b, NULL), 0);
	assert_false(b.is_share);
	assert_int_equal(b.bytes, 8 * KI * KI * KI);
	assert_int_equal(parse_budget("30%", &b, NULL), 0);
	assert_true(b.is_share);
	assert_true(b.share > 0.2999 && b.share < 0.3001);
	b.bytes = UNTOUCHED;
	assert_int_equal(parse_budget("0%", &b, NULL), -ERANGE);
	assert_int_equal(parse_budget("0.0%", &b, NULL), -ERANGE);
	assert_int_equal(parse_budget("200%", &b, NULL), -ERANGE);
	assert_int_equal(parse_budget("8G%", &b, NULL), -EINVAL);
	assert_int_equal(parse_budget("%8G", &b, NULL), -EINVAL);
	assert_int_equal(b.bytes, UNTOUCHED);
}

static void
sentences_say_what_would_be_right(void **state)
{
	char text[300];
	struct ds_err err;
	uint64_t n;

	(void)state;
	parse_size("10GBB", &n, &err);
	assert_string_equal(err.text,
	    "'10GBB' is not a size: write 512M, 1.5G or 8GiB");
	parse_size("18446744073709551616", &n, &err);
	assert_string_equal(err.text, "'18446744073709551616' is too large");
	parse_count("10", 2, 9, &n, &err);
	assert_string_equal(err.text, "'10' is out of range: from 2 to 9");
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	parse_size(text, &n, &err);
	assert_true(strlen(err.text) < 128);
	assert_non_null(strstr(err.text, "xxx...' is not a size"));
}

static void
decimals(void **state)
{
	static const char *const wrong[] = { "", ".", "-1", "1e3", "nan",
	    "inf", "0x1", " 1", "1 ", "1,5", "1.5.2" };
	double x = 7;

	(void)state;
	assert_int_equal(parse_decimal("0.485", &x, NULL), 0);
	assert_true(x == 0.485);
	assert_int_equal(parse_decimal("1.3333333333333333", &x, NULL), 0);
	assert_true(x == 4. / 3);
	assert_int_equal(parse_decimal("3", &x, NULL), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(parse_decimal(wrong[i], &x, NULL), -EINVAL);
	assert_int_equal(parse_decimal("99999999999999999999", &x, NULL),
	    -ERANGE);
	assert_true(x == 3);
}

/* Where the decimal point is a comma, "1.5G" is still one and a half. */
static void
locale_changes_nothing(void **state)
{
	struct lconv *now;
	uint64_t n;
	double x;

	(void)state;
	if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL &&
	    setlocale(LC_ALL, "fr_FR.UTF-8") == NULL)
		skip();
	now = localeconv();
	assert_string_equal(now->decimal_point, ",");
	assert_int_equal(parse_size("1.5G", &n, NULL), 0);
	assert_int_equal(n, 1536 * KI * KI);
	assert_int_equal(parse_size("1,5G", &n, NULL), -EINVAL);
	assert_int_equal(parse_decimal("0.25", &x, NULL), 0);
	assert_true(x == 0.25);
	setlocale(LC_ALL, "C");
}

UNIT_MAIN(
	UNIT(sizes),
	UNIT(durations),
	UNIT(counts),
	UNIT(shares),
	UNIT(budgets),
	UNIT(decimals),
	UNIT(sentences_say_what_would_be_right),
	/* A locale stays loaded: no check for leaks. */
	cmocka_unit_test(locale_changes_nothing))
