/* SPDX-License-Identifier: Apache-2.0
 *
 * ping_loop.c: an idle client's round trips to the hub, for the benchmark
 * tests/bench/hub.
 *
 *     ping_loop COUNT             as many, one after the other
 *     ping_loop until PATH        one a millisecond until the file is there
 *
 * Prints p50, p99 and max in microseconds.
 */

#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hist.h"
#include "hub/link.h"
#include "hub/proto.h"

static struct hist round_trips;

static void
ping(struct link *l)
{
	struct wire_frame f;
	struct wire_writer w;
	struct ds_err err;
	uint64_t start = clock_now_ns();

	wire_write(&w, &f, MSG_PING, 0);
	if (link_call(l, &f, MSG_DONE, &err) < 0) {
		fprintf(stderr, "ping_loop: %s\n", err.text);
		exit(1);
	}
	hist_add(&round_trips, clock_now_ns() - start);
}

static double
us(double q)
{
	return (double)hist_quantile(&round_trips, q) / 1000;
}

int
main(int argc, char **argv)
{
	const struct timespec ms = { 0, 1000000 };
	struct ds_err err;
	struct link *l;

	if (argc < 2) {
		fprintf(stderr, "usage: ping_loop COUNT | until PATH\n");
		return 2;
	}
	if (link_new(&l, true, &err) < 0) {
		fprintf(stderr, "ping_loop: %s\n", err.text);
		return 1;
	}
	hist_init(&round_trips);
	if (argc == 2) {
		for (long n = strtol(argv[1], NULL, 10); n > 0; n--)
			ping(l);
	} else {
		while (access(argv[2], F_OK) != 0) {
			ping(l);
			nanosleep(&ms, NULL);
		}
	}
	link_free(&l);
	printf("{\"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, "
	    "\"count\": %llu}\n", us(0.5), us(0.99), us(1),
	    (unsigned long long)round_trips.count);
	return 0;
}
