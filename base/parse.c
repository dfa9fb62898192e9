/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.c: numbers with units.  Runs in every process.
 */

#include <config.h>

#include "base/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MAX_SHOWN	64	/* characters of a wrong value that we repeat */
#define FRACTION_LIMIT	UINT64_C(1000000000)

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

/* Digits from *text on into *out; false on overflow or when there is none. */
static bool
scan_whole(const char **text, uint64_t *out)
{
	uint64_t n = 0;
	const char *p = *text;

	if (!is_digit(*p))
		return false;
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	}
	*text = p;
	*out = n;
	return true;
}

/* "12" or "12.5"; digits past the ninth after the point change nothing. */
static bool
scan_decimal(const char **text, struct decimal *d)
{
	d->numerator = 0;
	d->denominator = 1;
	if (!scan_whole(text, &d->whole))
		return false;
	if (**text != '.')
		return true;
	(*text)++;
	if (!is_digit(**text))
		return false;
	for (; is_digit(**text); (*text)++) {
		if (d->denominator >= FRACTION_LIMIT)
			continue;
		d->numerator = d->numerator * 10 + (uint64_t)(**text - '0');
		d->denominator *= 10;
	}
	return true;
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

static int
refuse(const char *text, const char *want, struct ds_err *err)
{
	return err_fail(err, -EINVAL, "'%.*s%s' is not %s", MAX_SHOWN, text,
	    strlen(text) > MAX_SHOWN ? "..." : "", want);
}

static int
parse_with_unit(const char *text, const struct unit *units, const char *want,
    uint64_t *out, struct ds_err *err)
{
	const char *p = text;
	struct decimal d;

	if (!scan_decimal(&p, &d))
		return refuse(text, want, err);
	for (; units->name != NULL; units++) {
		if (strcmp(units->name, p) != 0)
			continue;
		if (!scale_decimal(&d, units->scale, out))
			return refuse(text, want, err);
		return 0;
	}
	return refuse(text, want, err);
}

int
parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *out,
    struct ds_err *err)
{
	const char *p = text;
	uint64_t n;

	if (!scan_whole(&p, &n) || *p != '\0')
		return refuse(text, "a whole number", err);
	if (n < min || n > max)
		return err_fail(err, -ERANGE, "%" PRIu64
		    " is out of range: from %" PRIu64 " to %" PRIu64,
		    n, min, max);
	*out = n;
	return 0;
}

int
parse_size(const char *text, uint64_t *bytes, struct ds_err *err)
{
	return parse_with_unit(text, size_units,
	    "a size: write 512M, 1.5G or 8GiB", bytes, err);
}

int
parse_duration(const char *text, uint64_t *ns, struct ds_err *err)
{
	return parse_with_unit(text, duration_units,
	    "a duration: write 250ms, 60s or 2m", ns, err);
}

int
parse_share(const char *text, double *share, struct ds_err *err)
{
	const char *p = text;
	struct decimal d;
	double percent;

	if (!scan_decimal(&p, &d) || strcmp(p, "%") != 0)
		return refuse(text, "a percentage: write 30% or 2.5%", err);
	percent = (double)d.whole +
	    (double)d.numerator / (double)d.denominator;
	if (percent > 100)
		return refuse(text, "a percentage up to 100%", err);
	*share = percent / 100;
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
		return refuse(text, "a share above 0%", err);
	*out = b;
	return 0;
}
