/* SPDX-License-Identifier: Apache-2.0
 *
 * container.c: files that are read here and there.  Runs in the preload
 * object.
 *
 *  1. No byte past len is read, whatever the bytes before it say.
 */

#include <config.h>

#include "preload/container.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TAR_BLOCK	512u
#define TAR_SUM		148u		/* the checksum's place */
#define TAR_SUM_LEN	8u

struct mark {
	const char	*kind;
	size_t		at;
	size_t		len;
	const char	*bytes;
};

static const struct mark marks[] = {
	{ "HDF5",	0, 8,	"\x89" "HDF\r\n\x1a\n" },
	{ "HDF5",	0, 19,	"MATLAB 7.3 MAT-file" },
	{ "NetCDF",	0, 4,	"CDF\x01" },
	{ "NetCDF",	0, 4,	"CDF\x02" },
	{ "NetCDF",	0, 4,	"CDF\x05" },
	/* 0xBEEFC0DE behind the head of a page, which has 16 bytes. */
	{ "LMDB",	16, 4,	"\xde\xc0\xef\xbe" },
	{ "LMDB",	16, 4,	"\xbe\xef\xc0\xde" },
	{ "SQLite",	0, 16,	"SQLite format 3" },
	{ "Parquet",	0, 4,	"PAR1" },
	{ "Arrow",	0, 6,	"ARROW1" },
};

static bool
has_mark(const unsigned char *head, size_t len, const struct mark *m)
{
	return len >= m->at + m->len &&
	    memcmp(head + m->at, m->bytes, m->len) == 0;
}

/*--- tar -----------------------------------------------------------------*/

/* Octal digits between blanks; false: none. */
static bool
get_octal(const unsigned char *p, size_t len, uint32_t *out)
{
	size_t i = 0, first;
	uint32_t n = 0;

	while (i < len && p[i] == ' ')
		i++;
	for (first = i; i < len && p[i] >= '0' && p[i] <= '7'; i++)
		n = n * 8 + (uint32_t)(p[i] - '0');
	*out = n;
	return i > first && (i == len || p[i] == ' ' || p[i] == '\0');
}

/* A header of any age: only its sum is in all of them.  Some old programs
 * summed signed bytes. */
static bool
is_tar(const unsigned char *head, size_t len)
{
	uint32_t said, sum = 0, high = 0;

	if (len < TAR_BLOCK || head[0] == '\0' ||
	    !get_octal(head + TAR_SUM, TAR_SUM_LEN, &said))
		return false;
	for (size_t i = 0; i < TAR_BLOCK; i++) {
		bool blank = i >= TAR_SUM && i < TAR_SUM + TAR_SUM_LEN;

		sum += blank ? ' ' : head[i];
		high += !blank && head[i] >= 0x80;
	}
	return said == sum || said == sum - 0x100 * high;
}

/*--- streams of Arrow ----------------------------------------------------*/

static uint32_t
get_u16(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t
get_u32(const unsigned char *p)
{
	return get_u16(p) | get_u16(p + 2) << 16;
}

/* A stream begins with a message that holds a schema: four bytes of ones, the
 * length of a flatbuffer, and it.  Its root is a table, which has, somewhere
 * before or behind it, a list of where its fields are; the second is the kind
 * of message. */
static bool
is_arrow_stream(const unsigned char *head, size_t len)
{
	uint32_t size, table, list, field;

	if (len < 16 || get_u32(head) != UINT32_MAX)
		return false;
	size = get_u32(head + 4);
	table = get_u32(head + 8);
	if (size < 16 || size > INT32_MAX || size % 8 != 0 ||
	    table > CONTAINER_HEAD || 8 + table + 4 > len)
		return false;
	table += 8;
	list = table - get_u32(head + table);	/* signed: it may wrap */
	if (list > CONTAINER_HEAD || list + 8 > len || get_u16(head + list) < 8)
		return false;
	field = get_u16(head + list + 6);
	return field >= 4 && table + field < len && head[table + field] == 1;
}

const char *
container_kind(const unsigned char *head, size_t len)
{
	if (len > CONTAINER_HEAD)
		len = CONTAINER_HEAD;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (has_mark(head, len, &marks[i]))
			return marks[i].kind;
	if (is_tar(head, len))
		return "tar";
	return is_arrow_stream(head, len) ? "Arrow" : NULL;
}
