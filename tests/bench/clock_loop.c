/* SPDX-License-Identifier: Apache-2.0
 *
 * clock_loop.c: a thread that does nothing but read the clock of its own
 * processor time, for the benchmark tests/bench/hub.
 *
 *     clock_loop until PATH
 *
 * What it sees jump by more than a millisecond was not its own work: it is
 * what interrupts and the host of a virtual machine charge to whoever runs.
 * Prints how often, and the longest, in microseconds.
 */

#include <config.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JUMP_NS		UINT64_C(1000000)
#define LOOK_EVERY	65536u		/* readings, for the file */

static uint64_t
read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int
main(int argc, char **argv)
{
	uint64_t start = read_clock(), last = start, longest = 0, jumps = 0;

	if (argc != 3 || strcmp(argv[1], "until") != 0) {
		fprintf(stderr, "usage: clock_loop until PATH\n");
		return 2;
	}
	for (unsigned n = 1; n % LOOK_EVERY != 0 ||
	    access(argv[2], F_OK) != 0; n++) {
		uint64_t now = read_clock();

		jumps += now - last > JUMP_NS;
		if (now - last > longest)
			longest = now - last;
		last = read_clock();
	}
	printf("{\"turns_over_1ms\": %llu, \"turn_cpu_us\": %.1f, "
	    "\"own_cpu_s\": %.2f}\n", (unsigned long long)jumps,
	    (double)longest / 1000, (double)(last - start) / 1e9);
	return 0;
}
