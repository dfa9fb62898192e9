/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h: taps as the operands of vector instructions.
 * Runs in clients, in any of their threads.
 *
 * Sixteen outputs are made at once, of one plane, by two registers of two lanes
 * with four outputs each.  Each four of outputs find all their source bytes in
 * one window of 16 bytes; a step picks of it, for each of them, the next two
 * taps as 16-bit numbers, and has the weights in the same order.  Where not all
 * bytes but the first two of each fit, the window moves on by two at each step.  Of a group of
 * 32 outputs, the lanes of the first sixteen are
 *
 *     register 0:   0..3    16..19
 *     register 1:   4..7    20..23
 *
 * and of the second sixteen the same plus 8, so that packing the results of all
 * of them to bytes puts each where it belongs.
 */

#ifndef PREP_STEPS_H
#define PREP_STEPS_H

#include "prep/taps.h"

#define STEP_OUTPUTS	16u	/* of one step */
#define STEP_GROUP	32u
#define STEP_FOURS	(STEP_OUTPUTS / 4)
#define STEP_WINDOW	16u	/* bytes */

struct step {
	uint8_t		pick[2][32];	/* of the windows; 0x80 gives 0 */
	int16_t		low[2][16];
	int8_t		high[32];	/* both registers packed to bytes */
};

size_t steps_nr(uint32_t nr, uint32_t pairs);
	/* How many there are for so many outputs. */
bool steps_make(struct taps *t);
	/* Fills t->steps and t->windows, sets t->pairs and t->moving.  False if
	 * some four of outputs do not fit windows: that is for sources more
	 * than TAPS_FEW times as large. */

#endif
