/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.c: numbers with units.  Runs in every process.
 */

#include <config.h>

#include "base/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN	64	/* characters of a wrong value that we repeat */
#define FRACTION_LIMIT	UINT64_C(1000000000000000000)

/* A decimal number as written: whole + numerator/denominator. */
struct decimal {
	uint64_t whole;
	uint64_t numerator;
	uint64_t denominator;
};

struct unit {
	const char *name;
	uint64_t scale;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", UINT64_C(1) << 10 }, { "KiB", UINT64_C(1) << 10 },
	{ "M", UINT64_C(1) << 20 }, { "MiB", UINT64_C(1) << 20 },
	{ "G", UINT64_C(1) << 30 }, { "GiB", UINT64_C(1) << 30 },
	{ "T", UINT64_C(1) << 40 }, { "TiB", UINT64_C(1) << 40 },
	{ "kB", UINT64_C(1000) }, { "KB", UINT64_C(1000) },
	{ "MB", UINT64_C(1000000) },
	{ "GB", UINT64_C(1000000000) },
	{ "TB", UINT64_C(1000000000000) },
	{ NULL, 0 },
};

static const struct unit duration_units[] = {
	{ "us", UINT64_C(1000) },
	{ "ms", UINT64_C(1000000) },
	{ "s", UINT64_C(1000000000) },
	{ "m", UINT64_C(60000000000) },
	{ "h", UINT64_C(3600000000000) },
	{ NULL, 0 },
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits from *text on into *out.  -EINVAL when there is none, -ERANGE when
 * they are too many; *text is after them then too. */
static int
scan_whole(const char **text, uint64_t *out)
{
	uint64_t n = 0;
	int rc = 0;

	if (!is_digit(**text))
		return -EINVAL;
	for (; is_digit(**text); (*text)++) {
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**text - '0'), &n))
			rc = -ERANGE;
	}
	*out = n;
	return rc;
}

/* "12" or "12.5"; the same results.  Digits past the eighteenth after the
 * point change nothing: they are less than the smallest unit of anything. */
static int
scan_decimal(const char **text, struct decimal *d)
{
	int rc = scan_whole(text, &d->whole);

	d->numerator = 0;
	d->denominator = 1;
	if (rc == -EINVAL || **text != '.')
		return rc;
	(*text)++;
	if (!is_digit(**text))
		return -EINVAL;
	for (; is_digit(**text); (*text)++) {
		if (d->denominator >= FRACTION_LIMIT)
			continue;
		d->numerator = d->numerator * 10 + (uint64_t)(**text - '0');
		d->denominator *= 10;
	}
	return rc;
}

/* whole * scale + fraction * scale, rounded down; false on overflow. */
static bool
scale_decimal(const struct decimal *d, uint64_t scale, uint64_t *out)
{
	uint64_t fraction = (uint64_t)((unsigned __int128)d->numerator * scale /
	    d->denominator);

	return !__builtin_mul_overflow(d->whole, scale, out) &&
	    !__builtin_add_overflow(*out, fraction, out);
}

/* "'TEXT' is WHAT", with a long text cut. */
static int
refuse(const char *text, int rc, const char *what, struct ds_err *err)
{
	bool cut = strlen(text) > MAX_SHOWN;

	return err_fail(err, rc, "'%.*s%s' is %s", MAX_SHOWN, text,
	    cut ? "..." : "", what);
}

static const struct unit *
find_unit(const struct unit *units, const char *name)
{
	for (; units->name != NULL; units++) {
		if (strcmp(units->name, name) == 0)
			return units;
	}
	return NULL;
}

static int
parse_with_unit(const char *text, const struct unit *units, const char *want,
    uint64_t *out, struct ds_err *err)
{
	const struct unit *unit;
	const char *p = text;
	struct decimal d;
	uint64_t n;
	int rc;

	rc = scan_decimal(&p, &d);
	unit = rc == -EINVAL ? NULL : find_unit(units, p);
	/* There is no part of a byte: "1.5" lacks its unit. */
	if (unit == NULL || (unit->scale == 1 && d.denominator > 1))
		return refuse(text, -EINVAL, want, err);
	if (rc == -ERANGE || !scale_decimal(&d, unit->scale, &n))
		return refuse(text, -ERANGE, "too large", err);
	*out = n;
	return 0;
}

int
parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *out,
    struct ds_err *err)
{
	const char *p = text;
	uint64_t n;
	int rc;

	rc = scan_whole(&p, &n);
	if (rc == -EINVAL || *p != '\0')
		return refuse(text, -EINVAL, "not a whole number", err);
	if (rc == -ERANGE || n < min || n > max) {
		refuse(text, -ERANGE, "out of range", err);
		return err_hint(err, -ERANGE, "from %" PRIu64 " to %" PRIu64,
		    min, max);
	}
	*out = n;
	return 0;
}

int
parse_size(const char *text, uint64_t *bytes, struct ds_err *err)
{
	return parse_with_unit(text, size_units,
	    "not a size: write 512M, 1.5G or 8GiB", bytes, err);
}

int
parse_duration(const char *text, uint64_t *ns, struct ds_err *err)
{
	return parse_with_unit(text, duration_units,
	    "not a duration: write 250ms, 60s or 2m", ns, err);
}

int
parse_share(const char *text, double *share, struct ds_err *err)
{
	const char *p = text;
	struct decimal d;
	double percent;
	int rc;

	rc = scan_decimal(&p, &d);
	if (rc == -EINVAL || strcmp(p, "%") != 0)
		return refuse(text, -EINVAL,
		    "not a percentage: write 30% or 2.5%", err);
	percent = (double)d.whole +
	    (double)d.numerator / (double)d.denominator;
	if (rc == -ERANGE || percent > 100)
		return refuse(text, -ERANGE, "more than 100%", err);
	*share = percent / 100;
	return 0;
}

/* Our scan says what a number looks like; the C library's, in a locale of its
 * own, reads it to the last bit. */
int
parse_decimal(const char *text, double *out, struct ds_err *err)
{
	const char *p = text;
	struct decimal d;
	locale_t c;
	int rc;

	rc = scan_decimal(&p, &d);
	if (rc == -EINVAL || *p != '\0')
		return refuse(text, -EINVAL,
		    "not a number: write 1 or 0.229", err);
	if (rc == -ERANGE)
		return refuse(text, -ERANGE, "too large", err);
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (c == (locale_t)0)
		return err_fail(err, -ENOMEM, "out of memory");
	*out = strtod_l(text, NULL, c);
	freelocale(c);
	return 0;
}

int
parse_budget(const char *text, struct budget *out, struct ds_err *err)
{
	struct budget b = { .is_share = strchr(text, '%') != NULL };
	int rc;

	rc = b.is_share ? parse_share(text, &b.share, err) :
	    parse_size(text, &b.bytes, err);
	if (rc < 0)
		return rc;
	if (b.is_share && b.share <= 0)
		return refuse(text, -ERANGE, "nothing: write more than 0%",
		    err);
	*out = b;
	return 0;
}
