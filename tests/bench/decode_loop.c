/* SPDX-License-Identifier: Apache-2.0
 *
 * decode_loop.c: pictures to samples, for the benchmark tests/bench/decode.
 *
 *     decode_loop shots FOLDER SEED > SHOTS
 *     decode_loop bare SHOTS FOLDER rgb|rgbx PASSES [PART PARTS]
 *     decode_loop prep SHOTS FOLDER uint8|fp32|... PASSES [PART PARTS]
 *     decode_loop turns SHOTS FOLDER uint8|fp32|... PASSES
 *     decode_loop loader FOLDER SEED uint8|fp32|... THREADS [hub]
 *     decode_loop methods SHOTS FOLDER
 *
 * `bare` is libjpeg-turbo alone, `prep` makes samples of bytes in memory,
 * `loader` batches of files, or of a running hub's cache.  Its second epoch
 * counts, whose shots `shots` writes down.  Of PARTS processes each takes every
 * PARTS-th shot.  All print images a second, by the clock on the wall and by
 * that of the processor; `turns` how fast `prep` is by `bare`, both by turns of
 * a batch: the speed of a machine that others use drifts within a second.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tests/bench/decode_loop.h"

#define BATCH		64
#define PAGE		4096

_Noreturn void
give_up(const char *what, const char *why)
{
	fprintf(stderr, "decode_loop: %s: %s\n", what, why);
	exit(1);
}

void
check(int rc, const char *what, const struct ds_err *err)
{
	if (rc < 0)
		give_up(what, err->text);
}

/*--- time ----------------------------------------------------------------*/

struct times
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (struct times){ clock_now_ns(),
	    (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec };
}

void
print_rates(uint64_t images, struct times since)
{
	struct times t = now();
	double n = (double)images * (double)NS_PER_S;

	printf("{\"images_per_s\": %.2f, \"images_per_cpu_s\": %.2f",
	    n / (double)(t.wall_ns - since.wall_ns),
	    n / (double)(t.cpu_ns - since.cpu_ns));
}

/*--- prep alone ----------------------------------------------------------*/

static struct ds_prep *prep;
static char *samples;		/* a batch of them, as a loader has */
static size_t sample_bytes;
static unsigned next_sample;

static void
begin_prep(const char *type)
{
	struct ds_err err;
	int64_t bytes;

	check(ds_prep_new(&prep, &err), "prep", &err);
	check(ds_prep_set(prep, "type", type, &err), "type", &err);
	bytes = ds_prep_bytes(prep, &err);
	check(bytes < 0 ? -1 : 0, "prep", &err);
	sample_bytes = (size_t)bytes;
	samples = aligned_alloc(PAGE, BATCH * sample_bytes);
	if (samples == NULL)
		give_up("samples", "out of memory");
}

static void
run_prep(const struct shot *s)
{
	struct ds_err err;

	check(ds_prep_run(prep, s->bytes, s->len, &s->cut,
	    samples + next_sample * sample_bytes, sample_bytes, &err),
	    "a picture", &err);
	next_sample = (next_sample + 1) % BATCH;
}

static void
end_prep(void)
{
	ds_prep_free(&prep);
	free(samples);
}

/*--- one shot after the other --------------------------------------------*/

static const struct way {
	const char	*name;
	void		(*begin)(const char *option);
	void		(*make)(const struct shot *s);
	void		(*end)(void);
} ways[] = {
	{ "bare", bare_begin, bare_decode, bare_end },
	{ "prep", begin_prep, run_prep, end_prep },
};

/* By its name the profile knows what is counted. */
static void __attribute__((noinline))
measured(const struct way *w, const struct shots *s)
{
	for (size_t i = 0; i < s->nr; i++)
		w->make(&s->shot[i]);
}

static uint64_t
time_turn(const struct way *w, const struct shots *batch)
{
	uint64_t begin_ns = now().cpu_ns;

	measured(w, batch);
	return now().cpu_ns - begin_ns;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
take_turns(char **argv)
{
	size_t passes = strtoul(argv[5], NULL, 10), nr = 0;
	uint64_t ns[2];
	struct shots s = { 0 };
	double *ratio;

	shots_read(&s, argv[2], argv[3], 0, 1);
	ways[0].begin("rgb");
	ways[1].begin(argv[4]);
	ratio = calloc(passes * (s.nr / BATCH + 1), sizeof *ratio);
	if (ratio == NULL)
		give_up("turns", "out of memory");
	for (size_t at = 0; at < passes * s.nr; at += BATCH) {
		size_t from = at % s.nr, left = s.nr - from;
		struct shots batch = { s.shot + from,
		    left < BATCH ? left : BATCH };

		for (size_t i = 0; i < 2; i++) {
			size_t who = (i + nr) % 2;

			ns[who] = time_turn(&ways[who], &batch);
		}
		ratio[nr++] = (double)ns[0] / (double)ns[1];
	}
	qsort(ratio, nr, sizeof *ratio, compare_doubles);
	printf("{\"prep_by_libjpeg\": %.4f}\n", ratio[nr / 2]);
	free(ratio);
	ways[0].end();
	ways[1].end();
	shots_free(&s);
}

static const struct way *
find_way(const char *name)
{
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	}
	give_up(name, "no such way");
}

static void
loop(int argc, char **argv)
{
	const struct way *w = find_way(argv[1]);
	unsigned long passes = strtoul(argv[5], NULL, 10);
	struct shots s = { 0 };
	struct times t;

	shots_read(&s, argv[2], argv[3],
	    argc == 8 ? strtoul(argv[6], NULL, 10) : 0,
	    argc == 8 ? strtoul(argv[7], NULL, 10) : 1);
	w->begin(argv[4]);
	for (size_t i = 0; i < BATCH; i++)	/* warms up */
		w->make(&s.shot[i % s.nr]);
	t = now();
	for (unsigned long i = 0; i < passes; i++)
		measured(w, &s);
	print_rates(passes * s.nr, t);
	printf("}\n");
	w->end();
	shots_free(&s);
}

static void
print_methods(char **argv)
{
	struct shots s = { 0 };

	shots_read(&s, argv[2], argv[3], 0, 1);
	bare_begin("rgb");
	bare_methods(&s.shot[0]);
	bare_end();
	shots_free(&s);
}

int
main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "shots") == 0)
		load_shots(argv);
	else if (argc == 4 && strcmp(argv[1], "methods") == 0)
		print_methods(argv);
	else if (argc >= 6 && argc <= 7 && strcmp(argv[1], "loader") == 0)
		load(argc, argv);
	else if (argc == 6 && strcmp(argv[1], "turns") == 0)
		take_turns(argv);
	else if (argc == 6 || argc == 8)
		loop(argc, argv);
	else
		give_up("arguments", "the head of decode_loop.c tells");
	return 0;
}
