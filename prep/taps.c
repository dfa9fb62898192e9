/* SPDX-License-Identifier: Apache-2.0
 *
 * taps.c: which source pixels make an output pixel, along one axis, and with
 * which weights.  Runs in clients, in any of their threads.
 *
 * The arithmetic is that of Pillow's Resample.c, each operation in its order.
 */

#include <config.h>

#include "prep/taps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/must.h"
#include "prep/steps.h"

#define ONE	(1 << TAPS_BITS)
#define ALIGN	32u
#define NARROW_MOST	16384u	/* taps, whose roundings cannot add up to more
				 * than 16 bits have room for */

struct scale {
	double	from, step, support, inverse;
};

static struct scale
find_scale(const struct taps_axis *a)
{
	double step = (a->to - a->from) / a->out;
	double wide = step < 1.0 ? 1.0 : step;

	return (struct scale){ .from = a->from, .step = step, .support = wide,
	    .inverse = 1.0 / wide };
}

/*--- memory --------------------------------------------------------------*/

/* A bound for all counts: two ends, each rounded. */
static uint32_t
find_stride(const struct scale *s)
{
	uint32_t n = (uint32_t)floor(2 * s->support) + 2;
	uint32_t unit = s->support <= TAPS_FEW ? 4 : 16;

	return (n + unit - 1) / unit * unit;
}

/* The next part of the memory, of which *at bytes are taken. */
static void *
carve(const struct taps *t, size_t *at, size_t bytes)
{
	size_t from = *at;

	*at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
	return t->memory == NULL ? NULL : (uint8_t *)t->memory + from;
}

/* How many bytes all parts need; sets them, if there is memory. */
static size_t
place_parts(struct taps *t, const struct taps_axis *a)
{
	size_t all = (size_t)a->nr * t->stride, at = 0;

	t->first = carve(t, &at, a->nr * sizeof *t->first);
	t->count = carve(t, &at, a->nr * sizeof *t->count);
	t->weight = carve(t, &at, all * sizeof *t->weight);
	t->triangle = carve(t, &at, t->stride * sizeof(double));
	t->planes = NULL;
	if (!a->stepped)
		return at;
	t->pitch = (a->size + 2 * ALIGN - 1) / ALIGN * ALIGN;
	t->planes = carve(t, &at, 3 * t->pitch);
	t->low = carve(t, &at, all * sizeof *t->low);
	t->high = carve(t, &at, all * sizeof *t->high);
	t->windows = carve(t, &at, steps_nr(a->nr, 1) * STEP_FOURS *
	    sizeof *t->windows);
	t->steps = carve(t, &at, steps_nr(a->nr, t->stride / 2) *
	    sizeof *t->steps);
	return at;
}

static int
find_memory(struct taps *t, const struct taps_axis *a, struct ds_err *err)
{
	size_t bytes = place_parts(t, a);

	if (t->memory != NULL && bytes <= t->room)
		return 0;
	free(t->memory);
	t->memory = NULL;	/* a fork may come between */
	t->room = 0;
	t->memory = aligned_alloc(ALIGN, bytes);
	if (t->memory == NULL)
		return err_fail(err, -ENOMEM, "prep: out of memory for the "
		    "weights of %u pixels", a->nr);
	t->room = bytes;
	place_parts(t, a);
	return 0;
}

void
taps_fini(struct taps *t)
{
	free(t->memory);
	*t = (struct taps){ 0 };
}

/*--- weights -------------------------------------------------------------*/

/* Two taps at once: every processor that we know of can, but gcc takes vectors
 * apart for much of this unless it is told how. */
typedef double pair __attribute__((vector_size(16)));

#if defined(__SSE2__)
/* 1 - |x|, but 0 where that is less, and where `at` is not below `end`. */
static inline pair
find_triangle(pair x, pair at, double end)
{
	x = _mm_sub_pd(_mm_set1_pd(1.0), _mm_andnot_pd(_mm_set1_pd(-0.0), x));
	return _mm_and_pd(_mm_max_pd(x, _mm_setzero_pd()),
	    _mm_cmplt_pd(at, _mm_set1_pd(end)));
}

/* Without what is behind the point; is one of them ONE? */
static inline int
put_weights(int32_t *weight, pair x)
{
	_mm_storel_epi64((__m128i *)weight, _mm_cvttpd_epi32(x));
	return _mm_movemask_pd(_mm_cmpge_pd(x, _mm_set1_pd(ONE)));
}
#else
static inline pair
find_triangle(pair x, pair at, double end)
{
	for (int i = 0; i < 2; i++) {
		x[i] = 1.0 - fabs(x[i]);
		x[i] = x[i] > 0 && at[i] < end ? x[i] : 0;
	}
	return x;
}

static inline int
put_weights(int32_t *weight, pair x)
{
	weight[0] = (int32_t)x[0];
	weight[1] = (int32_t)x[1];
	return weight[0] >= ONE || weight[1] >= ONE;
}
#endif

static inline pair
find_pair(const struct scale *s, double center, pair at, double end)
{
	return find_triangle((at - center + 0.5) * s->inverse, at, end);
}

static inline int
round_pair(int32_t *weight, pair w, double sum)
{
	return put_weights(weight, 0.5 + w / sum * ONE);
}

/* The weights of an output of up to four pixels, as most are; is one of them
 * ONE?  Sums are made in the order of pixels. */
static inline int
weigh_few(int32_t *weight, const struct scale *s, double center, double first,
    double end)
{
	pair at = { first, first + 1 };
	pair a = find_pair(s, center, at, end);
	pair b = find_pair(s, center, at + 2, end);
	double sum = a[0] + a[1] + b[0] + b[1];

	return round_pair(weight, a, sum) | round_pair(weight + 2, b, sum);
}

static int
weigh_many(int32_t *weight, pair *triangle, const struct scale *s,
    double center, double first, double end)
{
	double sum = 0;
	int any = 0;
	pair *w = triangle;

	for (pair at = { first, first + 1 }; at[0] < end; at += 2, w++) {
		*w = find_pair(s, center, at, end);
		sum += (*w)[0];
		sum += (*w)[1];
	}
	for (; triangle < w; triangle++, weight += 2)
		any |= round_pair(weight, *triangle, sum);
	return any;
}

#define FEW	4u

/* Weights, with zeros behind them; is each below 1? */
static inline bool
weigh(struct taps *t, int32_t *weight, const struct scale *s, double center,
    uint32_t first, uint32_t end)
{
	uint32_t count = end - first, n = count <= FEW ? FEW : count + count % 2;
	double from = (int32_t)first, to = (int32_t)end;
	int any;

	if (count <= FEW)
		any = weigh_few(weight, s, center, from, to);
	else
		any = weigh_many(weight, t->triangle, s, center, from, to);
	for (; n < t->stride; n += 2)
		weight[n] = weight[n + 1] = 0;
	return any == 0;
}

/* Weights of 0 at the beginning go away, but the last of `count`. */
static uint32_t
drop_zeros(int32_t *weight, uint32_t stride, uint32_t count)
{
	uint32_t n = 0, rest;

	while (n + 1 < count && weight[n] == 0)
		n++;
	rest = stride - n;
	memmove(weight, weight + n, rest * sizeof *weight);
	memset(weight + rest, 0, n * sizeof *weight);
	return n;
}

/* Output number `out` of the axis as number i of ours; t->end is that of the
 * one before, and becomes its own. */
static inline void
make_output(struct taps *t, uint32_t i, uint32_t size, const struct scale *s,
    uint32_t out)
{
	double center = s->from + (out + 0.5) * s->step;
	int32_t min = (int32_t)(center - s->support + 0.5);
	int32_t max = (int32_t)(center + s->support + 0.5);
	int32_t *weight = t->weight + (size_t)i * t->stride;
	uint32_t first = min < 0 ? 0 : (uint32_t)min, count;
	bool is_narrow;

	if ((uint32_t)max > size)
		max = (int32_t)size;
	count = (uint32_t)max - first;
	is_narrow = weigh(t, weight, s, center, first, (uint32_t)max);
	/* Ends must not fall (1), not even by a weight that rounds to 0. */
	while (count > 1 && weight[count - 1] == 0 && first + count > t->end)
		count--;
	if (weight[0] == 0) {
		uint32_t n = drop_zeros(weight, t->stride, count);

		first += n;
		count -= n;
	}
	t->first[i] = first;
	t->count[i] = count;
	t->end = first + count;
	if (count > t->most)
		t->most = count;
	if (first < t->begin)
		t->begin = first;
	if (count > 1 && !is_narrow)
		t->is_narrow = false;
}

/* For sources that are so much larger that steps cannot be made. */
static void
split_weights(struct taps *t)
{
	size_t all = (size_t)t->nr * t->stride;

	must(t->stride % 16 == 0);
	for (size_t i = 0; i < all; i++) {
		t->low[i] = (int16_t)taps_low(t->weight[i]);
		t->high[i] = (int8_t)taps_high(t->weight[i]);
	}
}

static void
check_axis(const struct taps_axis *a)
{
	must(a->from >= 0 && a->from < a->to && a->to <= a->size);
	must(a->size <= 1u << 28 && a->out <= 1u << 30);
	must(a->nr > 0 && a->first < a->out && a->nr <= a->out - a->first);
}

int
taps_make(struct taps *t, const struct taps_axis *axis, struct ds_err *err)
{
	struct scale s = find_scale(axis);
	int rc;

	check_axis(axis);
	t->nr = axis->nr;
	t->stride = find_stride(&s);
	rc = find_memory(t, axis, err);
	if (rc < 0)
		return rc;
	t->is_copy = axis->from == 0 && axis->to == axis->size &&
	    axis->size == axis->out;
	t->is_narrow = true;
	t->most = t->pairs = 0;
	t->begin = axis->size;
	t->end = 0;
	for (uint32_t i = 0; i < t->nr; i++)
		make_output(t, axis->reversed ? t->nr - 1 - i : i, axis->size,
		    &s, axis->first + i);
	if (t->most > NARROW_MOST)
		t->is_narrow = false;
	if (axis->stepped && t->is_narrow && !steps_make(t))
		split_weights(t);
	return 0;
}
