/* SPDX-License-Identifier: Apache-2.0
 *
 * decode_loop.c: pictures to samples, for the benchmark tests/bench/decode.
 *
 *     decode_loop shots FOLDER SEED > SHOTS
 *     decode_loop bare SHOTS FOLDER rgb|rgbx PASSES [PART PARTS]
 *     decode_loop prep SHOTS FOLDER uint8|fp32|... PASSES [PART PARTS]
 *     decode_loop loader FOLDER SEED uint8|fp32|... THREADS [hub]
 *     decode_loop methods SHOTS FOLDER
 *
 * `bare` is libjpeg-turbo alone, `prep` makes samples of bytes in memory,
 * `loader` batches of files, or of a running hub's cache.  Its second epoch
 * counts, whose shots `shots` writes down.  Of PARTS processes each takes every
 * PARTS-th shot.  All print images a second, by the clock on the wall and by
 * that of the processor.
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
#define MEASURED_EPOCH	1

_Noreturn void
give_up(const char *what, const char *why)
{
	fprintf(stderr, "decode_loop: %s: %s\n", what, why);
	exit(1);
}

static void
check(int rc, const char *what, const struct ds_err *err)
{
	if (rc < 0)
		give_up(what, err->text);
}

/*--- time ----------------------------------------------------------------*/

struct times {
	uint64_t wall_ns, cpu_ns;
};

static struct times
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (struct times){ clock_now_ns(),
	    (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec };
}

static void
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

/*--- the loader ----------------------------------------------------------*/

static struct ds_hub *hub;
static struct ds_data *data;
static struct ds_loader *loader;

static void
set(const char *name, const char *value)
{
	struct ds_err err;

	check(ds_loader_set(loader, name, value, &err), name, &err);
}

static void
open_loader(const char *folder, const char *seed)
{
	struct ds_err err;

	check(ds_data_open(&data, hub, folder, NULL, &err), folder, &err);
	check(ds_loader_open(&loader, data, &err), folder, &err);
	set("seed", seed);
	set("epochs", "2");
}

static void
close_loader(void)
{
	ds_loader_close(&loader);
	ds_data_close(&data);
	if (hub != NULL)
		ds_disconnect(&hub);
}

/* How many samples there were. */
static uint64_t
run_epoch(void (*look)(const struct ds_batch *b))
{
	struct ds_batch *b;
	struct ds_err err;
	uint64_t nr = 0;
	int rc;

	while ((rc = ds_loader_next(loader, &b, &err)) == 1) {
		nr += b->count;
		if (look != NULL)
			look(b);
		ds_loader_release(loader, &b);
	}
	check(rc, "next", &err);
	return nr;
}

/* VmHWM: the most memory that the process had at a time. */
static double
peak_mib(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long kib = 0;
	char line[128];

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		(void)sscanf(line, "VmHWM: %lu kB", &kib);
	if (f != NULL)
		fclose(f);
	return (double)kib / 1024;
}

static void
load(int argc, char **argv)
{
	struct ds_loader_counts counts;
	struct ds_counts before, after;
	struct ds_err err;
	struct times t;
	uint64_t nr;

	if (argc == 7)
		check(ds_connect(&hub, DS_NO_START, &err), "hub", &err);
	open_loader(argv[2], argv[3]);
	set("type", argv[4]);
	set("threads", argv[5]);
	(void)run_epoch(NULL);
	ds_data_counts(data, &before);
	t = now();
	nr = run_epoch(NULL);
	print_rates(nr, t);
	ds_data_counts(data, &after);
	if (hub != NULL && after.misses != before.misses)
		give_up("hub", "not all was cached");
	ds_loader_counts(loader, &counts);
	printf(", \"peak_mib\": %.1f, \"batches_mib\": %.1f}\n", peak_mib(),
	    (double)counts.memory_bytes / (1 << 20));
	close_loader();
}

/*--- the shots -----------------------------------------------------------*/

static uint64_t seed;

static void
print_shot(const struct ds_batch *b, uint32_t i)
{
	struct ds_place place = { seed, b->epoch, b->positions[i] };
	uint32_t width, height;
	struct ds_item item;
	struct ds_info info;
	struct ds_cut c;
	struct ds_err err;

	check(ds_get(data, b->items[i], &item, &err), "get", &err);
	check(ds_prep_size(prep, item.bytes, item.len, &width, &height, &err),
	    "size", &err);
	check(ds_prep_draw(prep, width, height, &place, &c, &err), "draw", &err);
	ds_put(data, &item);
	(void)ds_data_info(data, b->items[i], &info);
	printf("%u %u %u %u %u %u %u %u %u %s\n", c.x, c.y, c.width, c.height,
	    c.to_width, c.to_height, c.at_x, c.at_y, c.flip, info.name);
}

static void
print_shots(const struct ds_batch *b)
{
	for (uint32_t i = 0; b->epoch == MEASURED_EPOCH && i < b->count; i++)
		print_shot(b, i);
}

/* As the loader says it: its order is its own. */
static void
write_shots(char **argv)
{
	seed = strtoull(argv[3], NULL, 10);
	begin_prep("uint8");
	open_loader(argv[2], argv[3]);
	set("type", "uint8");
	for (int i = 0; i <= MEASURED_EPOCH; i++)
		(void)run_epoch(print_shots);
	close_loader();
	end_prep();
}

int
main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "shots") == 0)
		write_shots(argv);
	else if (argc == 4 && strcmp(argv[1], "methods") == 0)
		print_methods(argv);
	else if (argc >= 6 && argc <= 7 && strcmp(argv[1], "loader") == 0)
		load(argc, argv);
	else if (argc == 6 || argc == 8)
		loop(argc, argv);
	else
		give_up("arguments", "the head of decode_loop.c tells");
	return 0;
}
