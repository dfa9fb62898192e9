/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.c: taps as the operands of vector instructions.
 * Runs in clients, in any of their threads.
 */

#include <config.h>

#include "prep/steps.h"

#include <string.h>

static uint32_t
nr_groups(uint32_t nr)
{
	return (nr + STEP_GROUP - 1) / STEP_GROUP;
}

size_t
steps_nr(uint32_t nr, uint32_t pairs)
{
	return (size_t)nr_groups(nr) * (STEP_GROUP / STEP_OUTPUTS) * pairs;
}

/* The window of outputs i.., of which there are up to four; `whole` is set to
 * whether all of their taps are in it. */
static bool
find_window(const struct taps *t, uint32_t i, uint32_t *begin, bool *whole)
{
	uint32_t last = i + 4 <= t->nr ? i + 3 : t->nr - 1;
	uint32_t start = t->first[last], end = start + t->count[last];

	*begin = start;
	for (; i < last; i++) {
		if (t->first[i] < *begin)
			*begin = t->first[i];
		if (t->first[i] > start)
			start = t->first[i];
		if (t->first[i] + t->count[i] > end)
			end = t->first[i] + t->count[i];
	}
	*whole = end - *begin <= STEP_WINDOW;
	return start + 2 - *begin <= STEP_WINDOW;
}

/* Do all fours of outputs fit windows? */
static bool
choose_moving(struct taps *t)
{
	uint32_t begin;
	bool whole;

	t->moving = false;
	for (uint32_t i = 0; i < t->nr; i += 4) {
		if (!find_window(t, i, &begin, &whole))
			return false;
		if (!whole)
			t->moving = true;
	}
	return true;
}

/* One output's place in its steps. */
static inline void
put_output(struct step *step, const struct taps *t, uint32_t i,
    uint32_t window, unsigned reg, unsigned slot, unsigned byte_slot)
{
	const int32_t *w = t->weight + (size_t)i * t->stride;
	uint32_t pick = 0x80018000u + (t->first[i] - window) * 0x00010001u;

	/* A weight of 1 does not fit 7 bits: two halves of the same pixel. */
	if (t->count[i] == 1) {
		pick -= 0x00010000u;
		memcpy(step->pick[reg] + 4 * slot, &pick, 4);
		step->high[2 * byte_slot] = step->high[2 * byte_slot + 1] = 64;
		return;
	}
	for (uint32_t k = 0; k < t->pairs; k++, step++, w += 2) {
		uint32_t low = taps_low(w[0]) | taps_low(w[1]) << 16;
		uint32_t high = taps_high(w[0]) | taps_high(w[1]) << 8;
		uint16_t bytes = (uint16_t)high;

		memcpy(step->pick[reg] + 4 * slot, &pick, 4);
		memcpy(step->low[reg] + 2 * slot, &low, 4);
		memcpy(step->high + 2 * byte_slot, &bytes, 2);
		pick += t->moving ? 0 : 0x00020002u;
	}
}

/* The four outputs in one lane of a register. */
static void
put_four(struct step *step, uint32_t *window, const struct taps *t, uint32_t i,
    unsigned reg, unsigned lane)
{
	bool whole;

	*window = 0;
	if (i >= t->nr)
		return;
	find_window(t, i, window, &whole);
	for (unsigned q = 0; q < 4 && i + q < t->nr; q++)
		put_output(step, t, i + q, *window, reg, 4 * lane + q,
		    8 * lane + 4 * reg + q);
	*window -= t->begin;
}

bool
steps_make(struct taps *t)
{
	uint32_t pairs = (t->most + 1) / 2, *window = t->windows;
	struct step *step = t->steps;

	if (!choose_moving(t))
		return false;
	t->pairs = pairs;
	memset(step, 0, steps_nr(t->nr, pairs) * sizeof *step);
	for (uint32_t i = 0; i < t->nr; i += STEP_GROUP) {
		for (uint32_t j = i; j < i + 16; j += 8) {
			for (unsigned n = 0; n < STEP_FOURS; n++)
				put_four(step, window++, t,
				    j + 4 * (n / 2) + 16 * (n % 2), n / 2,
				    n % 2);
			step += pairs;
		}
	}
	return true;
}
