/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.c: how pictures are made into samples, set by names and texts.
 * Runs in clients.
 *
 * The texts of options[] are the defaults: settings_init() reads them as if
 * they had been set, so that what is documented is what holds.
 */

#include <config.h>

#include "prep/settings.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/parse.h"

/*--- lists of numbers ----------------------------------------------------*/

#define NUMBER_MAX	64	/* characters of one */

static int
parse_numbers(const char *text, double *out, unsigned nr, struct ds_err *err)
{
	double value[3];
	char word[NUMBER_MAX];
	unsigned i;
	int rc;

	must(nr <= 3);
	for (i = 0; i < nr; i++) {
		size_t len = strcspn(text, ",");

		if (len >= sizeof word || (text[len] == '\0') != (i + 1 == nr))
			return err_fail(err, -EINVAL, "%u numbers with commas "
			    "between them are needed", nr);
		memcpy(word, text, len);
		word[len] = '\0';
		rc = parse_decimal(word, &value[i], err);
		if (rc < 0)
			return rc;
		text += len + 1;
	}
	memcpy(out, value, nr * sizeof *out);
	return 0;
}

static int
parse_one(const char *text, void *field, struct ds_err *err)
{
	return parse_numbers(text, field, 1, err);
}

static int
parse_pair(const char *text, void *field, struct ds_err *err)
{
	return parse_numbers(text, field, 2, err);
}

static int
parse_triple(const char *text, void *field, struct ds_err *err)
{
	return parse_numbers(text, field, 3, err);
}

static int
parse_side(const char *text, size_t len, uint32_t *out, struct ds_err *err)
{
	char word[NUMBER_MAX];
	uint64_t n;
	int rc;

	(void)snprintf(word, sizeof word, "%.*s", (int)len, text);
	rc = parse_count(word, 1, SAMPLE_SIDE_MAX, &n, err);
	if (rc == 0)
		*out = (uint32_t)n;
	return rc;
}

/* 224, or 320x240; into width and the height behind it. */
static int
parse_sides(const char *text, void *field, struct ds_err *err)
{
	uint32_t side[2];
	size_t len = strcspn(text, "x");
	int rc;

	if (strlen(text) >= NUMBER_MAX)
		return err_fail(err, -EINVAL, "write 224 or 320x240");
	rc = parse_side(text, len, &side[0], err);
	side[1] = side[0];
	if (rc == 0 && text[len] != '\0')
		rc = parse_side(text + len + 1, strlen(text + len + 1),
		    &side[1], err);
	if (rc == 0)
		memcpy(field, side, sizeof side);
	return rc;
}

static_assert(offsetof(struct settings, height) ==
    offsetof(struct settings, width) + sizeof(uint32_t), "one after the other");

/*--- the table -----------------------------------------------------------*/

static const char *const crops[] = { "random", "center", "none", NULL };
static const char *const verifies[] = { "first", "yes", "no", NULL };
static const char *const types[] = { "uint8", "fp16", "bf16", "fp32", NULL };
static const char *const layouts[] = { "nchw", "nhwc", NULL };
const char *const settings_simd[] = { "auto", "plain", "avx2", "neon", NULL };

#define FIELD(member)	offsetof(struct settings, member)
#define LIMIT(member)	offsetof(struct settings, limits.member)

const struct arg_option settings_table[] = {
	{ .name = "crop", .kind = ARG_CHOICE, .offset = FIELD(crop),
	  .value = "random, center or none", .choices = crops },
	{ .name = "size", .kind = ARG_PARSED, .offset = FIELD(width),
	  .value = "N or WxH", .parse = parse_sides },
	{ .name = "resize", .kind = ARG_COUNT, .offset = FIELD(resize),
	  .value = "N", .min = 1, .max = SAMPLE_SIDE_MAX },
	{ .name = "scale", .kind = ARG_PARSED, .offset = FIELD(scale),
	  .value = "LOW,HIGH", .parse = parse_pair },
	{ .name = "ratio", .kind = ARG_PARSED, .offset = FIELD(ratio),
	  .value = "LOW,HIGH", .parse = parse_pair },
	{ .name = "flip", .kind = ARG_PARSED, .offset = FIELD(flip),
	  .value = "SHARE", .parse = parse_one },
	{ .name = "mean", .kind = ARG_PARSED, .offset = FIELD(mean),
	  .value = "R,G,B", .parse = parse_triple },
	{ .name = "std", .kind = ARG_PARSED, .offset = FIELD(std),
	  .value = "R,G,B", .parse = parse_triple },
	{ .name = "type", .kind = ARG_CHOICE, .offset = FIELD(type),
	  .value = "uint8, fp16, bf16 or fp32", .choices = types },
	{ .name = "layout", .kind = ARG_CHOICE, .offset = FIELD(layout),
	  .value = "nchw or nhwc", .choices = layouts },
	{ .name = "fast", .kind = ARG_FLAG, .offset = FIELD(fast) },
	{ .name = "simd", .kind = ARG_CHOICE, .offset = FIELD(simd),
	  .value = "auto, plain, avx2 or neon", .choices = settings_simd },
	{ .name = "truncated", .kind = ARG_FLAG, .offset = LIMIT(truncated) },
	{ .name = "verify", .kind = ARG_CHOICE, .offset = FIELD(verify),
	  .value = "first, yes or no", .choices = verifies },
	{ .name = "max-bytes", .kind = ARG_SIZE, .offset = LIMIT(bytes),
	  .value = "SIZE" },
	{ .name = "max-pixels", .kind = ARG_COUNT, .offset = LIMIT(pixels),
	  .value = "N", .min = 1, .max = UINT64_C(1) << 32 },
	{ .name = "max-scans", .kind = ARG_COUNT, .offset = LIMIT(scans),
	  .value = "N", .min = 1, .max = 1000000 },
	{ .name = "max-time", .kind = ARG_DURATION, .offset = LIMIT(time_ns),
	  .value = "TIME" },
	{ .name = "max-memory", .kind = ARG_SIZE, .offset = LIMIT(memory),
	  .value = "SIZE" },
	{ .name = NULL },
};

static const struct ds_option options[] = {
	{ "crop", "random", "random: RandomResizedCrop and flip; center: Resize "
	  "and CenterCrop; none: the whole picture, resized" },
	{ "size", "224", "of a sample, in pixels; or width and height, 320x240" },
	{ "resize", "256", "center: what the shorter side is resized to" },
	{ "scale", "0.08,1", "random: share of the picture's area, from, to" },
	{ "ratio", "0.75,1.3333333333333333",
	  "random: width by height, from, to" },
	{ "flip", "0.5", "random: share of the samples that are mirrored" },
	{ "mean", "0.485,0.456,0.406",
	  "of red, green and blue, subtracted from values of 0 to 1" },
	{ "std", "0.229,0.224,0.225", "what they are divided by then" },
	{ "type", "fp32", "of a value: uint8, which is not normalised, fp16, "
	  "bf16 or fp32" },
	{ "layout", "nchw", "nchw: planes; nhwc: pixels" },
	{ "fast", "no", "yes: decode large pictures smaller, for other pixels, "
	  "sooner" },
	{ "simd", "auto", "instruction set: auto, plain, avx2 or neon; all give "
	  "the same values" },
	{ "truncated", "no", "yes: accept damaged pictures, as far as they go" },
	{ "verify", "first", "read a picture to its end, for damage below what "
	  "is needed: first, when a loader meets it for the first time, yes or "
	  "no" },
	{ "max-bytes", "256M", "of an encoded picture" },
	{ "max-pixels", "178956970", "of a picture" },
	{ "max-scans", "100", "of a progressive picture" },
	{ "max-time", "2s", "of a processor, for one picture; looked at now and "
	  "then" },
	{ "max-memory", "1G", "for what depends on a picture's size" },
	{ NULL, NULL, NULL },
};

const struct ds_option *
settings_options(void)
{
	return options;
}

void
settings_init(struct settings *s)
{
	*s = (struct settings){ 0 };
	for (const struct ds_option *o = options; o->name != NULL; o++)
		must(args_set(settings_table, s, o->name, o->value, NULL) == 0);
}

/*--- do they go together? ------------------------------------------------*/

static bool
is_range(const double v[2], double most)
{
	return v[0] > 0 && v[0] <= v[1] && v[1] <= most;
}

#define RATIO_MOST	1000.0

int
settings_check(const struct settings *s, struct ds_err *err)
{
	if (s->crop == CROP_CENTER &&
	    (s->resize < s->width || s->resize < s->height))
		return err_fail(err, -EINVAL, "resize=%u is smaller than the "
		    "sample, %ux%u", (unsigned)s->resize, s->width, s->height);
	if (!is_range(s->scale, 1))
		return err_fail(err, -EINVAL, "scale is not a range above 0 "
		    "and up to 1");
	if (!is_range(s->ratio, RATIO_MOST))
		return err_fail(err, -EINVAL, "ratio is not a range above 0 "
		    "and up to %g", RATIO_MOST);
	if (s->flip > 1)
		return err_fail(err, -EINVAL, "flip is a share of at most 1");
	for (int i = 0; i < 3; i++) {
		if ((float)s->std[i] <= 0)
			return err_fail(err, -EINVAL, "std cannot be 0");
	}
	return 0;
}
