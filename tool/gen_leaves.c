/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_leaves.c: occluding shapes painted on a canvas.  Runs in the command
 * only, in any thread.
 *
 * The radius r of a leaf is drawn with density r^-3 between two limits, which
 * makes the picture look the same at every scale between them.  A leaf is an
 * ellipse or a parallelogram of one of a few materials, lit from one side and
 * with a piece of texture of its own.  Whole numbers only.
 */

#include <config.h>

#include "tool/gen_leaves.h"

#include <stdbool.h>
#include <string.h>

#define NR_MATERIALS	8u
#define SUB		16		/* radii are in 1/16 pixel */
#define MAX_LEAVES(area) ((area) / 24 + 64)
#define LEFT_BARE(area)	((area) / 128)	/* the background shows there */

struct material {
	int y, cb, cr;		/* colour, in levels */
	int roughness;		/* how much of the texture shows */
};

struct scene {
	struct material	materials[NR_MATERIALS];
	int	slope_x, slope_y;	/* of the light, levels over the canvas */
	int	min_radius;		/* 1/16 pixel */
};

struct leaf {
	int	x, y;			/* centre */
	int	radius;			/* half its height, 1/16 pixel */
	int	aspect;			/* width to height, 1/256 */
	int	shear;			/* sideways per row, 1/256 */
	bool	is_round;
	int	y_level, cb_level, cr_level;	/* in 1/GEN_LEVEL */
	int	slope_x, slope_y;	/* 1/256 of a step per pixel */
	int	roughness;
	unsigned texture_x, texture_y;
};

struct brush {
	struct gen_canvas *canvas;
	const struct gen_texture *texture;
	const struct leaf *leaf;
	uint64_t	bare;		/* pixels that nothing covers yet */
};

static uint64_t
root_of(uint64_t n)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit != 0; bit >>= 1) {
		if ((root + bit) * (root + bit) <= n)
			root += bit;
	}
	return root;
}

/*--- what is painted -----------------------------------------------------*/

static void
choose_scene(struct scene *s, struct gen_rng *rng)
{
	int contrast = gen_rng_range(rng, 60, 110);
	int colour = gen_rng_range(rng, 8, 44);
	int roughness = gen_rng_range(rng, 60, 240);

	for (unsigned i = 0; i < NR_MATERIALS; i++) {
		struct material *m = &s->materials[i];
		int rough = gen_rng_range(rng, 5, 17);

		m->y = 118 + gen_rng_range(rng, -contrast, contrast);
		m->cb = gen_rng_range(rng, -colour, colour);
		/* Skies are blue and earth is not: the two are opposed. */
		m->cr = gen_rng_range(rng, -colour, colour) / 2 - m->cb / 2;
		m->roughness = rough * rough * roughness / 256;
	}
	s->slope_x = gen_rng_range(rng, -30, 30);
	s->slope_y = gen_rng_range(rng, -50, 20);
	s->min_radius = gen_rng_range(rng, 3 * SUB, 9 * SUB);
}

/* Density r^-3 from low to high: r^2 = low^2 / u with u uniform. */
static int
choose_radius(int low, int high, struct gen_rng *rng)
{
	uint64_t low2 = ((uint64_t)low * (uint64_t)low) << 32;
	uint64_t least = low2 / ((uint64_t)high * (uint64_t)high);
	uint64_t most = UINT64_C(1) << 32;
	uint64_t u = least + (((gen_rng_next(rng) >> 32) * (most - least)) >> 32);

	return (int)root_of(low2 / (u > 0 ? u : 1));
}

static void
colour_leaf(struct leaf *l, const struct scene *s, const struct gen_canvas *c,
    struct gen_rng *rng)
{
	const struct material *m =
	    &s->materials[gen_rng_range(rng, 0, NR_MATERIALS - 1)];
	int light = s->slope_x * l->x / (int)c->width +
	    s->slope_y * l->y / (int)c->height;
	int pixels = l->radius / SUB + 1;
	int y = m->y + light + gen_rng_range(rng, -24, 24);

	l->y_level = GEN_LEVEL * (y < 4 ? 4 : y > 250 ? 250 : y);
	l->cb_level = GEN_LEVEL * (128 + m->cb + gen_rng_range(rng, -5, 5));
	l->cr_level = GEN_LEVEL * (128 + m->cr + gen_rng_range(rng, -5, 5));
	l->slope_x = gen_rng_range(rng, -24, 24) * GEN_LEVEL * 256 / pixels / 2;
	l->slope_y = gen_rng_range(rng, -24, 24) * GEN_LEVEL * 256 / pixels / 2;
	l->roughness = m->roughness;
	l->texture_x = (unsigned)gen_rng_range(rng, 0, GEN_TILE - 1);
	l->texture_y = (unsigned)gen_rng_range(rng, 0, GEN_TILE - 1);
}

static int
longer_side(const struct gen_canvas *c)
{
	return (int)(c->width > c->height ? c->width : c->height);
}

static void
choose_leaf(struct leaf *l, const struct scene *s, const struct gen_canvas *c,
    struct gen_rng *rng)
{
	int max_radius = longer_side(c) / 2 * SUB;
	int reach;

	if (max_radius < s->min_radius)
		max_radius = s->min_radius;
	l->radius = choose_radius(s->min_radius, max_radius, rng);
	reach = l->radius / SUB;
	l->x = gen_rng_range(rng, -reach, (int)c->width + reach);
	l->y = gen_rng_range(rng, -reach, (int)c->height + reach);
	l->aspect = gen_rng_range(rng, 128, 512);
	l->shear = gen_rng_range(rng, -200, 200);
	l->is_round = gen_rng_range(rng, 0, 3) > 0;
	colour_leaf(l, s, c, rng);
}

/* Behind everything: a leaf that no canvas is larger than. */
static void
choose_background(struct leaf *l, const struct scene *s,
    const struct gen_canvas *c, struct gen_rng *rng)
{
	choose_leaf(l, s, c, rng);
	l->x = (int)c->width / 2;
	l->y = (int)c->height / 2;
	l->radius = longer_side(c) * SUB;
	l->aspect = 256;
	l->shear = 0;
	l->is_round = false;
	colour_leaf(l, s, c, rng);
}

/*--- painting ------------------------------------------------------------*/

/* Up to 64 pixels of a row that were bare. */
static void
paint_run(const struct brush *b, unsigned y, unsigned x, unsigned len)
{
	const struct leaf *l = b->leaf;
	const int8_t *grain = gen_texture_at(b->texture, x + l->texture_x,
	    y + l->texture_y);
	int16_t *row = b->canvas->y + (size_t)y * b->canvas->width + x;
	int slope = l->slope_x, roughness = l->roughness;
	int level = (l->y_level << 8) + slope * ((int)x - l->x) +
	    l->slope_y * ((int)y - l->y);

	for (unsigned i = 0; i < len; i++) {
		row[i] = (int16_t)((level >> 8) + ((grain[i] * roughness) >> 5));
		level += slope;
	}
	if (y % 2 != 0)
		return;
	for (unsigned i = x % 2; i < len; i += 2) {
		size_t at = (size_t)(y / 2) * (b->canvas->width / 2) +
		    (x + i) / 2;
		int tint = (grain[i] * roughness) >> 8;

		b->canvas->cb[at] = (int16_t)(l->cb_level - tint);
		b->canvas->cr[at] = (int16_t)(l->cr_level + tint);
	}
}

/* The bare pixels from x to end (not included) of a row. */
static void
paint_span(struct brush *b, unsigned y, unsigned x, unsigned end)
{
	uint64_t *covered = b->canvas->covered + (size_t)y * b->canvas->words;

	for (unsigned w = x / 64; w * 64 < end; w++) {
		uint64_t bare = ~covered[w];

		if (w == x / 64)
			bare &= ~UINT64_C(0) << (x % 64);
		if (end - w * 64 < 64)
			bare &= (UINT64_C(1) << (end - w * 64)) - 1;
		covered[w] |= bare;
		while (bare != 0) {
			unsigned from = (unsigned)__builtin_ctzll(bare);
			uint64_t rest = ~(bare >> from);
			unsigned len = rest == 0 ? 64 :
			    (unsigned)__builtin_ctzll(rest);

			if (len > 64 - from)
				len = 64 - from;
			paint_run(b, y, w * 64 + from, len);
			b->bare -= len;
			bare &= len == 64 ? 0 :
			    ~(((UINT64_C(1) << len) - 1) << from);
		}
	}
}

/* Half the width of an ellipse dy rows from its centre, beginning with that
 * of the row before: the largest w with (w/aspect)^2 + dy^2 <= radius^2. */
static int
round_width(const struct leaf *l, int dy, int w)
{
	int64_t aspect2 = (int64_t)l->aspect * l->aspect;
	int64_t room = ((int64_t)l->radius * l->radius -
	    (int64_t)dy * dy * (SUB * SUB)) * aspect2 / (SUB * SUB) / 65536;

	while (w > 0 && (int64_t)w * w > room)
		w--;
	while ((int64_t)(w + 1) * (w + 1) <= room)
		w++;
	return w;
}

static void
paint_leaf(struct brush *b)
{
	const struct leaf *l = b->leaf;
	int reach = l->radius / SUB, width = (int)b->canvas->width;
	int first = l->y - reach < 0 ? 0 : l->y - reach;
	int last = l->y + reach;
	int half = (int)((int64_t)l->radius * l->aspect / (256 * SUB));

	if (last >= (int)b->canvas->height)
		last = (int)b->canvas->height - 1;
	for (int y = first; y <= last; y++) {
		int centre = l->x + ((l->shear * (y - l->y)) >> 8);
		int from, end;

		if (l->is_round)
			half = round_width(l, y - l->y, half);
		from = centre - half < 0 ? 0 : centre - half;
		end = centre + half + 1 > width ? width : centre + half + 1;
		if (from < end)
			paint_span(b, (unsigned)y, (unsigned)from,
			    (unsigned)end);
	}
}

void
gen_leaves_paint(struct gen_canvas *c, const struct gen_texture *t,
    struct gen_rng *rng)
{
	uint64_t area = (uint64_t)c->width * c->height;
	struct leaf leaf = { 0 };
	struct brush b = {
		.canvas = c, .texture = t, .leaf = &leaf, .bare = area,
	};
	struct scene s;

	memset(c->covered, 0, (size_t)c->height * c->words * sizeof *c->covered);
	choose_scene(&s, rng);
	for (uint64_t n = 0; n < MAX_LEAVES(area) && b.bare > LEFT_BARE(area);
	    n++) {
		choose_leaf(&leaf, &s, c, rng);
		paint_leaf(&b);
	}
	choose_background(&leaf, &s, c, rng);
	paint_leaf(&b);
}
