/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_crc32c.c: tests of base/crc32c.c.
 */

#include <config.h>

#include "base/crc32c.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

#define LONG	(5 * 3 * 4096 + 77)	/* several turns of three streams */

/* The definition: bit by bit. */
static uint32_t
sum_bits(uint32_t crc, const uint8_t *p, size_t len)
{
	crc = ~crc;
	for (; len > 0; p++, len--) {
		crc ^= *p;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

static void
check(const void *bytes, size_t len, uint32_t want)
{
	assert_int_equal(crc32c(0, bytes, len), want);
	assert_int_equal(crc32c_plain(0, bytes, len), want);
}

/* RFC 3720, B.4, and the usual check value. */
static void
known_vectors(void **state)
{
	static const uint8_t read_command[48] = {
		0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18,
		0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
	};
	uint8_t bytes[32];

	(void)state;
	check("", 0, 0);
	check("123456789", 9, 0xe3069283u);
	memset(bytes, 0, 32);
	check(bytes, 32, 0x8a9136aau);
	memset(bytes, 0xff, 32);
	check(bytes, 32, 0x62a8ab43u);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	check(bytes, 32, 0x46dd794eu);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	check(bytes, 32, 0x113fdb5cu);
	check(read_command, 48, 0xd9963a56u);
}

static void
fill(uint8_t *bytes, size_t len)
{
	uint32_t x = 1;

	for (size_t i = 0; i < len; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(x >> 24);
	}
}

/* Copies end where the heap block does, for the sanitizers. */
static void
short_ones_at_every_alignment(void **state)
{
	uint8_t bytes[300];

	(void)state;
	fill(bytes, sizeof bytes);
	for (size_t at = 0; at < 8; at++) {
		for (size_t len = 0; len <= 256; len++) {
			uint8_t *p = malloc(at + len + 1);
			uint32_t want = sum_bits(0, bytes, len);

			assert_non_null(p);
			memcpy(p + at + 1, bytes, len);
			check(p + at + 1, len, want);
			free(p);
		}
	}
}

static void
long_ones_and_their_parts(void **state)
{
	uint8_t *bytes = malloc(LONG + 8);
	static const size_t cuts[] = {
		0, 1, 7, 8, 4095, 4096, 12287, 12288, 12289, 24576, LONG - 1,
	};

	(void)state;
	assert_non_null(bytes);
	fill(bytes, LONG + 8);
	for (size_t at = 0; at < 8; at++) {
		uint32_t want = sum_bits(0, bytes + at, LONG);

		check(bytes + at, LONG, want);
		for (unsigned i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
			uint32_t crc = crc32c(0, bytes + at, cuts[i]);

			assert_int_equal(crc,
			    crc32c_plain(0, bytes + at, cuts[i]));
			assert_int_equal(crc32c(crc, bytes + at + cuts[i],
			    LONG - cuts[i]), want);
			assert_int_equal(crc32c_plain(crc,
			    bytes + at + cuts[i], LONG - cuts[i]), want);
		}
	}
	free(bytes);
}

UNIT_MAIN(UNIT(known_vectors), UNIT(short_ones_at_every_alignment),
    UNIT(long_ones_and_their_parts))
