/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.h: the one clock.  Runs in every process.
 *
 * All waiting and measuring uses CLOCK_MONOTONIC: the wall clock may jump.
 * Tests put a clock of their own in its place, so that none sleeps to be
 * right.
 */

#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_S	UINT64_C(1000000000)
#define NS_PER_MS	UINT64_C(1000000)

typedef uint64_t clock_now_f(void *arg);

uint64_t clock_now_ns(void);

uint64_t clock_thread_ns(void);
	/* Of a processor, that this thread has used. */
uint64_t clock_process_ns(void);
	/* The same of all threads of this process. */

int clock_left_ms(uint64_t deadline_ns);
	/* Time until the deadline, as poll(2) wants it: rounded up, at most
	 * INT_MAX, 0 when it has passed. */

double clock_seconds(uint64_t from_ns, uint64_t to_ns);
	/* 0, if that is before. */
uint64_t clock_later(uint64_t a_ns, uint64_t b_ns);

void clock_replace(clock_now_f *now, void *arg);
	/* For tests: use this clock; NULL brings the real one back.  Not while
	 * other threads run. */

#endif
