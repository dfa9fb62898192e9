/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_gen_plan.c: tests of tool/gen_plan.c.
 */

#include <config.h>

#include "tool/gen_plan.h"

#include <errno.h>
#include <string.h>

#include "tests/harness/unit.h"

static const struct gen_plan plain = {
	.seed = 5, .classes = 10, .quality = 94,
	.size = { .width = 500, .height = 375 },
};

static void
sizes_are_parsed(void **state)
{
	struct gen_size s;

	(void)state;
	assert_int_equal(gen_size_parse("500x375", &s, NULL), 0);
	assert_false(s.is_range);
	assert_int_equal(s.width, 500);
	assert_int_equal(s.height, 375);
	assert_int_equal(gen_size_parse("1x8192", &s, NULL), 0);
	assert_int_equal(s.height, 8192);
	assert_int_equal(gen_size_parse("300-600", &s, NULL), 0);
	assert_true(s.is_range);
	assert_int_equal(s.min_side, 300);
	assert_int_equal(s.max_side, 600);
	assert_int_equal(gen_size_parse("7-7", &s, NULL), 0);
}

static void
wrong_sizes_are_refused(void **state)
{
	static const char *const wrong[] = {
		"", "x", "-", "500", "500x", "x375", "0x5", "5x0", "0x0", "9-3",
		"0-5", "5-8193", "8193x1", "-3x5", "500x375x3", "500X375",
		"5 x5", "5x 5", "1e3x5", "5.5x5", "500x375 ", "00000000005x5",
		"99999999999999999999x1", "1x99999999999999999999", "a-b",
	};
	struct gen_size s, before;
	struct ds_err err;

	(void)state;
	memset(&s, 7, sizeof s);
	before = s;
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		err.text[0] = '\0';
		assert_int_equal(gen_size_parse(wrong[i], &s, &err), -EINVAL);
		assert_true(strlen(err.text) > 0);
		assert_memory_equal(&s, &before, sizeof s);
	}
}

static void
images_are_named(void **state)
{
	struct gen_image image;

	(void)state;
	gen_plan_image(&plain, 0, &image);
	assert_string_equal(image.class_name, "class000");
	assert_string_equal(image.file_name, "000000.jpg");
	gen_plan_image(&plain, 1234567, &image);
	assert_string_equal(image.class_name, "class007");
	assert_string_equal(image.file_name, "1234567.jpg");
	assert_int_equal(image.width, 500);
	assert_int_equal(image.height, 375);
}

/* Uniform between the limits, in the shapes and shares that are promised. */
static void
ranges_are_filled(void **state)
{
	struct gen_plan p = plain;
	unsigned shares[5] = { 0 }, low = 9999, high = 0;
	uint64_t sum = 0;

	(void)state;
	p.size = (struct gen_size){ .is_range = true, .min_side = 120,
	    .max_side = 240 };
	for (uint64_t i = 0; i < 20000; i++) {
		struct gen_image m;
		unsigned side;

		gen_plan_image(&p, i, &m);
		side = m.width > m.height ? m.width : m.height;
		low = side < low ? side : low;
		high = side > high ? side : high;
		sum += side;
		shares[m.height == (side * 3 + 3) / 4 ? 0 :
		    m.width == (side * 3 + 3) / 4 ? 1 :
		    m.height == (side * 2 + 2) / 3 ? 2 :
		    m.width == (side * 2 + 2) / 3 ? 3 : 4]++;
	}
	assert_int_equal(low, 120);
	assert_int_equal(high, 240);
	assert_in_range(sum / 20000, 178, 182);
	assert_in_range(shares[0], 8700, 9300);
	assert_in_range(shares[1], 2800, 3200);
	assert_in_range(shares[2], 3750, 4250);
	assert_in_range(shares[3], 1800, 2200);
	assert_in_range(shares[4], 1800, 2200);
}

static void
smallest_range_has_pixels(void **state)
{
	struct gen_plan p = plain;

	(void)state;
	p.size = (struct gen_size){ .is_range = true, .min_side = 1,
	    .max_side = 1 };
	for (uint64_t i = 0; i < 100; i++) {
		struct gen_image m;

		gen_plan_image(&p, i, &m);
		assert_int_equal(m.width, 1);
		assert_int_equal(m.height, 1);
	}
}

static void
records_are_compared(void **state)
{
	char text[GEN_RECORD];
	struct gen_plan other = plain;
	struct ds_err err;

	(void)state;
	gen_plan_print(&plain, text);
	assert_true(gen_plan_is_whole(text));
	assert_int_equal(gen_plan_compare(&plain, text, &err), 0);
	other.seed = 6;
	assert_int_equal(gen_plan_compare(&other, text, &err), -EEXIST);
	assert_string_equal(err.text, "the set there was made with seed 5, "
	    "not 6");
	other = plain;
	other.size.is_range = true;
	other.size.min_side = other.size.max_side = 500;
	assert_int_equal(gen_plan_compare(&other, text, &err), -EEXIST);
	assert_string_equal(err.text, "the set there was made with size "
	    "500x375, not 500-500");
}

/* No part of a record passes for the whole, and nothing else for a record. */
static void
torn_records_are_noticed(void **state)
{
	char text[GEN_RECORD];
	struct ds_err err;
	size_t len = gen_plan_print(&plain, text);

	(void)state;
	while (len-- > 0) {
		text[len] = '\0';
		assert_false(gen_plan_is_whole(text));
	}
	assert_int_equal(gen_plan_compare(&plain, "hello\nend\n", &err),
	    -EBADMSG);
	assert_int_equal(gen_plan_compare(&plain, "destall gen 1\nend\n", &err),
	    -EEXIST);
}

UNIT_MAIN(
	UNIT(sizes_are_parsed),
	UNIT(wrong_sizes_are_refused),
	UNIT(images_are_named),
	UNIT(ranges_are_filled),
	UNIT(smallest_range_has_pixels),
	UNIT(records_are_compared),
	UNIT(torn_records_are_noticed))
