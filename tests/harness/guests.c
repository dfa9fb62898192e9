/* SPDX-License-Identifier: Apache-2.0
 *
 * guests.c: a hub with two guests, and where they stand.
 */

#include <config.h>

#include "tests/harness/guests.h"

#include <string.h>
#include <unistd.h>

#include "tests/harness/unit.h"

#define WINDOW	4u		/* of wish_plain */

struct guest a, b;
struct stand s[STANDS];

int
guests_start_with(void **state, uint64_t stage_bytes, unsigned speed,
    uint64_t job_of_b)
{
	leak_before(state);
	memset(s, 0, sizeof s);
	alarm(100);
	guesthub_start(stage_bytes, speed);
	guest_join(&a, 11);
	guest_join(&b, job_of_b);
	return 0;
}

int
guests_start(void **state)
{
	return guests_start_with(state, UINT64_C(64) << 20, 1, 12);
}

int
guests_start_small(void **state)
{
	return guests_start_with(state, 4 * 8192, 1, 12);
}

int
guests_stop(void **state)
{
	for (unsigned i = 0; i < STANDS; i++)
		stand_forget(&s[i]);
	if (a.sock >= 0)
		guest_leave(&a);
	if (b.sock >= 0)
		guest_leave(&b);
	guesthub_stop();
	alarm(0);
	return leak_after(state);
}

void
guests_attach(unsigned i, const struct wish *w)
{
	guest_attach(i % 2 == 0 ? &a : &b, w, &s[i]);
}

static void
fill_window(void)
{
	for (unsigned i = 0; i < WINDOW; i++)
		stand_make(&s[0], i);
}

void
guests_fill_alone(void)
{
	guests_attach(0, &wish_plain);
	stand_begin(&s[0], 0);
	fill_window();
}

void
guests_fill(uint32_t lag, uint64_t lag_ns)
{
	uint64_t start;

	guests_attach(0, &wish_plain);
	guests_attach(1, &wish_plain);
	stand_begin(&s[0], 0);
	assert_int_equal(stand_try_begin(&s[1], 0, 100, lag, lag_ns, &start),
	    MSG_BEGUN);
	stand_sit(&s[1], 0, 0);
	fill_window();
}
