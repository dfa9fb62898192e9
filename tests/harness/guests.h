/* SPDX-License-Identifier: Apache-2.0
 *
 * guests.h: a hub with two guests, and where they stand: the set-up and the
 * tear-down of unit tests of the hub's side of the stage.
 */

#ifndef HARNESS_GUESTS_H
#define HARNESS_GUESTS_H

#include "tests/harness/guest.h"

#define STANDS	8u

extern struct guest a, b;
extern struct stand s[STANDS];		/* for the test; forgotten after it */

int guests_start_with(void **state, uint64_t stage_bytes, unsigned speed,
    uint64_t job_of_b);
int guests_start(void **state);		/* with 64 MiB */
int guests_start_small(void **state);	/* with four units */
int guests_stop(void **state);

#define GUESTS_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, guests_start, guests_stop)
#define GUESTS_SMALL_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, guests_start_small, guests_stop)

void guests_attach(unsigned i, const struct wish *w);
	/* s[i]: of a if i is even, else of b. */
void guests_fill_alone(void);
	/* a is a member, with four units made: the window is full. */
void guests_fill(uint32_t lag, uint64_t lag_ns);
	/* b also is one, with this policy. */

#endif
