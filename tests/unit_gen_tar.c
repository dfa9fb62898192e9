/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_gen_tar.c: tests of the format in tool/gen_tar.c; that tar(1) reads it
 * is a scenario.
 */

#include <config.h>

#include "tool/gen_tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

static void
head_has_the_fields_of_ustar(void **state)
{
	uint8_t head[GEN_TAR_BLOCK];

	(void)state;
	gen_tar_head(head, "class007/000007.jpg", 110000);
	assert_string_equal((char *)head, "class007/000007.jpg");
	assert_string_equal((char *)head + 100, "0000644");
	assert_string_equal((char *)head + 124, "00000326660");
	assert_string_equal((char *)head + 136, "00000000000");
	assert_int_equal(head[156], '0');
	assert_memory_equal(head + 257, "ustar\0" "00", 8);
}

/* The sum of all bytes, its own field taken as blanks. */
static void
head_has_its_sum(void **state)
{
	uint8_t head[GEN_TAR_BLOCK];
	unsigned long sum = 0;

	(void)state;
	gen_tar_head(head, "class000/000000.jpg", UINT64_C(077777777777));
	for (unsigned i = 0; i < GEN_TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : head[i];
	assert_int_equal(strtoul((char *)head + 148, NULL, 8), sum);
	assert_memory_equal(head + 154, "\0 ", 2);
}

static void
members_take_whole_blocks(void **state)
{
	(void)state;
	assert_int_equal(gen_tar_room(0), 512);
	assert_int_equal(gen_tar_room(1), 1024);
	assert_int_equal(gen_tar_room(512), 1024);
	assert_int_equal(gen_tar_room(513), 1536);
}

UNIT_MAIN(
	UNIT(head_has_the_fields_of_ustar),
	UNIT(head_has_its_sum),
	UNIT(members_take_whole_blocks))
