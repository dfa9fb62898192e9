/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.h: numbers with units, as people write them on command lines and in
 * environment variables.  Runs in every process: a guest may run under any
 * locale, so nothing here looks at it.
 *
 * Nothing is guessed: an unknown unit, a sign, an exponent, a blank or an
 * overflow is refused with a sentence that shows a right value.  -EINVAL for
 * what cannot be read, -ERANGE for what is too small or too large; the result
 * is left alone then.
 */

#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

int parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *out,
    struct ds_err *err);
	/* A whole number within limits. */

int parse_size(const char *text, uint64_t *bytes, struct ds_err *err);
	/* 4096, 512K, 1.5G, 8GiB (powers of 1024), 8GB (powers of 1000); a
	 * part of a byte is dropped. */

int parse_duration(const char *text, uint64_t *ns, struct ds_err *err);
	/* 100us, 250ms, 60s, 1.5m, 2h. */

int parse_share(const char *text, double *share, struct ds_err *err);
	/* 30% gives 0.3; between 0% and 100%. */

int parse_decimal(const char *text, double *out, struct ds_err *err);
	/* 0.229, 1, 1.3333333333333333: digits with or without a point; the
	 * nearest double, as every compiler would read it. */

/* How much of something: bytes, or a share of a whole known later. */
struct budget {
	bool		is_share;
	double		share;
	uint64_t	bytes;
};

int parse_budget(const char *text, struct budget *out, struct ds_err *err);
	/* A size, or a percentage above 0%. */

#endif
