/* SPDX-License-Identifier: Apache-2.0
 *
 * board.c: what the hub shows and what a client shows, in memory.
 * Runs in hub and clients.
 */

#include <config.h>

#include "stage/board.h"

#include <assert.h>
#include <stddef.h>

#include "base/futex.h"

#define BOARD_MAGIC	0x4453424fu	/* "DSBO" */
#define SEAT_MAGIC	0x44535345u	/* "DSSE" */
#define FLOOR_MAGIC	0x4453464cu	/* "DSFL" */

static_assert(sizeof(struct board_entry) == 64 &&
    offsetof(struct board, entries) == 128 &&
    offsetof(struct board, places) == 128 + 64 * BOARD_RING &&
    sizeof(struct board_place) == 16 &&
    sizeof(struct seat) == 72 &&
    sizeof(struct floor) == 48 + 4 * FLOOR_SLOTS,
    "the layout is shared between processes");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
    "a lock would be in one process only");
static_assert((BOARD_RING & (BOARD_RING - 1)) == 0,
    "the entry of a unit is its number modulo the ring");

const struct segment_kind board_kind = { "destall board", BOARD_MAGIC, 1 };
const struct segment_kind seat_kind = { "destall seat", SEAT_MAGIC, 1 };
const struct segment_kind floor_kind = { "destall floor", FLOOR_MAGIC, 1 };

int
board_wait(const _Atomic uint32_t *wake, uint32_t seen, uint64_t deadline_ns)
{
	return futex_wait(wake, seen, deadline_ns);
}

void
board_wake(_Atomic uint32_t *wake)
{
	futex_wake(wake);
}
