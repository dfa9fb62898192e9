/* SPDX-License-Identifier: Apache-2.0
 *
 * slotshub.h: the memory of the stage on a loop and a helper as the hub has
 * them, for tests, which also play the clients.
 */

#ifndef HARNESS_SLOTSHUB_H
#define HARNESS_SLOTSHUB_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hub/hub_state.h"
#include "stage/slots.h"

#define MIB	((uint64_t)1 << 20)
#define PAGE	((uint64_t)getpagesize())

extern struct hub hub;
extern struct hub_options options;
extern struct slots *slots;
extern unsigned nr_freed;	/* calls of the one who is told of room */

/* Allocation, which is ours here, fails at the how-many-th call (0: at none),
 * or says that it is_there and waits for go_on. */
extern atomic_int fail_at;
extern atomic_bool is_held_up;
extern sem_t is_there, go_on;

void slotshub_begin(uint64_t budget_bytes);
void slotshub_finish(void);
void slotshub_settle(void);
	/* Until the helper has nothing to do. */

struct asked {			/* by slots_get() */
	unsigned	calls;	/* of ready(), with */
	int		rc;
	struct stage_slot *slot;
};

enum slots_answer slotshub_ask(struct asked *a, uint32_t client,
    uint64_t bytes);
struct stage_slot *slotshub_get(uint32_t client, uint64_t bytes);
	/* One that is there now or was made, with its owner told. */
struct stage_slot *slotshub_stage(uint32_t client, uint64_t bytes);
void slotshub_check_no_room(uint32_t client, uint64_t bytes);

struct slots_counts slotshub_counts(void);
uint64_t slotshub_memory(void);
	/* Bytes of all slots that are open in this process, counted once each:
	 * our own counts are not trusted with that. */

#endif
