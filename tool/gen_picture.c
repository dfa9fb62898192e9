/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_picture.c: the pictures of `destall gen`.  Runs in the command only, in
 * any thread.
 *
 * Leaves on a canvas, then what a camera adds: a lens that spreads each pixel
 * over its neighbours, and the noise of a sensor.
 */

#include <config.h>

#include "tool/gen_picture.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "tool/gen_leaves.h"

#define PICTURE_MAGIC	0x47504943u	/* "GPIC" */
#define MARGIN		16u		/* of a row that is being spread */

struct gen_workspace {
	struct gen_texture texture;
	struct gen_canvas canvas;
	int16_t		*row;		/* a row and MARGIN on both sides */
	size_t		max_pixels;
};

struct camera {
	int16_t	share;		/* of a pixel that falls on a neighbour, 1/16 */
	int16_t	grain;		/* the noise of the sensor */
};

/* Eight pixels at a time.  The compiler knows how on every machine. */
#define LANES	8u
typedef int16_t lanes __attribute__((vector_size(16)));
typedef uint8_t byte_lanes __attribute__((vector_size(8)));

static unsigned
round_up(unsigned n)
{
	return (n + GEN_BLOCK - 1) / GEN_BLOCK * GEN_BLOCK;
}

int
gen_picture_new(struct gen_picture **out, unsigned max_width,
    unsigned max_height, struct ds_err *err)
{
	size_t width = round_up(max_width), height = round_up(max_height);
	size_t pixels = width * height;
	struct gen_workspace *w = calloc(1, sizeof *w);
	struct gen_picture *p = calloc(1, sizeof *p);

	if (w == NULL || p == NULL) {
		free(w);
		free(p);
		goto no_memory;
	}
	p->magic = PICTURE_MAGIC;
	p->work = w;
	p->y = malloc(pixels + pixels / 2);
	w->canvas.y = malloc((pixels + pixels / 2) * sizeof *w->canvas.y);
	w->canvas.covered = malloc(GEN_CANVAS_WORDS(width) * height *
	    sizeof *w->canvas.covered);
	w->row = malloc((width + 2 * MARGIN) * sizeof *w->row);
	w->max_pixels = pixels;
	if (p->y == NULL || w->canvas.y == NULL || w->canvas.covered == NULL ||
	    w->row == NULL) {
		gen_picture_free(&p);
		goto no_memory;
	}
	*out = p;
	return 0;
no_memory:
	return err_fail(err, -ENOMEM, "no memory for a picture of %u x %u: "
	    "fewer --threads or a smaller --size need less", max_width,
	    max_height);
}

void
gen_picture_free(struct gen_picture **pp)
{
	struct gen_picture *p = *pp;

	*pp = NULL;
	if (p == NULL)
		return;
	must_be(p, PICTURE_MAGIC);
	free(p->work->row);
	free(p->work->canvas.covered);
	free(p->work->canvas.y);
	free(p->work);
	free(p->y);
	p->magic = 0;
	free(p);
}

static void
set_size(struct gen_picture *p, unsigned width, unsigned height)
{
	struct gen_canvas *c = &p->work->canvas;
	size_t pixels;

	p->width = width;
	p->height = height;
	p->stride = round_up(width);
	p->rows = round_up(height);
	pixels = (size_t)p->stride * p->rows;
	must(pixels > 0 && pixels <= p->work->max_pixels);
	p->cb = p->y + pixels;
	p->cr = p->cb + pixels / 4;
	c->width = p->stride;
	c->height = p->rows;
	c->words = GEN_CANVAS_WORDS(p->stride);
	c->cb = c->y + pixels;
	c->cr = c->cb + pixels / 4;
}

static lanes
load(const int16_t *from)
{
	lanes v;

	memcpy(&v, from, sizeof v);
	return v;
}

/* A pixel gives a share to each of two neighbours and gets one of theirs. */
static lanes
spread(lanes before, lanes here, lanes after, int16_t share)
{
	return here + (((before + after - 2 * here) * share) >> 4);
}

static void
spread_down(int16_t *out, const int16_t *above, const int16_t *here,
    const int16_t *below, unsigned width, int16_t share)
{
	for (unsigned x = 0; x < width; x += LANES) {
		lanes v = spread(load(above + x), load(here + x),
		    load(below + x), share);

		memcpy(out + x, &v, sizeof v);
	}
	out[-1] = out[0];
	out[width] = out[width - 1];
}

/* Two halves of a random byte: their sum has a triangular distribution. */
static lanes
draw_noise(struct gen_rng *rng)
{
	uint64_t word = htole64(gen_rng_next(rng));
	byte_lanes bytes;
	lanes v;

	memcpy(&bytes, &word, sizeof bytes);
	v = __builtin_convertvector(bytes, lanes);
	return (v & 15) + (v >> 4) - 15;
}

static void
develop(uint8_t *out, const int16_t *row, unsigned width,
    const struct camera *c, struct gen_rng *rng)
{
	for (unsigned x = 0; x < width; x += LANES) {
		const int16_t *here = row + x;
		lanes v = spread(load(here - 1), load(here), load(here + 1),
		    c->share);
		byte_lanes bytes;

		v += (draw_noise(rng) * c->grain) >> 4;
		v = (v + GEN_LEVEL / 2) >> GEN_LEVEL_BITS;
		v &= v > 0;
		v = (v | (v > 255)) & 255;
		bytes = __builtin_convertvector(v, byte_lanes);
		memcpy(out + x, &bytes, sizeof bytes);
	}
}

static void
finish_plane(struct gen_workspace *w, uint8_t *out, const int16_t *in,
    unsigned width, unsigned height, const struct camera *c,
    struct gen_rng *rng)
{
	int16_t *row = w->row + MARGIN;

	for (unsigned y = 0; y < height; y++) {
		const int16_t *here = in + (size_t)y * width;
		const int16_t *above = y > 0 ? here - width : here;
		const int16_t *below = y + 1 < height ? here + width : here;

		spread_down(row, above, here, below, width, c->share);
		develop(out + (size_t)y * width, row, width, c, rng);
	}
}

void
gen_picture_make(struct gen_picture *p, uint64_t seed, uint64_t index,
    unsigned width, unsigned height)
{
	struct gen_workspace *w;
	struct gen_rng rng;
	struct camera camera;

	must_be(p, PICTURE_MAGIC);
	w = p->work;
	set_size(p, width, height);
	gen_rng_init(&rng, seed, index, GEN_STREAM_TEXTURE);
	gen_texture_make(&w->texture, &rng);
	gen_rng_init(&rng, seed, index, GEN_STREAM_LEAVES);
	gen_leaves_paint(&w->canvas, &w->texture, &rng);
	gen_rng_init(&rng, seed, index, GEN_STREAM_NOISE);
	camera.share = (int16_t)gen_rng_range(&rng, 1, 3);
	camera.grain = (int16_t)gen_rng_range(&rng, 6, 46);
	finish_plane(w, p->y, w->canvas.y, p->stride, p->rows, &camera, &rng);
	camera.grain /= 2;
	finish_plane(w, p->cb, w->canvas.cb, p->stride / 2, p->rows / 2,
	    &camera, &rng);
	finish_plane(w, p->cr, w->canvas.cr, p->stride / 2, p->rows / 2,
	    &camera, &rng);
}
