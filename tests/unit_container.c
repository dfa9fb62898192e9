/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_container.c: tests of what is read here and there, by its first bytes.
 */

#include <config.h>

#include "preload/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

static unsigned char head[CONTAINER_HEAD];

static void
put(size_t at, const void *bytes, size_t len)
{
	memcpy(head + at, bytes, len);
}

static void
begin(const void *bytes, size_t len)
{
	memset(head, 0, sizeof head);
	put(0, bytes, len);
}

/* From a block that ends there, so that AddressSanitizer sees a step past. */
static const char *
kind_of(size_t len)
{
	unsigned char *copy = malloc(len > 0 ? len : 1);
	const char *kind;

	assert_non_null(copy);
	memcpy(copy, head, len);
	kind = container_kind(copy, len);
	free(copy);
	return kind;
}

/* With so many bytes it is one, with one less it is none. */
static void
assert_kind(const char *kind, size_t least)
{
	assert_string_equal(kind_of(CONTAINER_HEAD), kind);
	assert_string_equal(kind_of(least), kind);
	for (size_t len = 0; len < least; len++)
		assert_null(kind_of(len));
}

static void
by_their_marks(void **state)
{
	(void)state;
	begin("\x89HDF\r\n\x1a\n", 8);
	assert_kind("HDF5", 8);
	begin("MATLAB 7.3 MAT-file, Platform: GLNXA64", 38);
	assert_kind("HDF5", 19);
	begin("CDF\x01\0\0\0\0", 8);
	assert_kind("NetCDF", 4);
	begin("CDF\x02\0\0\0\0", 8);
	assert_kind("NetCDF", 4);
	begin("CDF\x05\0\0\0\0", 8);
	assert_kind("NetCDF", 4);
	begin("SQLite format 3\0\x10\0", 18);
	assert_kind("SQLite", 16);
	begin("PAR1\x15\x04\x15", 7);
	assert_kind("Parquet", 4);
	begin("ARROW1\0\0\xff\xff\xff\xff", 12);
	assert_kind("Arrow", 6);
}

/* A page's number, flags for a page of meta data, then the magic. */
static void
lmdb_in_both_orders(void **state)
{
	(void)state;
	begin("\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\0\0\xde\xc0\xef\xbe\1\0\0\0", 24);
	assert_kind("LMDB", 20);
	begin("\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\0\xbe\xef\xc0\xde\0\0\0\1", 24);
	assert_kind("LMDB", 20);
	begin("\xde\xc0\xef\xbe", 4);
	assert_null(kind_of(CONTAINER_HEAD));
}

/*--- tar -----------------------------------------------------------------*/

enum sum { DIGITS_NUL_BLANK, DIGITS_BLANK, SEVEN_DIGITS };

static void
set_sum(enum sum how, int high_is_negative)
{
	char text[16];
	int sum = 0;

	memset(head + 148, ' ', 8);
	for (size_t i = 0; i < sizeof head; i++)
		sum += high_is_negative ? (signed char)head[i] : head[i];
	(void)snprintf(text, sizeof text, how == SEVEN_DIGITS ? "%07o" :
	    how == DIGITS_BLANK ? "%6o " : "%06o", (unsigned)sum);
	put(148, text, how == DIGITS_NUL_BLANK ? 7 : 8);
}

static void
make_tar(const char *name, const char *magic)
{
	begin(name, strlen(name));
	put(100, "0000644", 8);
	put(124, "00000001750", 12);
	put(156, "0", 1);
	put(257, magic, strlen(magic));
}

static void
tar_of_any_age(void **state)
{
	static const char *const magics[] = { "ustar", "ustar  ", "" };

	(void)state;
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
		make_tar("train/0001.jpg", magics[i]);
		set_sum(DIGITS_NUL_BLANK, 0);
		assert_kind("tar", 512);
		set_sum(DIGITS_BLANK, 0);
		assert_kind("tar", 512);
		set_sum(SEVEN_DIGITS, 0);
		assert_kind("tar", 512);
	}
	make_tar("d\xc3\xa9j\xc3\xa0.jpg", "");
	set_sum(DIGITS_NUL_BLANK, 0);
	assert_kind("tar", 512);
	set_sum(DIGITS_NUL_BLANK, 1);
	assert_kind("tar", 512);
}

static void
tar_with_a_wrong_sum(void **state)
{
	(void)state;
	make_tar("train/0001.jpg", "ustar");
	set_sum(DIGITS_NUL_BLANK, 0);
	for (size_t i = 0; i < sizeof head; i++) {
		head[i]++;
		if (i < 148 || i >= 156)
			assert_null(kind_of(sizeof head));
		head[i]--;
	}
	put(148, "        ", 8);
	assert_null(kind_of(sizeof head));
	put(148, "12x4567 ", 8);
	assert_null(kind_of(sizeof head));
}

/*--- streams of Arrow ----------------------------------------------------*/

/* The table at 16 of the flatbuffer, its list of fields 12 before it. */
static void
make_stream(unsigned char message)
{
	begin("\xff\xff\xff\xff\x80\0\0\0" "\x10\0\0\0" "\x0c\0\x0e\0"
	    "\6\0\5\0\10\0\0\0" "\x0c\0\0\0\0\0\4\0", 28);
	head[8 + 16 + 5] = message;
}

static void
streams_of_arrow(void **state)
{
	(void)state;
	make_stream(1);
	assert_kind("Arrow", 30);
	/* The list may come behind the table as well. */
	make_stream(1);
	put(24, "\xd8\xff\xff\xff", 4);		/* 40 bytes on */
	put(64, "\x0c\0\x0e\0\6\0\5\0", 8);
	assert_kind("Arrow", 72);
	/* A batch without its schema, lengths and places that cannot be. */
	make_stream(3);
	assert_null(kind_of(CONTAINER_HEAD));
	make_stream(1);
	put(4, "\x81\0\0\0", 4);
	assert_null(kind_of(CONTAINER_HEAD));
	put(4, "\0\0\0\x80", 4);
	assert_null(kind_of(CONTAINER_HEAD));
	make_stream(1);
	put(8, "\xff\xff\xff\xff", 4);
	assert_null(kind_of(CONTAINER_HEAD));
	make_stream(1);
	put(24, "\0\0\0\x80", 4);
	assert_null(kind_of(CONTAINER_HEAD));
	make_stream(1);
	put(8 + 4 + 6, "\xff\xff", 2);
	assert_null(kind_of(CONTAINER_HEAD));
	/* Numbers that are all ones: a mask. */
	memset(head, 0xff, sizeof head);
	assert_null(kind_of(CONTAINER_HEAD));
}

/*--- samples -------------------------------------------------------------*/

static void
samples_are_none(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} samples[] = {
		{ "", 0 }, { "\xff\xd8\xff\xe0\0\x10JFIF", 10 },
		{ "\x89PNG\r\n\x1a\n", 8 }, { "PK\3\4\x14\0", 6 },
		{ "\x93NUMPY\1\0v\0{'descr': '<f4'", 25 }, { "\x1f\x8b\x08", 3 },
		{ "\x28\xb5\x2f\xfd", 4 }, { "RIFF\0\0\0\0WAVEfmt ", 16 },
		{ "RIFF\0\0\0\0WEBPVP8 ", 16 }, { "fLaC", 4 }, { "OggS", 4 },
		{ "II*\0", 4 }, { "{\"label\": 1}\n", 13 }, { "BM", 2 },
		{ "MATLAB 5.0 MAT-file, Platform", 29 }, { "CDF plain", 9 },
		{ "SQLite format 2", 16 }, { "PAR 1", 5 }, { "ARROW 1", 7 },
		{ "\0\0\0 ftypisom", 12 }, { "\x80\2}q\0X", 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		begin(samples[i].bytes, samples[i].len);
		for (size_t len = 0; len <= CONTAINER_HEAD; len++)
			assert_null(kind_of(len));
	}
}

UNIT_MAIN(
	UNIT(by_their_marks),
	UNIT(lmdb_in_both_orders),
	UNIT(tar_of_any_age),
	UNIT(tar_with_a_wrong_sum),
	UNIT(streams_of_arrow),
	UNIT(samples_are_none))
