/* SPDX-License-Identifier: Apache-2.0
 *
 * cache_loop.c: items of a data set read over and over, for the benchmark
 * tests/bench/cache.
 *
 *     cache_loop page-cache|get|unmapped|lookup FOLDER ROUNDS
 *
 * `page-cache` opens, preads and closes the file; `get` gets and puts the item,
 * which is cached; `unmapped` does so where the process may keep no more
 * mappings; all three then touch each cache line, as a decoder would.
 * `lookup` gets and puts, and touches nothing.  Prints ns_per_item of the
 * second half of the rounds, when all is mapped that will be.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cache/keep.h"
#include "destall.h"

#define BUFFER_MAX	(1u << 20)
#define LINE		64u

static uint8_t buffer[BUFFER_MAX];
static struct ds_data *data;
static int folder;
static unsigned sink;

static _Noreturn void
give_up(const char *what)
{
	fprintf(stderr, "cache_loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
touch(const void *bytes, size_t len)
{
	const uint8_t *b = bytes;
	unsigned sum = 0;

	for (size_t at = 0; at < len; at += LINE)
		sum += b[at];
	sink += sum;
}

static void
read_file(uint64_t i, bool touched)
{
	struct ds_info info;
	ssize_t n;
	int fd;

	if (ds_data_info(data, i, &info) < 0)
		give_up("no such item");
	fd = openat(folder, info.name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : pread(fd, buffer, sizeof buffer, 0);
	if (n < 0)
		give_up(info.name);
	close(fd);
	if (touched)
		touch(buffer, (size_t)n);
}

static void
read_item(uint64_t i, bool touched)
{
	static struct ds_err err;	/* not cleared each time */
	struct ds_item item;

	if (ds_get(data, i, &item, &err) < 0) {
		fprintf(stderr, "cache_loop: %s\n", err.text);
		exit(1);
	}
	if (touched)
		touch(item.bytes, item.len);
	ds_put(data, &item);
}

static uint64_t
pass(const char *way, uint64_t rounds)
{
	uint64_t start = clock_now_ns(), nr = ds_data_count(data);

	for (uint64_t r = 0; r < rounds; r++) {
		for (uint64_t i = 0; i < nr; i++) {
			if (way[0] == 'p')
				read_file(i, true);
			else
				read_item(i, way[0] != 'l');
		}
	}
	return clock_now_ns() - start;
}

int
main(int argc, char **argv)
{
	struct ds_hub *hub = NULL;
	uint64_t rounds, ns;
	struct ds_err err;

	if (argc != 4) {
		fprintf(stderr, "usage: cache_loop WAY FOLDER ROUNDS\n");
		return 2;
	}
	rounds = strtoull(argv[3], NULL, 10) / 2 + 1;
	folder = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		give_up(argv[2]);
	if (ds_connect(&hub, 0, &err) < 0 ||
	    ds_data_open(&data, hub, argv[2], NULL, &err) < 0) {
		fprintf(stderr, "cache_loop: %s\n", err.text);
		return 1;
	}
	if (argv[1][0] == 'u')
		keep_set_limit(1);
	(void)pass(argv[1], rounds);
	ns = pass(argv[1], rounds);
	printf("{\"ns_per_item\": %.1f}\n",
	    (double)ns / (double)(rounds * ds_data_count(data)));
	ds_data_close(&data);
	ds_disconnect(&hub);
	return sink == 1;
}
