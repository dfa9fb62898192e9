/* SPDX-License-Identifier: Apache-2.0
 *
 * decode_load.c: the whole loader, and the shots of the epoch that is measured:
 * the second, since in the first memory and files are found.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/decode_loop.h"

#define MEASURED_EPOCH	1

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

void
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

static struct ds_prep *prep;
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

void
load_shots(char **argv)
{
	struct ds_err err;

	seed = strtoull(argv[3], NULL, 10);
	check(ds_prep_new(&prep, &err), "prep", &err);
	open_loader(argv[2], argv[3]);
	set("type", "uint8");
	for (int i = 0; i <= MEASURED_EPOCH; i++)
		(void)run_epoch(print_shots);
	close_loader();
	ds_prep_free(&prep);
}
