/* SPDX-License-Identifier: Apache-2.0
 *
 * testline.h: a small line, checked after every step, for unit tests of
 * stage/line.c.
 */

#ifndef HARNESS_TESTLINE_H
#define HARNESS_TESTLINE_H

#include <stdint.h>

#include "stage/line.h"

#define RING	8u
#define PLACES	4u

extern struct line line;
extern struct line_unit units[RING];
extern struct line_place places[PLACES];

struct note {			/* of what the callbacks were told last */
	unsigned changed, retired;
	uint64_t unit;
	uint32_t slot;
};
extern struct note note;

void testline_start(uint64_t nr_units, uint64_t window, uint64_t at);
void testline_check(void);	/* fails with what is broken */

uint32_t testline_attach(uint64_t job);
uint64_t testline_begin(uint32_t p, uint64_t at);
	/* A member from a unit to the end; where it began. */
void testline_progress(uint32_t p, uint64_t taken, uint64_t released,
    uint64_t waits);

uint32_t testline_start_one(uint64_t nr_units, uint64_t window);
	/* With a member from unit 0 on, of job 1; its place. */
uint32_t testline_start_two(uint64_t nr_units, uint64_t window, uint32_t *b);
	/* And b, of job 2, which has not begun. */

uint32_t testline_lease(uint32_t p, uint64_t want);
	/* Of this unit, the next to be made; its generation. */
void testline_make(uint32_t p, uint64_t unit);
	/* Leases and publishes a unit; its slot is 100 + unit. */

#endif
