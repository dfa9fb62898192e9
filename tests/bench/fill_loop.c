/* SPDX-License-Identifier: Apache-2.0
 *
 * fill_loop.c: the first epoch over a data set, for the benchmark
 * tests/bench/fill.
 *
 *     fill_loop plain|alone|fill FOLDER [PART PARTS]
 *
 * `plain` opens, preads and closes each file; `alone` gets each item without a
 * hub; `fill` gets it from a hub that has nothing of it yet, and so fills the
 * cache.  None looks at the bytes.  Of PARTS processes each takes every
 * PARTS-th item.  Prints when the first get began and the last ended, by
 * CLOCK_MONOTONIC, and the items; the listing is not counted.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "destall.h"

#define BUFFER_MAX	(1u << 20)

static uint8_t buffer[BUFFER_MAX];
static struct ds_data *data;
static int folder;

static _Noreturn void
give_up(const char *what, const char *why)
{
	fprintf(stderr, "fill_loop: %s: %s\n", what, why);
	exit(1);
}

static void
read_file(uint64_t i)
{
	struct ds_info info;
	int fd;

	if (ds_data_info(data, i, &info) < 0)
		give_up("an item", "not there");
	fd = openat(folder, info.name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, buffer, sizeof buffer, 0) < 0)
		give_up(info.name, strerror(errno));
	close(fd);
}

static void
read_item(uint64_t i)
{
	struct ds_item item;
	struct ds_err err;

	if (ds_get(data, i, &item, &err) < 0)
		give_up("get", err.text);
	ds_put(data, &item);
}

int
main(int argc, char **argv)
{
	struct ds_hub *hub = NULL;
	uint64_t part, parts, begin_ns, nr = 0;
	struct ds_err err;

	if (argc != 3 && argc != 5) {
		fprintf(stderr, "usage: fill_loop WAY FOLDER [PART PARTS]\n");
		return 2;
	}
	part = argc == 5 ? strtoull(argv[3], NULL, 10) : 0;
	parts = argc == 5 ? strtoull(argv[4], NULL, 10) : 1;
	folder = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		give_up(argv[2], strerror(errno));
	if ((argv[1][0] == 'f' && ds_connect(&hub, 0, &err) < 0) ||
	    ds_data_open(&data, hub, argv[2], NULL, &err) < 0)
		give_up(argv[2], err.text);
	begin_ns = clock_now_ns();
	for (uint64_t i = part; i < ds_data_count(data); i += parts, nr++) {
		if (argv[1][0] == 'p')
			read_file(i);
		else
			read_item(i);
	}
	printf("{\"begin_ns\": %llu, \"end_ns\": %llu, \"items\": %llu}\n",
	    (unsigned long long)begin_ns, (unsigned long long)clock_now_ns(),
	    (unsigned long long)nr);
	ds_data_close(&data);
	if (hub != NULL)
		ds_disconnect(&hub);
	return 0;
}
