/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c: the one clock.  Runs in every process.
 */

#include <config.h>

#include "base/clock.h"

#include <limits.h>
#include <stddef.h>
#include <time.h>

#include "base/must.h"

static clock_now_f *replaced_now;
static void *replaced_arg;

static uint64_t
read_clock(clockid_t which)
{
	struct timespec ts;

	must(clock_gettime(which, &ts) == 0);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t
clock_now_ns(void)
{
	if (replaced_now != NULL)
		return replaced_now(replaced_arg);
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t
clock_thread_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t
clock_process_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int
clock_left_ms(uint64_t deadline_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t left_ns, left_ms;

	if (now >= deadline_ns)
		return 0;
	left_ns = deadline_ns - now;
	left_ms = left_ns / NS_PER_MS + (left_ns % NS_PER_MS != 0);
	return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

double
clock_seconds(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ?
	    (double)(to_ns - from_ns) / (double)NS_PER_S : 0;
}

uint64_t
clock_later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

void
clock_replace(clock_now_f *now, void *arg)
{
	replaced_now = now;
	replaced_arg = arg;
}
