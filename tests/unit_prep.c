/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_prep.c: tests of prep/prep.c: settings, what a sample depends on, what
 * is refused.  Whether its values are right, tests/python asks Pillow.
 */

#include <config.h>

#include "prep/prep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/jpegs.h"
#include "tests/harness/unit.h"

#define WIDTH	120u
#define HEIGHT	160u
#define SIDE	16u
#define BYTES	(3 * SIDE * SIDE)

static struct ds_prep *prep;
static struct ds_err err;
static uint8_t *picture;
static size_t len;

static void
set(struct ds_prep *p, const char *name, const char *value)
{
	if (ds_prep_set(p, name, value, &err) < 0)
		fail_msg("%s", err.text);
}

static uint8_t *
make(const char *kind, unsigned width, unsigned height, size_t *size)
{
	const struct jpeg_kind *k = jpeg_kinds;

	while (strcmp(k->name, kind) != 0)
		k++;
	return jpegs_make(k, width, height, 1, size);
}

static int
start(void **state)
{
	leak_before(state);
	picture = make("4:2:0", WIDTH, HEIGHT, &len);
	if (ds_prep_new(&prep, &err) < 0)
		return -1;
	set(prep, "size", "16");
	set(prep, "type", "uint8");
	return 0;
}

static int
stop(void **state)
{
	ds_prep_free(&prep);
	free(picture);
	return leak_after(state);
}

#define PREP_UNIT(test) cmocka_unit_test_setup_teardown(test, start, stop)

/* Of the upper quarter of a picture. */
static const struct ds_cut upper = {
	.width = WIDTH, .height = HEIGHT / 4, .to_width = SIDE,
	.to_height = SIDE,
};

static int
draw(struct ds_prep *p, const void *bytes, size_t size, void *sample)
{
	struct ds_place place = { 3, 1, 4 };

	return prep_make(p, bytes, size, &place, true, sample, &err);
}

static int
run(const void *bytes, size_t size, const struct ds_cut *cut, void *sample)
{
	return ds_prep_run(prep, bytes, size, cut, sample, BYTES, &err);
}

/*--- samples -------------------------------------------------------------*/

static void
a_sample_is_drawn_and_made(void **state)
{
	uint8_t at_once[BYTES], in_steps[BYTES];
	uint32_t width = 0, height = 0;
	struct ds_cut cut;

	(void)state;
	assert_int_equal(ds_prep_bytes(prep, &err), BYTES);
	assert_int_equal(ds_prep_size(prep, picture, len, &width, &height,
	    &err), 0);
	assert_int_equal(width, WIDTH);
	assert_int_equal(height, HEIGHT);
	for (uint64_t at = 0; at < 50; at++) {
		struct ds_place place = { 3, 1, at };

		assert_int_equal(prep_make(prep, picture, len, &place, true,
		    at_once, &err), PREP_WHOLE);
		assert_int_equal(ds_prep_draw(prep, width, height, &place, &cut,
		    &err), 0);
		assert_int_equal(run(picture, len, &cut, in_steps), 0);
		assert_memory_equal(at_once, in_steps, BYTES);
	}
}

/* Each has its own, from then on. */
static void
a_copy_has_the_settings(void **state)
{
	uint8_t of_first[2 * BYTES], of_copy[2 * BYTES];
	struct ds_prep *copy;

	(void)state;
	set(prep, "crop", "none");
	set(prep, "verify", "yes");
	assert_int_equal(prep_copy(&copy, prep, &err), 0);
	assert_memory_equal(prep_settings(copy), prep_settings(prep),
	    sizeof(struct settings));
	set(prep, "type", "fp16");
	assert_int_equal(ds_prep_bytes(prep, &err), 2 * BYTES);
	assert_int_equal(ds_prep_bytes(copy, &err), BYTES);
	set(prep, "type", "uint8");
	assert_int_equal(draw(prep, picture, len, of_first), PREP_WHOLE);
	ds_prep_free(&prep);
	assert_int_equal(draw(copy, picture, len, of_copy), PREP_WHOLE);
	assert_memory_equal(of_first, of_copy, BYTES);
	ds_prep_free(&copy);
	ds_prep_free(&copy);	/* there is none */
}

/* What was made before leaves nothing. */
static void
settings_may_change_between_pictures(void **state)
{
	static const char *const sizes[] = { "7x40", "40x7", "1", "16" };
	uint8_t first[BYTES], last[BYTES], other[BYTES + 100];

	(void)state;
	assert_int_equal(draw(prep, picture, len, first), PREP_WHOLE);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		set(prep, "size", sizes[i]);
		assert_int_equal(draw(prep, picture, len, other), PREP_WHOLE);
		(void)draw(prep, picture, len / 2, other);
	}
	assert_int_equal(draw(prep, picture, len, last), PREP_WHOLE);
	assert_memory_equal(first, last, BYTES);
}

/*--- what is refused -----------------------------------------------------*/

static void
names_and_values_are_checked(void **state)
{
	struct ds_place place = { 0, 0, 0 };
	struct ds_cut cut;
	uint8_t sample[BYTES];

	(void)state;
	assert_int_equal(ds_prep_set(prep, NULL, "3", &err), -EINVAL);
	assert_int_equal(ds_prep_set(prep, "size", NULL, &err), -EINVAL);
	assert_int_equal(ds_prep_set(prep, "sise", "3", &err), -ENOENT);
	assert_int_equal(ds_prep_set(prep, "sise", "3", NULL), -ENOENT);
	assert_int_equal(ds_prep_set(prep, "crop", "3", NULL), -EINVAL);
	assert_int_equal(ds_prep_set(prep, "resize", "0", NULL), -ERANGE);
	/* Each is right by itself. */
	set(prep, "crop", "center");
	set(prep, "resize", "15");
	assert_int_equal(ds_prep_bytes(prep, &err), -EINVAL);
	assert_non_null(strstr(err.text, "resize=15"));
	assert_int_equal(ds_prep_bytes(prep, NULL), -EINVAL);
	assert_int_equal(ds_prep_draw(prep, 9, 9, &place, &cut, NULL), -EINVAL);
	assert_int_equal(draw(prep, picture, len, sample), -EINVAL);
	set(prep, "resize", "16");
	assert_int_equal(draw(prep, picture, len, sample), PREP_WHOLE);
}

static void
expect_outside(struct ds_cut cut)
{
	uint8_t sample[BYTES];

	err.code = 0;
	assert_int_equal(run(picture, len, &cut, sample), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
}

static void
a_cut_is_within_its_picture(void **state)
{
	struct ds_cut cut = upper;
	uint8_t sample[BYTES];

	(void)state;
	cut.y = HEIGHT - cut.height;
	assert_int_equal(run(picture, len, &cut, sample), 0);
	cut.y++;
	expect_outside(cut);
	cut.y = UINT32_MAX;
	expect_outside(cut);
	cut = upper;
	cut.x = 1;
	expect_outside(cut);
	cut = upper;
	cut.width = 0;
	expect_outside(cut);
	cut = upper;
	cut.at_y = 1;
	expect_outside(cut);
	assert_int_equal(run(picture, len, &upper, sample), 0);
}

static void
a_sample_needs_its_room(void **state)
{
	uint8_t sample[BYTES + 1];

	(void)state;
	sample[0] = sample[BYTES] = 77;
	assert_int_equal(ds_prep_run(prep, picture, len, &upper, sample,
	    BYTES - 1, &err), -ENOBUFS);
	assert_non_null(strstr(err.text, "takes 768 bytes"));
	assert_int_equal(sample[0], 77);
	assert_int_equal(run(picture, len, &upper, sample), 0);
	assert_int_equal(sample[BYTES], 77);
}

static void
who_is_to_blame(void **state)
{
	(void)state;
	assert_true(prep_is_bad(-ENODATA));
	assert_true(prep_is_bad(-EBADMSG));
	assert_true(prep_is_bad(-ENOTSUP));
	assert_true(prep_is_bad(-EFBIG));
	assert_true(prep_is_bad(-ETIME));
	assert_false(prep_is_bad(-ENOMEM));
	assert_false(prep_is_bad(-EINVAL));
	assert_false(prep_is_bad(0));
}

/* A thousand lines of 3 KiB for one row of the sample. */
static void
lines_are_within_max_memory(void **state)
{
	uint8_t sample[3 * 1024];
	size_t tall_len;
	uint8_t *tall = make("4:4:4", 8, 1000, &tall_len);

	(void)state;
	set(prep, "crop", "none");
	set(prep, "size", "1024x1");
	set(prep, "max-memory", "2M");
	assert_int_equal(draw(prep, tall, tall_len, sample), -EFBIG);
	assert_non_null(strstr(err.text, "max-memory"));
	assert_int_equal(draw(prep, picture, len, sample), PREP_WHOLE);
	set(prep, "max-memory", "4M");
	assert_int_equal(draw(prep, tall, tall_len, sample), PREP_WHOLE);
	free(tall);
}

/*--- damage below what is needed -----------------------------------------*/

/* The second half of the coded pixels, up to the marker of the end. */
static void
spoil(uint8_t *bytes, size_t size)
{
	size_t at = 2;

	while (bytes[at + 1] != 0xda)
		at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
	assert_int_equal(bytes[size - 1], 0xd9);
	at += (size - at) / 2;
	memset(bytes + at, 0, size - 2 - at);
}

/* The upper part of it is sound, and only that is looked at unless asked. */
static void
check_damage(const uint8_t *bytes, size_t size, const uint8_t *sound)
{
	uint8_t sample[BYTES];

	set(prep, "verify", "no");
	assert_int_equal(run(bytes, size, &upper, sample), 0);
	assert_memory_equal(sample, sound, BYTES);
	set(prep, "verify", "yes");
	assert_int_equal(run(bytes, size, &upper, sample), -EBADMSG);
	assert_true(prep_is_bad(err.code));
	set(prep, "truncated", "yes");
	assert_int_equal(run(bytes, size, &upper, sample), 0);
	assert_memory_equal(sample, sound, BYTES);
	set(prep, "truncated", "no");
}

static void
verify_reads_to_the_end(void **state)
{
	static const char *const kinds[] = { "4:2:0", "4:4:4", "grey", "CMYK" };
	uint8_t sound[BYTES], verified[BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t size;
		uint8_t *bytes = make(kinds[i], WIDTH, HEIGHT, &size);

		set(prep, "verify", "no");
		assert_int_equal(run(bytes, size, &upper, sound), 0);
		set(prep, "verify", "yes");
		assert_int_equal(run(bytes, size, &upper, verified), 0);
		assert_memory_equal(sound, verified, BYTES);
		spoil(bytes, size);
		check_damage(bytes, size, sound);
		free(bytes);
	}
}

/* Wherever its part is; who knows it to be sound does not look again. */
static void
the_first_look_is_at_all_of_it(void **state)
{
	uint8_t sample[BYTES];
	unsigned passed = 0;
	int rc;

	(void)state;
	spoil(picture, len);
	set(prep, "scale", "0.08,0.1");
	for (uint64_t at = 0; at < 50; at++) {
		struct ds_place place = { 3, 1, at };

		assert_int_equal(prep_make(prep, picture, len, &place, true,
		    sample, &err), -EBADMSG);
		rc = prep_make(prep, picture, len, &place, false, sample, &err);
		passed += rc == PREP_WHOLE;
	}
	assert_in_range(passed, 1, 50);
}

/* So that who counts bad samples counts those. */
static void
accepted_damage_is_told(void **state)
{
	uint8_t sample[BYTES];

	(void)state;
	spoil(picture, len);
	set(prep, "truncated", "yes");
	set(prep, "crop", "none");
	assert_int_equal(draw(prep, picture, len, sample), PREP_DAMAGED);
	set(prep, "crop", "center");
	set(prep, "resize", "120");
	set(prep, "size", "1");
	set(prep, "verify", "yes");
	assert_int_equal(draw(prep, picture, len, sample), PREP_DAMAGED);
}

UNIT_MAIN(
    PREP_UNIT(a_sample_is_drawn_and_made),
    PREP_UNIT(a_copy_has_the_settings),
    PREP_UNIT(settings_may_change_between_pictures),
    PREP_UNIT(names_and_values_are_checked),
    PREP_UNIT(a_cut_is_within_its_picture),
    PREP_UNIT(a_sample_needs_its_room),
    PREP_UNIT(who_is_to_blame),
    PREP_UNIT(lines_are_within_max_memory),
    PREP_UNIT(verify_reads_to_the_end),
    PREP_UNIT(the_first_look_is_at_all_of_it),
    PREP_UNIT(accepted_damage_is_told))
