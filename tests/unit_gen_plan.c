/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_gen_plan.c: tests of tool/gen_plan.c.
 */

#include <config.h>

#include "tool/gen_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/unit.h"
#include "tool/gen_jpeg.h"

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

static void
names_lead_back_to_images(void **state)
{
	static const struct {
		uint64_t	class;
		const char	*name;
	} wrong[] = {
		{ 1, "000000.jpg" }, { 0, "" }, { 0, ".jpg" }, { 0, "0.jpg" },
		{ 0, "0000000.jpg" }, { 0, "000000.jpeg" }, { 0, "000000" },
		{ 0, "000000.jpg " }, { 0, "-00010.jpg" }, { 0, " 00010.jpg" },
		{ 0, "100000000.jpg" }, { 0, ".." },
		{ 0, "000000000000000000000000000000000000000010.jpg" },
	};
	struct gen_image image;
	uint64_t index;

	(void)state;
	for (uint64_t i = 0; i < GEN_COUNT_MAX; i = i * 3 + 1) {
		gen_plan_image(&plain, i, &image);
		assert_true(gen_plan_index(&plain, image.class,
		    image.file_name, &index));
		assert_int_equal(index, i);
	}
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_false(gen_plan_index(&plain, wrong[i].class,
		    wrong[i].name, &index));
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
	assert_string_equal(err.text, "the set there was made with --seed 5, "
	    "not with --seed 6: use the same options, or another folder");
	other = plain;
	other.size.is_range = true;
	other.size.min_side = other.size.max_side = 500;
	assert_int_equal(gen_plan_compare(&other, text, &err), -EEXIST);
	assert_string_equal(err.text, "the set there was made with --size "
	    "500x375, not with --size 500-500: use the same options, or "
	    "another folder");
}

static void
shards_are_named_as_they_are_asked_for(void **state)
{
	static const struct {
		uint64_t	then, now;
		const char	*text;
	} cases[] = {
		{ 0, 64 << 20, "without --tar, not with --tar 64M" },
		{ 64 << 20, 0, "with --tar 64M, not without --tar" },
		{ UINT64_C(3) << 30, 1536 << 10,
		  "with --tar 3G, not with --tar 1536K" },
		{ 4097, UINT64_C(1) << 40,
		  "with --tar 4097, not with --tar 1024G" },
	};
	char text[GEN_RECORD];
	struct gen_plan then = plain, now = plain;
	struct ds_err err;

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		then.shard_bytes = cases[i].then;
		now.shard_bytes = cases[i].now;
		gen_plan_print(&then, text);
		assert_int_equal(gen_plan_compare(&now, text, &err), -EEXIST);
		assert_non_null(strstr(err.text, cases[i].text));
	}
}

/* Replaces what begins with `from`, up to the end of its line. */
static void
edit_line(char text[GEN_RECORD], const char *from, const char *to)
{
	char rest[GEN_RECORD], *at = strstr(text, from);

	assert_non_null(at);
	strcpy(rest, at + strcspn(at, "\n"));
	(void)snprintf(at, (size_t)(text + GEN_RECORD - at), "%s%s", to, rest);
}

static void
sets_of_two_libraries_do_not_mix(void **state)
{
	char text[GEN_RECORD], want[128];
	struct ds_err err;

	(void)state;
	gen_plan_print(&plain, text);
	edit_line(text, "libjpeg-turbo ", "libjpeg-turbo 1.9.77");
	assert_int_equal(gen_plan_compare(&plain, text, &err), -EEXIST);
	(void)snprintf(want, sizeof want, "the set there was made with "
	    "libjpeg-turbo 1.9.77, and this destall has %s: choose a new "
	    "folder", gen_jpeg_version);
	assert_string_equal(err.text, want);
}

#define LONG_SEED \
	"seed 5555555555555555555555555555555555555555555555555555555555555555" \
	"555555555555555555555555555555555555555555555555555555555555555555555"

/* Whatever a line holds, and however long it is, there is a sentence. */
static void
odd_lines_are_explained(void **state)
{
	static const char *const odd[] = {
		"seed", "seed ", "", " ", "seed 5 ", "tar 0", "seed x",
		LONG_SEED,
	};
	char text[GEN_RECORD];
	struct ds_err err;

	(void)state;
	for (unsigned i = 0; i < sizeof odd / sizeof odd[0]; i++) {
		gen_plan_print(&plain, text);
		edit_line(text, "seed ", odd[i]);
		assert_true(gen_plan_compare(&plain, text, &err) < 0);
		assert_non_null(strstr(err.text, " folder"));
	}
	gen_plan_print(&plain, text);
	edit_line(text, "tar ", "tar many");
	assert_int_equal(gen_plan_compare(&plain, text, &err), -EEXIST);
	assert_non_null(strstr(err.text, "with --tar many, not without --tar"));
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
	    -EBADMSG);
	assert_int_equal(gen_plan_compare(&plain, "destall gen 2\nend\n", &err),
	    -EBADMSG);
}

UNIT_MAIN(
	UNIT(sizes_are_parsed),
	UNIT(wrong_sizes_are_refused),
	UNIT(images_are_named),
	UNIT(names_lead_back_to_images),
	UNIT(ranges_are_filled),
	UNIT(smallest_range_has_pixels),
	UNIT(records_are_compared),
	UNIT(shards_are_named_as_they_are_asked_for),
	UNIT(sets_of_two_libraries_do_not_mix),
	UNIT(odd_lines_are_explained),
	UNIT(torn_records_are_noticed))
