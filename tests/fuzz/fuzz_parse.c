/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_parse.c: any text as a number with a unit.
 *
 * What is accepted is compared with an independent reading of it, by strtold()
 * and the rule of the units; what is refused leaves the result alone.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "tests/fuzz/fuzz.h"

#define UNTOUCHED	UINT64_C(0x5a5a5a5a5a5a5a5a)

const char fuzz_name[] = "parse";

static long double
number_of(const char *text, const char **unit)
{
	char *end;
	long double n = strtold(text, &end);

	*unit = end;
	return n;
}

static long double
scale_of_size(const char *unit)
{
	static const char letters[] = "KMGT";
	size_t len = strlen(unit);
	const char *at;
	long double base, scale = 1;

	if (len == 0 || strcmp(unit, "B") == 0)
		return 1;
	base = len == 2 ? 1000 : 1024;
	at = strchr(letters, *unit == 'k' ? 'K' : *unit);
	must(at != NULL && len <= 3);
	for (; at >= letters; at--)
		scale *= base;
	return scale;
}

static long double
scale_of_duration(const char *unit)
{
	if (unit[0] == 'u' && unit[1] == 's')
		return 1e3L;
	if (unit[0] == 'm' && unit[1] == 's')
		return 1e6L;
	must(unit[1] == '\0');
	return unit[0] == 's' ? 1e9L : unit[0] == 'm' ? 60e9L : 3600e9L;
}

/* Nothing but digits, at most one point within them, and a unit. */
static void
check_shape(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	must(digits > 0);
	if (text[digits] == '.')
		must(strspn(text + digits + 1, "0123456789") > 0);
	must(strpbrk(text, " \t\n+-eExX,_") == NULL);
}

/* Rounded down: at most one less than the exact value, and never more, but
 * for the last bit of a long double. */
static void
check_value(uint64_t got, long double want)
{
	long double slack = 1 + want / 0x1p60L;

	must((long double)got <= want + slack);
	must((long double)got >= want - slack);
}

static void
check_refusal(int rc, uint64_t out, const struct ds_err *err)
{
	must(rc == -EINVAL || rc == -ERANGE);
	must(out == UNTOUCHED);
	fuzz_check_error(err, rc);
}

static void
try_size(const char *text)
{
	uint64_t out = UNTOUCHED, again;
	struct ds_err err;
	const char *unit;
	long double n;
	char plain[32];
	int rc = parse_size(text, &out, &err);

	if (rc != 0) {
		check_refusal(rc, out, &err);
		return;
	}
	check_shape(text);
	n = number_of(text, &unit);
	check_value(out, n * scale_of_size(unit));
	(void)snprintf(plain, sizeof plain, "%" PRIu64, out);
	must(parse_size(plain, &again, NULL) == 0 && again == out);
}

static void
try_duration(const char *text)
{
	uint64_t out = UNTOUCHED;
	struct ds_err err;
	const char *unit;
	long double n;
	int rc = parse_duration(text, &out, &err);

	if (rc != 0) {
		check_refusal(rc, out, &err);
		return;
	}
	check_shape(text);
	n = number_of(text, &unit);
	check_value(out, n * scale_of_duration(unit));
}

static void
try_count(const char *text, uint64_t min, uint64_t max)
{
	uint64_t out = UNTOUCHED;
	struct ds_err err;
	int rc = parse_count(text, min, max, &out, &err);

	if (rc != 0) {
		check_refusal(rc, out, &err);
		return;
	}
	must(out >= min && out <= max);
	must(strspn(text, "0123456789") == strlen(text));
	must(out == strtoull(text, NULL, 10));
}

static void
try_share(const char *text)
{
	double out = -1;
	struct ds_err err;
	const char *unit;
	long double n;
	int rc = parse_share(text, &out, &err);

	if (rc != 0) {
		must(rc == -EINVAL || rc == -ERANGE);
		must(out < 0);
		fuzz_check_error(&err, rc);
		return;
	}
	check_shape(text);
	n = number_of(text, &unit);
	must(strcmp(unit, "%") == 0 && out >= 0 && out <= 1);
	must(out > (double)(n / 100) - 1e-12 && out < (double)(n / 100) + 1e-12);
}

/* A budget is exactly a size, or a share that is not zero. */
static void
try_budget(const char *text)
{
	struct budget b;
	uint64_t bytes;
	double share = 0;
	int rc = parse_budget(text, &b, NULL);
	int size_rc = parse_size(text, &bytes, NULL);
	int share_rc = parse_share(text, &share, NULL);

	must((rc == 0) == (size_rc == 0 || (share_rc == 0 && share > 0)));
	if (rc != 0)
		return;
	must(b.is_share == (share_rc == 0));
	must(b.is_share ? b.share >= share && b.share <= share :
	    b.bytes == bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *text = fuzz_text(bytes, len);

	try_size(text);
	try_duration(text);
	try_count(text, 0, UINT64_MAX);
	try_count(text, 7, 1000);
	try_share(text);
	try_budget(text);
	free(text);
	return 0;
}
