/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_slots_churn.c: clients that do anything with slots, in any order: the
 * budget is never exceeded, and nothing stays.  DS_LONG=1 does more of it.
 */

#include <config.h>

#include "stage/slots.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/rng.h"
#include "tests/harness/slotshub.h"
#include "tests/harness/unit.h"

#define CLIENTS	6u
#define MOST	64u

/* What the clients have: a descriptor each, as their maps would be. */
static struct {
	struct stage_slot *slot;	/* NULL: put, and not to be used */
	uint32_t number, owner;
	int fd[CLIENTS + 1];
} known[MOST];
static struct asked pending[CLIENTS + 1];
static bool is_pending[CLIENTS + 1];
static struct rng rng;

static unsigned
draw(unsigned below)
{
	return (unsigned)rng_below(&rng, below);
}

static void
learn(struct stage_slot *slot)
{
	unsigned i = 0;

	while (i < MOST && known[i].number != slot->number)
		i++;
	for (unsigned j = 0; i == MOST && j < MOST; j++) {
		if (known[j].number == 0)
			i = j;
	}
	assert_true(i < MOST);
	if (known[i].number == 0) {
		for (unsigned c = 0; c <= CLIENTS; c++)
			known[i].fd[c] = -1;
		known[i].number = slot->number;
		known[i].owner = slot->owner;
	}
	known[i].slot = slot;
	if (!slot->is_given) {
		known[i].fd[slot->owner] = fcntl(slot->fd, F_DUPFD_CLOEXEC, 3);
		slot->is_given = true;
	}
}

static void
take_pending(void)
{
	for (unsigned c = 1; c <= CLIENTS; c++) {
		if (!is_pending[c] || pending[c].calls == 0)
			continue;
		assert_int_equal(pending[c].calls, 1);
		is_pending[c] = false;
		if (pending[c].slot != NULL)
			learn(pending[c].slot);
	}
}

static void
unmap(unsigned i, unsigned c)
{
	bool any = false;

	io_close(&known[i].fd[c]);
	for (unsigned j = 1; j <= CLIENTS; j++)
		any = any || known[i].fd[j] >= 0;
	if (!any && known[i].slot == NULL)
		known[i].number = 0;
}

static void
lose_client(unsigned c)
{
	for (unsigned i = 0; i < MOST; i++) {
		if (known[i].number == 0)
			continue;
		if (known[i].owner == c && known[i].slot != NULL &&
		    known[i].slot->is == SLOT_IS_WRITING)
			known[i].slot = NULL;
		unmap(i, c);
	}
	slots_client_gone(slots, c);
}

static void
change_state(unsigned i)
{
	struct stage_slot *slot = known[i].slot;
	struct ds_err err;

	if (slot->is == SLOT_IS_WRITING && draw(4) > 0) {
		assert_int_equal(slots_seal(slots, slot, &err), 0);
		slots_stage(slots, slot);
	} else if (slot->is == SLOT_IS_STAGED && draw(4) == 0) {
		slots_hold(slots, slot);
	} else {
		known[i].slot = NULL;
		slots_put(slots, slot);
		unmap(i, 0);	/* forgets it, if nobody has it */
	}
}

static void
map(unsigned i, unsigned c)
{
	struct stage_slot *slot = known[i].slot;

	if (slots_give(slots, slot, c) == 0 && known[i].fd[c] < 0)
		known[i].fd[c] = fcntl(slot->fd, F_DUPFD_CLOEXEC, 3);
}

/* As a client would: of those that are GONE, or any, for it may. */
static void
tell_unmapped(unsigned i, unsigned c)
{
	uint32_t number = known[i].number;
	const struct stage_slot *slot = slots_find(slots, number);

	if (known[i].fd[c] < 0 || (slot->is != SLOT_IS_GONE && draw(10) > 0))
		return;
	unmap(i, c);
	slots_unmapped(slots, number, c);
}

static void
ask_for_some(unsigned c)
{
	enum slots_answer answer;

	if (is_pending[c])
		return;
	answer = slotshub_ask(&pending[c], c, 1 + rng_below(&rng, MIB));
	if (answer == SLOTS_NOW)
		learn(pending[c].slot);
	is_pending[c] = answer == SLOTS_LATER;
	if (answer == SLOTS_NO_ROOM && draw(3) == 0)
		(void)slots_make_room(slots, MIB, clock_now_ns() +
		    draw(2) * 2 * SLOTS_IDLE_NS);
}

static void
do_anything(void)
{
	unsigned i = draw(MOST), c = 1 + draw(CLIENTS), what = draw(100);

	if (what < 30)
		ask_for_some(c);
	else if (what < 33 && !is_pending[c])
		lose_client(c);
	else if (what < 40)
		slotshub_settle();
	else if (known[i].number != 0 && what < 60)
		tell_unmapped(i, c);
	else if (known[i].number != 0 && known[i].slot != NULL && what < 80)
		change_state(i);
	else if (known[i].number != 0 && known[i].slot != NULL)
		map(i, c);
	take_pending();
}

static void
churn_stays_within_the_budget(void **state)
{
	const char *lengthy = getenv("DS_LONG");
	unsigned steps = lengthy != NULL && *lengthy != '\0' ? 200000 : 8000;

	(void)state;
	rng_init(&rng, RNG_SAMPLE, 7, 1, 0);
	slotshub_begin(8 * MIB);
	for (unsigned n = 0; n < steps; n++) {
		do_anything();
		assert_true(slotshub_counts().used_bytes <= 8 * MIB);
		if (n % 16 == 0)
			assert_true(slotshub_memory() <= 8 * MIB);
	}
	slotshub_settle();
	take_pending();
	assert_true(slotshub_counts().most_bytes > 7 * MIB);
	assert_true(slotshub_counts().gone > steps / 200);
	for (unsigned c = 1; c <= CLIENTS; c++)
		lose_client(c);
	for (unsigned i = 0; i < MOST; i++) {
		if (known[i].number != 0 && known[i].slot != NULL)
			slots_put(slots, known[i].slot);
		known[i].number = 0;
	}
	slotshub_settle();
	assert_int_equal(slotshub_counts().used_bytes, 0);
	assert_int_equal(slotshub_counts().nr, 0);
	assert_int_equal(slotshub_memory(), 0);
	assert_int_equal(slotshub_counts().made, slotshub_counts().gone);
	slotshub_finish();
}

UNIT_MAIN(
	UNIT(churn_stays_within_the_budget))
