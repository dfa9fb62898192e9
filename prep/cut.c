/* SPDX-License-Identifier: Apache-2.0
 *
 * cut.c: which part of a picture becomes a sample.
 * Runs in clients, in any of their threads.
 *
 * Written after torchvision 0.14's transforms.py and functional.py: the same
 * laws and the same roundings, with random numbers of our own.
 */

#include <config.h>

#include "prep/cut.h"

#include <errno.h>
#include <math.h>

#include "base/rng.h"

#define TRIES	10	/* of RandomResizedCrop */

/* Python's round(): halves to the even. */
static int64_t
round_even(double x)
{
	return (int64_t)nearbyint(x);
}

static double
draw_between(struct rng *r, double low, double high)
{
	return low + (high - low) * rng_unit(r);
}

/*--- random --------------------------------------------------------------*/

/* One try: false if the part does not fit into the picture. */
static bool
try_part(const struct settings *s, struct rng *r, uint32_t width,
    uint32_t height, struct ds_cut *cut)
{
	double area = (double)width * height *
	    draw_between(r, s->scale[0], s->scale[1]);
	double ratio = exp(draw_between(r, log(s->ratio[0]),
	    log(s->ratio[1])));
	int64_t w = round_even(sqrt(area * ratio));
	int64_t h = round_even(sqrt(area / ratio));

	if (w <= 0 || w > width || h <= 0 || h > height)
		return false;
	cut->width = (uint32_t)w;
	cut->height = (uint32_t)h;
	cut->y = (uint32_t)rng_below(r, height - cut->height + 1);
	cut->x = (uint32_t)rng_below(r, width - cut->width + 1);
	return true;
}

/* When no try fits: as much of the middle as the ratios allow. */
static void
take_middle(const struct settings *s, uint32_t width, uint32_t height,
    struct ds_cut *cut)
{
	double ratio = (double)width / height;
	int64_t w = width, h = height;

	if (ratio < s->ratio[0])
		h = round_even(width / s->ratio[0]);
	else if (ratio > s->ratio[1])
		w = round_even(height * s->ratio[1]);
	/* A picture of one pixel's height can leave no width. */
	cut->width = w > 0 ? (uint32_t)w : 1;
	cut->height = h > 0 ? (uint32_t)h : 1;
	cut->x = (width - cut->width) / 2;
	cut->y = (height - cut->height) / 2;
}

static void
draw_random(const struct settings *s, uint32_t width, uint32_t height,
    const struct ds_place *place, struct ds_cut *cut)
{
	struct rng r;
	int i;

	rng_init(&r, RNG_SAMPLE, place->seed, place->epoch, place->position);
	for (i = 0; i < TRIES; i++) {
		if (try_part(s, &r, width, height, cut))
			break;
	}
	if (i == TRIES)
		take_middle(s, width, height, cut);
	cut->to_width = s->width;
	cut->to_height = s->height;
	cut->flip = rng_unit(&r) < s->flip;
}

/*--- center --------------------------------------------------------------*/

#define RESIZED_MOST	(UINT32_C(1) << 30)

/* 0: too long. */
static uint32_t
scale_long(uint64_t resize, uint32_t longer, uint32_t shorter)
{
	double scaled = (double)(resize * longer) / shorter;

	return scaled <= RESIZED_MOST ? (uint32_t)scaled : 0;
}

static int
take_center(const struct settings *s, uint32_t width, uint32_t height,
    struct ds_cut *cut, struct ds_err *err)
{
	*cut = (struct ds_cut){ .width = width, .height = height };
	if (width <= height) {
		cut->to_width = (uint32_t)s->resize;
		cut->to_height = scale_long(s->resize, height, width);
	} else {
		cut->to_width = scale_long(s->resize, width, height);
		cut->to_height = (uint32_t)s->resize;
	}
	if (cut->to_width == 0 || cut->to_height == 0)
		return err_fail(err, -EFBIG, "its sides, %u and %u, are too "
		    "unequal to be resized", width, height);
	cut->at_x = (uint32_t)round_even((cut->to_width - s->width) / 2.0);
	cut->at_y = (uint32_t)round_even((cut->to_height - s->height) / 2.0);
	return 0;
}

/*--- all -----------------------------------------------------------------*/

int
cut_draw(const struct settings *s, uint32_t width, uint32_t height,
    const struct ds_place *place, struct ds_cut *cut, struct ds_err *err)
{
	if (width == 0 || height == 0 || width > PICTURE_SIDE_MOST ||
	    height > PICTURE_SIDE_MOST)
		return err_fail(err, -EINVAL, "there is no picture of %u by %u "
		    "pixels", width, height);
	*cut = (struct ds_cut){ .width = width, .height = height,
	    .to_width = s->width, .to_height = s->height };
	if (s->crop == CROP_CENTER)
		return take_center(s, width, height, cut, err);
	if (s->crop == CROP_RANDOM)
		draw_random(s, width, height, place, cut);
	return 0;
}

/* Does a part of that length lie within the whole? */
static bool
is_within(uint64_t at, uint64_t length, uint64_t whole)
{
	return length > 0 && at + length <= whole;
}

int
cut_check(const struct settings *s, uint32_t width, uint32_t height,
    const struct ds_cut *cut, struct ds_err *err)
{
	if (!is_within(cut->x, cut->width, width) ||
	    !is_within(cut->y, cut->height, height))
		return err_fail(err, -EINVAL, "a part of %ux%u at %u,%u is not "
		    "within a picture of %ux%u", cut->width, cut->height,
		    cut->x, cut->y, width, height);
	if (!is_within(cut->at_x, s->width, cut->to_width) ||
	    !is_within(cut->at_y, s->height, cut->to_height) ||
	    cut->to_width > RESIZED_MOST || cut->to_height > RESIZED_MOST)
		return err_fail(err, -EINVAL, "a sample of %ux%u at %u,%u is "
		    "not within what is resized to %ux%u", s->width, s->height,
		    cut->at_x, cut->at_y, cut->to_width, cut->to_height);
	return 0;
}
