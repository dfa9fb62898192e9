/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_line.c: a line of a ledger.  Runs in clients and in the command.
 */

#include <config.h>

#include "loader/ledger_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN	4095u
#define CRC_DIGITS	8u
#define SKIPPED		"skipped"

/*--- writing -------------------------------------------------------------*/

static bool
is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

static char *
escape(char *out, const char *name)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *begin = name;

	for (; *name != '\0'; name++) {
		unsigned char c = (unsigned char)*name;

		if (c == '%' || c == ' ' || is_control(c) ||
		    (c == '#' && name == begin)) {
			*out++ = '%';
			*out++ = digits[c >> 4];
			*out++ = digits[c & 0xf];
		} else {
			*out++ = (char)c;
		}
	}
	return out;
}

size_t
ledger_line_put(char out[LEDGER_LINE_MAX], const struct ledger_line *l,
    const char *name, uint64_t item)
{
	char *p = out;

	p += snprintf(p, LEDGER_LINE_MAX, "%" PRIu64 " %" PRIu64 " %" PRIu64
	    " ", l->epoch, l->batch, l->position);
	if (name != NULL && strlen(name) <= NAME_MAX_LEN)
		p = escape(p, name);
	else
		p += sprintf(p, "#%" PRIu64, item);
	if (l->skipped)
		p += sprintf(p, " " SKIPPED "\n");
	else
		p += sprintf(p, " %08" PRIx32 "\n", l->crc);
	return (size_t)(p - out);
}

/*--- reading -------------------------------------------------------------*/

/* A number and the blank behind it. */
static bool
take_number(const char **p, const char *end, uint64_t *out)
{
	const char *begin = *p;
	uint64_t n = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**p - '0'), &n))
			return false;
	}
	if (*p == begin || (*begin == '0' && *p > begin + 1))
		return false;
	if (*p == end || **p != ' ')
		return false;
	(*p)++;
	*out = n;
	return true;
}

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Up to the next blank: no control bytes, and of "%" only escapes. */
static bool
take_sample(const char **p, const char *end, struct ledger_line *l)
{
	l->sample = *p;
	for (; *p < end && **p != ' '; (*p)++) {
		if (is_control((unsigned char)**p))
			return false;
		if (**p == '%' && (end - *p < 3 || hex_value((*p)[1]) < 0 ||
		    hex_value((*p)[2]) < 0))
			return false;
	}
	l->sample_len = (size_t)(*p - l->sample);
	if (*p == end || l->sample_len == 0)
		return false;
	(*p)++;
	return true;
}

static bool
take_crc(const char *p, const char *end, struct ledger_line *l)
{
	size_t len = (size_t)(end - p);

	l->crc = 0;
	l->skipped = len == strlen(SKIPPED) && memcmp(p, SKIPPED, len) == 0;
	if (l->skipped)
		return true;
	if (len != CRC_DIGITS)
		return false;
	for (; p < end; p++) {
		int digit = hex_value(*p);

		if (digit < 0)
			return false;
		l->crc = l->crc << 4 | (uint32_t)digit;
	}
	return true;
}

const char *
ledger_line_parse(struct ledger_line *l, const char *text, size_t len)
{
	const char *p = text, *end = text + len;

	if (!take_number(&p, end, &l->epoch))
		return "it does not begin with the number of an epoch";
	if (!take_number(&p, end, &l->batch))
		return "no number of a batch behind the epoch";
	if (!take_number(&p, end, &l->position))
		return "no position behind the batch";
	if (!take_sample(&p, end, l))
		return "no sample behind the position";
	if (!take_crc(p, end, l))
		return "no crc32c of eight digits, nor 'skipped', at its end";
	return NULL;
}
