/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_cut.c: tests of prep/settings.c and prep/cut.c.  That the cuts follow
 * torchvision's laws is shown by d0601-laws.sh.
 */

#include <config.h>

#include "prep/cut.h"

#include <errno.h>
#include <string.h>

#include "tests/harness/unit.h"

static void
set(struct settings *s, const char *name, const char *value)
{
	struct ds_err err = { 0 };

	if (args_set(settings_table, s, name, value, &err) < 0)
		fail_msg("%s=%s: %s", name, value, err.text);
}

static int
try_set(struct settings *s, const char *name, const char *value,
    struct ds_err *err)
{
	return args_set(settings_table, s, name, value, err);
}

/*--- settings ------------------------------------------------------------*/

/* Every option has a default and a sentence, in the order of the table. */
static void
table_and_texts_agree(void **state)
{
	const struct ds_option *o = settings_options();
	const struct arg_option *row = settings_table;

	(void)state;
	for (; row->name != NULL; row++, o++) {
		assert_string_equal(row->name, o->name);
		assert_non_null(o->value);
		assert_true(strlen(o->help) > 3);
	}
	assert_null(o->name);
}

static void
defaults_are_those_of_training(void **state)
{
	struct settings s;

	(void)state;
	settings_init(&s);
	assert_int_equal(settings_check(&s, NULL), 0);
	assert_int_equal(s.crop, CROP_RANDOM);
	assert_int_equal(s.width, 224);
	assert_int_equal(s.height, 224);
	assert_true(s.scale[0] == 0.08 && s.scale[1] == 1);
	assert_true(s.ratio[0] == 3. / 4 && s.ratio[1] == 4. / 3);
	assert_true(s.mean[0] == 0.485 && s.std[2] == 0.225);
	assert_int_equal(s.limits.pixels, 178956970);
}

static void
sizes_are_width_by_height(void **state)
{
	struct settings s;

	(void)state;
	settings_init(&s);
	set(&s, "size", "320x240");
	assert_int_equal(s.width, 320);
	assert_int_equal(s.height, 240);
	set(&s, "size", "17");
	assert_int_equal(s.width, 17);
	assert_int_equal(s.height, 17);
}

static void
wrong_values_change_nothing(void **state)
{
	static const char *const wrong[][2] = {
		{ "size", "0" }, { "size", "x" }, { "size", "10x" },
		{ "size", "10x0" }, { "size", "99999" }, { "size", "1x2x3" },
		{ "scale", "0.1" }, { "scale", "0.1,0.2,0.3" },
		{ "scale", "a,b" }, { "mean", "1,2" }, { "mean", "1,2,-3" },
		{ "flip", "" }, { "flip", "0.5," }, { "type", "fp64" },
		{ "fast", "1" }, { "max-time", "2" }, { "crop", "" },
		{ "mean", "nan,nan,nan" }, { "std", "1e3,1,1" },
	};
	struct settings s, before;
	struct ds_err err;

	(void)state;
	memset(&before, 0, sizeof before);
	settings_init(&s);
	before = s;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		int rc = try_set(&s, wrong[i][0], wrong[i][1], &err);

		if (rc != -EINVAL && rc != -ERANGE)
			fail_msg("%s=%s gave %d", wrong[i][0], wrong[i][1], rc);
		assert_ptr_equal(strstr(err.text, wrong[i][0]), err.text);
		assert_memory_equal(&s, &before, sizeof s);
	}
	assert_int_equal(try_set(&s, "sise", "1", &err), -ENOENT);
	assert_string_equal(err.text,
	    "there is no option 'sise': did you mean 'size'?");
}

static void
what_does_not_go_together(void **state)
{
	static const char *const wrong[][3] = {
		{ "scale", "0.5,0.1", "scale" }, { "scale", "0,1", "scale" },
		{ "scale", "0.5,1.5", "scale" }, { "ratio", "2,1", "ratio" },
		{ "ratio", "1,5000", "ratio" }, { "flip", "1.5", "flip" },
		{ "std", "1,0,1", "std" }, { "resize", "200", "resize" },
	};
	struct settings s;
	struct ds_err err;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		settings_init(&s);
		set(&s, "crop", "center");
		set(&s, wrong[i][0], wrong[i][1]);
		assert_int_equal(settings_check(&s, &err), -EINVAL);
		assert_non_null(strstr(err.text, wrong[i][2]));
	}
}

/*--- cuts ----------------------------------------------------------------*/

/* Whatever the size, a cut is one that can be made. */
static void
cuts_are_within(void **state)
{
	static const uint32_t sides[] = { 1, 2, 3, 17, 375, 500, 65500 };
	enum { NR = sizeof sides / sizeof sides[0] };
	struct ds_place place = { .seed = 5 };
	struct settings s;
	struct ds_cut cut;

	(void)state;
	settings_init(&s);
	for (unsigned crop = CROP_RANDOM; crop <= CROP_NONE; crop++) {
		s.crop = crop;
		for (unsigned i = 0; i < NR * NR * 20; i++) {
			uint32_t w = sides[i % NR], h = sides[i / NR % NR];

			place.position = i;
			assert_int_equal(cut_draw(&s, w, h, &place, &cut,
			    NULL), 0);
			assert_true(cut.x + cut.width <= w);
			assert_true(cut.y + cut.height <= h);
		}
	}
	s.crop = CROP_CENTER;
	s.resize = SAMPLE_SIDE_MAX;
	assert_int_equal(cut_draw(&s, 1 << 20, 1, &place, &cut, NULL), -EFBIG);
	assert_int_equal(cut_draw(&s, 1, 1 << 20, &place, &cut, NULL), -EFBIG);
	assert_int_equal(cut_draw(&s, 0, 5, &place, &cut, NULL), -EINVAL);
	assert_int_equal(cut_draw(&s, 5, 0, &place, &cut, NULL), -EINVAL);
}

static void
center_is_torchvisions(void **state)
{
	/* width, height, then what torchvision 0.14 makes of them */
	static const uint32_t known[][6] = {
		{ 500, 375, 341, 256, 58, 16 }, { 375, 500, 256, 341, 16, 58 },
		{ 256, 256, 256, 256, 16, 16 }, { 333, 500, 256, 384, 16, 80 },
		{ 1, 1, 256, 256, 16, 16 }, { 257, 256, 257, 256, 16, 16 },
		{ 259, 256, 259, 256, 18, 16 },
	};
	struct ds_place place = { 0 };
	struct settings s;
	struct ds_cut cut;

	(void)state;
	settings_init(&s);
	set(&s, "crop", "center");
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		assert_int_equal(cut_draw(&s, known[i][0], known[i][1],
		    &place, &cut, NULL), 0);
		assert_int_equal(cut.to_width, known[i][2]);
		assert_int_equal(cut.to_height, known[i][3]);
		assert_int_equal(cut.at_x, known[i][4]);
		assert_int_equal(cut.at_y, known[i][5]);
		assert_int_equal(cut.flip, 0);
	}
}

/* Where no part can have the ratio: the widest of the middle that has. */
static void
narrow_pictures_fall_back(void **state)
{
	struct ds_place place = { 0 };
	struct settings s;
	struct ds_cut cut;

	(void)state;
	settings_init(&s);
	set(&s, "scale", "1,1");
	assert_int_equal(cut_draw(&s, 1000, 50, &place, &cut, NULL), 0);
	assert_int_equal(cut.width, 67);
	assert_int_equal(cut.height, 50);
	assert_int_equal(cut.x, 466);
	assert_int_equal(cut.y, 0);
	assert_int_equal(cut_draw(&s, 50, 1000, &place, &cut, NULL), 0);
	assert_int_equal(cut.width, 50);
	assert_int_equal(cut.height, 67);
}

static void
wrong_cuts_are_refused(void **state)
{
	const struct ds_cut good = { 0, 0, 10, 10, 224, 224, 0, 0, 0 };
	struct ds_cut wrong[8];
	struct settings s;

	(void)state;
	settings_init(&s);
	assert_int_equal(cut_check(&s, 10, 10, &good, NULL), 0);
	for (size_t i = 0; i < 8; i++)
		wrong[i] = good;
	wrong[0].x = 1;
	wrong[1].y = UINT32_MAX;
	wrong[2].width = 0;
	wrong[3].height = UINT32_MAX;
	wrong[4].at_x = 1;
	wrong[5].at_y = UINT32_MAX;
	wrong[6].to_width = 223;
	wrong[7].to_height = UINT32_MAX;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(cut_check(&s, 10, 10, &wrong[i], NULL),
		    -EINVAL);
}

UNIT_MAIN(
	UNIT(table_and_texts_agree),
	UNIT(defaults_are_those_of_training),
	UNIT(sizes_are_width_by_height),
	UNIT(wrong_values_change_nothing),
	UNIT(what_does_not_go_together),
	UNIT(cuts_are_within),
	UNIT(center_is_torchvisions),
	UNIT(narrow_pictures_fall_back),
	UNIT(wrong_cuts_are_refused))
