/* SPDX-License-Identifier: Apache-2.0
 *
 * interval.c: from repeated blocks to a figure and its interval.  Runs in the
 * command only.
 *
 * The constants are measured ones: one decode loop varied by 5 to 7 % from half
 * second to half second and by 9 % from run to run, which at equal processor
 * time per sample was 0.7 to 1.0 %; what sleeps varied by 0.2 %.
 */

#include <config.h>

#include "analyzer/interval.h"

#include <math.h>
#include <stdlib.h>

#include "base/median.h"
#include "base/must.h"
#include "base/say.h"

/* Relative, of a time that is slept and of one that is of processors. */
#define DRIFT_SLEEP	0.004	/* half an interval, twice what was measured */
#define DRIFT_CPU	0.015
#define SCATTER_SLEEP	0.003	/* of blocks, a standard deviation */
#define SCATTER_CPU	0.035

/* For so many blocks that constant counts, when there are few. */
#define PRIOR_DF	2u
#define PRIOR_FAR	2.0	/* and not if they scatter so much more */

#define WIDEST		0.9	/* half an interval: a time stays above zero */

/* Blocks that something else disturbed: so many median deviations from the
 * median, and far beyond drift.  Up to a fifth of them is left out; if more are
 * so far, they are no exception. */
#define OUTLIER_BLOCKS	5u
#define OUTLIER_MADS	6.0
#define OUTLIER_DRIFTS	3.0
#define MAD_TO_SIGMA	1.4826

#define INPUTS		16u

/*--- Student's t ---------------------------------------------------------*/

static const double student_975[] = {
	INFINITY,
	12.706205, 4.302653, 3.182446, 2.776445, 2.570582,
	2.446912, 2.364624, 2.306004, 2.262157, 2.228139,
	2.200985, 2.178813, 2.160369, 2.144787, 2.131450,
	2.119905, 2.109816, 2.100922, 2.093024, 2.085963,
};

/* Past the table the expansion around the normal quantile z (Abramowitz and
 * Stegun 26.7.5) is right to five digits. */
double
interval_student(unsigned df)
{
	const double z = 1.959963985, z2 = z * z;
	double n = df;

	if (df < sizeof student_975 / sizeof *student_975)
		return student_975[df];
	return z * (1 + (z2 + 1) / (4 * n) +
	    ((5 * z2 + 16) * z2 + 3) / (96 * n * n) +
	    (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n));
}

/*--- blocks --------------------------------------------------------------*/

struct times {
	double	*s;			/* sorted */
	size_t	nr;
	double	cpu_share;		/* of the mean time, 0 to 1 */
};

static bool
is_time(const struct interval_block *b)
{
	return b->samples > 0 && isfinite(b->time_s) && b->time_s > 0;
}

/* Not known of one block: as if all were of processors. */
static double
cpu_share_of(const struct interval_block *b)
{
	if (!(b->cpu_s >= 0))
		return 1;
	return fmin(1, b->cpu_s / b->time_s);
}

static void
gather(struct times *t, const struct interval_block *block, size_t nr)
{
	double shares = 0;

	*t = (struct times){ .cpu_share = 1 };
	t->s = calloc(nr > 0 ? nr : 1, sizeof *t->s);
	if (t->s == NULL)
		say_no_memory();
	for (size_t i = 0; i < nr; i++) {
		if (!is_time(&block[i]))
			continue;
		t->s[t->nr++] = block[i].time_s;
		shares += cpu_share_of(&block[i]);
	}
	if (t->nr > 0)
		t->cpu_share = shares / (double)t->nr;
	median_sort(t->s, t->nr);
}

static double
median_deviation(const struct times *t, double middle)
{
	double *d = calloc(t->nr, sizeof *d), mad;

	if (d == NULL)
		say_no_memory();
	for (size_t i = 0; i < t->nr; i++)
		d[i] = fabs(t->s[i] - middle);
	mad = median_of(d, t->nr);
	free(d);
	return mad;
}

/* A mean of what is left, and not a median: an epoch has its slow batches, too,
 * and a median would leave them out. */
static void
leave_out_outliers(struct times *t)
{
	size_t first = 0, end = t->nr;
	double middle, far;

	if (t->nr < OUTLIER_BLOCKS)
		return;
	middle = median_of_sorted(t->s, t->nr);
	far = fmax(OUTLIER_MADS * MAD_TO_SIGMA * median_deviation(t, middle),
	    OUTLIER_DRIFTS * interval_drift(t->cpu_share) * middle);
	while (t->s[first] < middle - far)
		first++;
	while (t->s[end - 1] > middle + far)
		end--;
	if (t->nr - (end - first) > t->nr / OUTLIER_BLOCKS)
		return;
	for (size_t i = first; i < end; i++)
		t->s[i - first] = t->s[i];
	t->nr = end - first;
}

/*--- the interval --------------------------------------------------------*/

static double
mix(double sleep, double cpu, double cpu_share)
{
	return sleep + (cpu - sleep) * cpu_share;
}

double
interval_drift(double cpu_share)
{
	if (!(cpu_share < 1))
		cpu_share = 1;
	return mix(DRIFT_SLEEP, DRIFT_CPU, fmax(0, cpu_share));
}

static double
mean_of(const struct times *t)
{
	double sum = 0;

	for (size_t i = 0; i < t->nr; i++)
		sum += t->s[i];
	return sum / (double)t->nr;
}

/* Relative to the mean. */
static double
variance_of(const struct times *t, double mean)
{
	double sum = 0, d;

	for (size_t i = 0; i < t->nr; i++) {
		d = t->s[i] / mean - 1;
		sum += d * d;
	}
	return t->nr > 1 ? sum / (double)(t->nr - 1) : 0;
}

/* By Student's t.  Two or three blocks say nearly nothing of their scatter, so what
 * is known of it beforehand counts for some more of them where the interval is
 * narrower for it, unless they scatter so much that it cannot hold here. */
static double
half_of_scatter(const struct times *t, double mean)
{
	unsigned df = (unsigned)t->nr - 1;
	double s2 = variance_of(t, mean), root = sqrt((double)t->nr);
	double prior = mix(SCATTER_SLEEP, SCATTER_CPU, t->cpu_share);
	double pooled = (PRIOR_DF * prior * prior + df * s2) / (PRIOR_DF + df);
	double plain, few;

	few = interval_student(df + PRIOR_DF) * sqrt(pooled) / root;
	if (df == 0)
		return few;
	plain = interval_student(df) * sqrt(s2) / root;
	return sqrt(s2) > PRIOR_FAR * prior ? plain : fmin(plain, few);
}

struct figure
interval_of_times(const struct interval_block *block, size_t nr)
{
	struct figure f = { 0 };
	struct times t;
	double half;

	gather(&t, block, nr);
	if (t.nr > 0) {
		leave_out_outliers(&t);
		f.is_known = true;
		f.value = mean_of(&t);
		half = hypot(half_of_scatter(&t, f.value),
		    interval_drift(t.cpu_share));
		half = fmin(half, WIDEST);
		f.low = f.value * (1 - half);
		f.high = f.value * (1 + half);
	}
	free(t.s);
	return f;
}

struct figure
interval_of_rate(const struct interval_block *block, size_t nr)
{
	struct figure f = interval_of_times(block, nr);

	return interval_invert(&f);
}

/*--- figures from figures -------------------------------------------------*/

double
interval_half(const struct figure *f)
{
	return f->is_known ? (f->high - f->low) / 2 : INFINITY;
}

bool
interval_is_narrow(const struct figure *f, double confidence)
{
	return interval_half(f) <= confidence * fabs(f->value);
}

struct figure
interval_exact(double value)
{
	if (!isfinite(value))
		return (struct figure){ 0 };
	return (struct figure){ true, value, value, value };
}

struct figure
interval_scale(const struct figure *f, double factor)
{
	struct figure out = interval_exact(f->value * factor);

	if (!f->is_known || !out.is_known)
		return (struct figure){ 0 };
	out.low = fmin(f->low * factor, f->high * factor);
	out.high = fmax(f->low * factor, f->high * factor);
	return out;
}

struct figure
interval_invert(const struct figure *f)
{
	if (!f->is_known || !(f->low > 0))
		return (struct figure){ 0 };
	return (struct figure){ true, 1 / f->value, 1 / f->high, 1 / f->low };
}

/* Both ends of one input: adds the squares of how far they move the result. */
static void
move(interval_law *law, const void *more, double *in, size_t i,
    const struct figure *f, double value, double *up, double *down)
{
	const double end[2] = { f->low, f->high };
	double a, b, d[2];

	for (size_t k = 0; k < 2; k++) {
		in[i] = end[k];
		d[k] = law(in, more) - value;
	}
	in[i] = f->value;
	a = fmax(0, fmax(d[0], d[1]));
	b = fmin(0, fmin(d[0], d[1]));
	*up += a * a;
	*down += b * b;
}

struct figure
interval_combine(interval_law *law, const struct figure *in, size_t nr,
    const void *more)
{
	double at[INPUTS] = { 0 }, up = 0, down = 0;
	struct figure f;

	must(nr <= INPUTS);
	for (size_t i = 0; i < nr; i++) {
		if (!in[i].is_known)
			return (struct figure){ 0 };
		at[i] = in[i].value;
	}
	f = interval_exact(law(at, more));
	if (!f.is_known)
		return f;
	for (size_t i = 0; i < nr; i++)
		move(law, more, at, i, &in[i], f.value, &up, &down);
	f.low = f.value - sqrt(down);
	f.high = f.value + sqrt(up);
	return f;
}
