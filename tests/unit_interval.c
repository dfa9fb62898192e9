/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_interval.c: tests of analyzer/interval.c.
 */

#include <config.h>

#include "analyzer/interval.h"

#include <math.h>

#include "base/rng.h"
#include "tests/harness/unit.h"

#define BLOCKS	64u

static void
assert_near(double got, double wanted, double relative)
{
	if (!(fabs(got - wanted) <= relative * fabs(wanted)))
		fail_msg("%.9g is not %.9g", got, wanted);
}

static void
assert_unknown(struct figure f)
{
	assert_false(f.is_known);
}

/*--- Student's t ---------------------------------------------------------*/

/* How much of the distribution lies below t, by Simpson's rule from 0. */
static double
share_below(double t, unsigned df)
{
	const unsigned steps = 2000;
	double n = df, sum = 0, x, y;
	double scale = exp(lgamma((n + 1) / 2) - lgamma(n / 2)) /
	    sqrt(n * 3.14159265358979323846);

	for (unsigned i = 0; i <= steps; i++) {
		x = t * i / steps;
		y = scale * pow(1 + x * x / n, -(n + 1) / 2);
		sum += y * (i == 0 || i == steps ? 1 : i % 2 ? 4 : 2);
	}
	return 0.5 + sum * t / steps / 3;
}

static void
student_is_right_for_every_number(void **state)
{
	(void)state;
	for (unsigned df = 1; df <= 400; df++)
		assert_near(share_below(interval_student(df), df), 0.975,
		    1e-6);
	assert_near(interval_student(1), 12.7062, 1e-5);
	assert_near(interval_student(1000000), 1.959966, 1e-6);
	assert_true(isinf(interval_student(0)));
	for (unsigned df = 0; df < 1000; df++)
		assert_true(interval_student(df) > interval_student(df + 1));
}

/*--- blocks --------------------------------------------------------------*/

/* All of one length in samples, and of one share of processors. */
static size_t
make(struct interval_block *b, const double *times, size_t nr, double cpu_share)
{
	for (size_t i = 0; i < nr; i++)
		b[i] = (struct interval_block){ 100, times[i],
		    times[i] * cpu_share };
	return nr;
}

static void
nothing_is_not_known(void **state)
{
	const struct interval_block bad[] = {
		{ 0, 1, 0 }, { 10, 0, 0 }, { 10, -1, 0 }, { 10, NAN, 0 },
		{ 10, INFINITY, 0 },
	};

	(void)state;
	assert_unknown(interval_of_times(NULL, 0));
	assert_unknown(interval_of_rate(NULL, 0));
	assert_unknown(interval_of_times(bad, 5));
	assert_unknown(interval_of_rate(bad, 5));
}

static void
what_is_no_time_is_left_out(void **state)
{
	const struct interval_block b[] = {
		{ 10, 0.010, 0 }, { 10, NAN, 0 }, { 0, 7, 0 }, { 10, 0.010, 0 },
	};
	struct figure f = interval_of_times(b, 4);

	(void)state;
	assert_near(f.value, 0.010, 1e-12);
	assert_near(interval_half(&f) / f.value, interval_drift(0), 1e-9);
}

static void
one_block_is_wide_by_its_kind(void **state)
{
	const struct interval_block sleeps = { 100, 0.01, 0.0 };
	const struct interval_block works = { 100, 0.01, 0.02 };
	const struct interval_block unknown = { 100, 0.01, -1 };
	struct figure a = interval_of_times(&sleeps, 1);
	struct figure b = interval_of_times(&works, 1);
	struct figure c = interval_of_times(&unknown, 1);

	(void)state;
	assert_near(a.value, 0.01, 1e-12);
	assert_true(interval_is_narrow(&a, 0.02));
	assert_false(interval_is_narrow(&a, 0.01));
	assert_true(interval_is_narrow(&b, 0.20));
	assert_false(interval_is_narrow(&b, 0.10));
	assert_near(interval_half(&c), interval_half(&b), 1e-12);
}

/* Of four, t = 3.182, a mean of 10 ms, a deviation of 1.29 %. */
static void
some_blocks_are_a_mean_and_student(void **state)
{
	const double times[] = { 0.0099, 0.0101, 0.0102, 0.0098 };
	struct interval_block b[BLOCKS];
	struct figure f = interval_of_times(b, make(b, times, 4, 1));
	double scatter = 3.182446 * sqrt(1e-3 / 3) / 2;

	(void)state;
	assert_near(f.value, 0.01, 1e-9);
	assert_near(interval_half(&f) / f.value,
	    hypot(scatter, interval_drift(1)), 1e-5);
}

static void
a_rate_is_the_inverse_of_the_mean_time(void **state)
{
	const double times[] = { 0.005, 0.015 };
	struct interval_block b[BLOCKS];
	struct figure t = interval_of_times(b, make(b, times, 2, 0));
	struct figure r = interval_of_rate(b, 2);

	(void)state;
	assert_near(r.value, 100, 1e-9);	/* not 133 */
	assert_near(r.low, 1 / t.high, 1e-12);
	assert_near(r.high, 1 / t.low, 1e-12);
	assert_true(t.low > 0);
}

/* However many samples a block has. */
static void
blocks_count_the_same(void **state)
{
	const struct interval_block b[] = {
		{ 1000000, 0.010, 0 }, { 1, 0.020, 0 },
	};

	(void)state;
	assert_near(interval_of_times(b, 2).value, 0.015, 1e-12);
}

static void
equal_blocks_have_the_drift(void **state)
{
	struct interval_block b[BLOCKS];
	double times[BLOCKS];
	struct figure f;

	(void)state;
	for (size_t i = 0; i < BLOCKS; i++)
		times[i] = 0.004;
	for (double share = 0; share <= 1; share += 0.25) {
		f = interval_of_times(b, make(b, times, BLOCKS, share));
		assert_near(interval_half(&f) / f.value, interval_drift(share),
		    1e-9);
	}
	assert_true(interval_drift(0) >= 0.002 && interval_drift(0) < 0.01);
	assert_true(interval_drift(1) >= 0.010 && interval_drift(1) < 0.02);
	assert_true(interval_drift(0.5) > interval_drift(0));
	assert_near(interval_drift(7), interval_drift(1), 1e-12);
	assert_near(interval_drift(-7), interval_drift(0), 1e-12);
	assert_near(interval_drift(NAN), interval_drift(1), 1e-12);
}

/*--- outliers ------------------------------------------------------------*/

static void
a_disturbed_block_is_left_out_of_five(void **state)
{
	double times[] = { 0.0100, 0.0101, 0.0500, 0.0099, 0.0100 };
	struct interval_block b[BLOCKS];
	struct figure f = interval_of_times(b, make(b, times, 5, 0));

	(void)state;
	assert_near(f.value, 0.0100, 1e-9);
	assert_true(interval_is_narrow(&f, 0.02));
	times[2] = 0.001;			/* nor one that was too fast */
	f = interval_of_times(b, make(b, times, 5, 0));
	assert_near(f.value, 0.0100, 1e-9);
	times[2] = 0.0500;			/* of four it is kept */
	f = interval_of_times(b, make(b, times, 4, 0));
	assert_near(f.value, 0.0200, 1e-9);
	assert_false(interval_is_narrow(&f, 0.5));
}

/* Two of five are no exception: the machine has two speeds. */
static void
many_far_blocks_are_no_outliers(void **state)
{
	const double times[] = { 0.010, 0.010, 0.020, 0.010, 0.020 };
	struct interval_block b[BLOCKS];
	struct figure f = interval_of_times(b, make(b, times, 5, 0));

	(void)state;
	assert_near(f.value, 0.014, 1e-9);
	assert_true(f.low < 0.010 && f.high > 0.018);
}

/* Near blocks stay, however near each other the rest is. */
static void
drift_is_no_outlier(void **state)
{
	const double times[] = { 1, 1, 1, 1, 1.011 };
	struct interval_block b[BLOCKS];

	(void)state;
	assert_near(interval_of_times(b, make(b, times, 5, 0)).value, 1.0022,
	    1e-9);
}

/*--- does the interval hold the truth? -----------------------------------*/

static double
normal(struct rng *r)
{
	double u = 1 - rng_unit(r);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * rng_unit(r));
}

/* The share of 2,000 made-up runs whose interval holds 1: a speed of the run,
 * and blocks around it. */
static double
held(size_t nr, double run, double block, double cpu_share, double *half)
{
	struct interval_block b[BLOCKS];
	double times[BLOCKS], speed, sum = 0;
	const unsigned runs = 2000;
	unsigned hits = 0;
	struct figure f;
	struct rng r;

	rng_init(&r, RNG_SAMPLE, 9, nr, 0);
	for (unsigned k = 0; k < runs; k++) {
		speed = 1 + run * normal(&r);
		for (size_t i = 0; i < nr; i++)
			times[i] = speed * (1 + block * normal(&r));
		f = interval_of_times(b, make(b, times, nr, cpu_share));
		hits += f.low <= 1 && f.high >= 1;
		sum += interval_half(&f);
	}
	*half = sum / runs;
	return (double)hits / runs;
}

static void
intervals_hold_the_truth_and_are_of_use(void **state)
{
	static const struct {
		size_t	nr;
		double	run, block, cpu_share, held, half;
	} cases[] = {
		{ 1, 0.002, 0.002, 0, 0.95, 0.020 },
		{ 2, 0.002, 0.002, 0, 0.90, 0.020 },
		{ 3, 0.002, 0.002, 0, 0.90, 0.010 },
		{ 6, 0.002, 0.002, 0, 0.93, 0.006 },
		{ 12, 0.002, 0.002, 0, 0.93, 0.005 },
		{ 1, 0.008, 0.03, 1, 0.95, 0.20 },
		{ 2, 0.008, 0.03, 1, 0.90, 0.10 },
		{ 3, 0.008, 0.03, 1, 0.90, 0.07 },
		{ 6, 0.008, 0.03, 1, 0.93, 0.04 },
		{ 12, 0.008, 0.03, 1, 0.93, 0.03 },
		{ 12, 0.008, 0.01, 1, 0.93, 0.02 },
		{ 40, 0.008, 0.03, 1, 0.93, 0.02 },
		/* Storage that scatters more than a sleep is known to. */
		{ 2, 0.002, 0.05, 0, 0.85, 0.50 },
		{ 5, 0.002, 0.05, 0, 0.90, 0.08 },
		{ 20, 0.002, 0.05, 0, 0.93, 0.03 },
	};
	double share, half;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		share = held(cases[i].nr, cases[i].run, cases[i].block,
		    cases[i].cpu_share, &half);
		if (share < cases[i].held || half > cases[i].half)
			fail_msg("case %zu: %.3f within, half a width of %.4f",
			    i, share, half);
	}
}

/*--- narrow, and figures from figures ------------------------------------*/

static void
narrow_is_half_a_width_of_the_value(void **state)
{
	const struct figure f = { true, 100, 98, 102 };
	const struct figure lopsided = { true, 100, 99, 103 };
	const struct figure zero = { true, 0, -1, 1 }, exact = { true, 0, 0, 0 };
	const struct figure unknown = { .value = 100, .low = 100, .high = 100 };
	const struct figure bad = { true, NAN, NAN, NAN };
	const struct figure negative = { true, -100, -101, -99 };

	(void)state;
	assert_true(interval_is_narrow(&f, 0.02));
	assert_false(interval_is_narrow(&f, 0.0199));
	assert_true(interval_is_narrow(&lopsided, 0.02));
	assert_false(interval_is_narrow(&zero, 0.5));
	assert_true(interval_is_narrow(&exact, 0.02));
	assert_false(interval_is_narrow(&unknown, 1));
	assert_false(interval_is_narrow(&bad, 1));
	assert_true(interval_is_narrow(&negative, 0.02));
}

static void
figures_are_scaled_and_inverted(void **state)
{
	const struct figure f = { true, 4, 2, 5 }, unknown = { 0 };
	const struct figure around_zero = { true, 1, -1, 3 };
	struct figure g = interval_scale(&f, -2);

	(void)state;
	assert_true(g.value == -8 && g.low == -10 && g.high == -4);
	g = interval_invert(&f);
	assert_true(g.value == 0.25 && g.low == 0.2 && g.high == 0.5);
	assert_unknown(interval_scale(&unknown, 2));
	assert_unknown(interval_scale(&f, INFINITY));
	assert_unknown(interval_invert(&unknown));
	assert_unknown(interval_invert(&around_zero));
	assert_unknown(interval_exact(NAN));
	assert_true(isinf(interval_half(&unknown)));
}

static double
sum(const double *in, const void *more)
{
	const size_t *nr = more;
	double s = 0;

	for (size_t i = 0; i < *nr; i++)
		s += in[i];
	return s;
}

static double
ratio(const double *in, const void *more)
{
	(void)more;
	return in[0] / in[1];
}

static double
square(const double *in, const void *more)
{
	(void)more;
	return in[0] * in[0];
}

static void
independent_figures_add_in_squares(void **state)
{
	const struct figure in[] = {
		{ true, 100, 97, 103 }, { true, 100, 96, 104 },
	};
	const struct figure unknown[] = { in[0], { 0 } };
	const struct figure zero[] = { in[0], { true, 0, 0, 0 } };
	const size_t nr = 2, none = 0;
	struct figure f = interval_combine(sum, in, 2, &nr);

	(void)state;
	assert_near(f.value, 200, 1e-12);
	assert_near(f.low, 195, 1e-12);
	assert_near(f.high, 205, 1e-12);
	f = interval_combine(ratio, in, 2, NULL);
	assert_near(f.value, 1, 1e-12);
	assert_near(interval_half(&f), 0.05, 0.01);
	assert_unknown(interval_combine(sum, unknown, 2, &nr));
	assert_unknown(interval_combine(ratio, zero, 2, NULL));
	f = interval_combine(sum, in, 0, &none);
	assert_true(f.is_known && f.value == 0 && f.low == 0 && f.high == 0);
}

/* A law that turns: both ends lie above its middle. */
static void
a_law_may_be_bent(void **state)
{
	const struct figure in = { true, 0, -2, 3 };
	struct figure f = interval_combine(square, &in, 1, NULL);

	(void)state;
	assert_true(f.value == 0 && f.low == 0 && f.high == 9);
}

UNIT_MAIN(
	UNIT(student_is_right_for_every_number),
	UNIT(nothing_is_not_known),
	UNIT(what_is_no_time_is_left_out),
	UNIT(one_block_is_wide_by_its_kind),
	UNIT(some_blocks_are_a_mean_and_student),
	UNIT(a_rate_is_the_inverse_of_the_mean_time),
	UNIT(blocks_count_the_same),
	UNIT(equal_blocks_have_the_drift),
	UNIT(a_disturbed_block_is_left_out_of_five),
	UNIT(many_far_blocks_are_no_outliers),
	UNIT(drift_is_no_outlier),
	UNIT(intervals_hold_the_truth_and_are_of_use),
	UNIT(narrow_is_half_a_width_of_the_value),
	UNIT(figures_are_scaled_and_inverted),
	UNIT(independent_figures_add_in_squares),
	UNIT(a_law_may_be_bent))
