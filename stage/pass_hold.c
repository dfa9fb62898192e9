/* SPDX-License-Identifier: Apache-2.0
 *
 * pass_hold.c: what a job holds of a pass, and what its seat says of that.
 * Runs in clients, in any of their threads, with the desk's lock held
 * (stage.h).
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/crash.h"
#include "base/must.h"
#include "stage/stage.h"

/*--- lists of holds ------------------------------------------------------*/

static void
append(struct holds *list, struct hold *h)
{
	h->next = NULL;
	h->prev = list->last;
	if (list->last != NULL)
		list->last->next = h;
	else
		list->first = h;
	list->last = h;
}

static void
take_out(struct holds *list, struct hold *h)
{
	if (h->prev != NULL)
		h->prev->next = h->next;
	else
		list->first = h->next;
	if (h->next != NULL)
		h->next->prev = h->prev;
	else
		list->last = h->prev;
}

/* What a fork has made private is found here, too. */
static void
move_private(struct ds_pass *p)
{
	struct hold *h;

	while ((h = p->holds.first) != NULL && h->map->is_private) {
		take_out(&p->holds, h);
		h->pass = NULL;
		append(&p->stage->kept, h);
	}
}

/*--- the seat ------------------------------------------------------------*/

void
pass_stop_waiting(struct ds_pass *p)
{
	/* seq_cst: as show() */
	atomic_store_explicit(&p->seat->waits, BOARD_NEVER,
	    memory_order_seq_cst);
}

/* All seq_cst: stored before need_taken and need_released are looked at, as
 * the hub stores those before it looks at seats (board.h, rule 4); and in the
 * order of stage.h, rule 7. */
static void
show(struct ds_pass *p, uint64_t taken, struct pass_news *n)
{
	uint64_t was_taken = p->taken, was_released = p->released, need;

	move_private(p);
	p->released = p->holds.first != NULL ? p->holds.first->unit : taken;
	if (taken != was_taken) {
		p->taken = taken;
		pass_stop_waiting(p);
		atomic_store_explicit(&p->seat->taken, p->taken,
		    memory_order_seq_cst);
	}
	if (p->released != was_released)
		atomic_store_explicit(&p->seat->released, p->released,
		    memory_order_seq_cst);
	need = atomic_load_explicit(&p->board->need_taken,
	    memory_order_seq_cst);
	if (was_taken < need && need <= p->taken)
		n->news = true;
	need = atomic_load_explicit(&p->board->need_released,
	    memory_order_seq_cst);
	if (was_released <= need && need < p->released)
		n->news = true;
}

void
pass_start(struct ds_pass *p, uint64_t start)
{
	p->is = MEMBER;
	p->is_detached = false;
	p->taken = p->released = start;
	pass_stop_waiting(p);
	/* release: pair with the hub's acquires; board.h, rule 7 */
	atomic_store_explicit(&p->seat->taken, start, memory_order_release);
	atomic_store_explicit(&p->seat->released, start,
	    memory_order_release);
}

void
pass_advance(struct ds_pass *p, uint64_t taken, struct pass_news *n)
{
	must(taken >= p->taken);
	show(p, taken, n);
}

/*--- holding -------------------------------------------------------------*/

int
pass_hold(struct ds_pass *p, struct map *map, uint64_t unit, size_t len,
    struct hold **out, struct ds_err *err)
{
	struct hold *h = calloc(1, sizeof *h);

	if (h == NULL)
		return err_fail(err, -ENOMEM, "no memory to hold a unit");
	maps_hold(map, len);
	h->stage = p->stage;
	h->pass = p;
	h->unit = unit;
	h->map = map;
	append(&p->holds, h);
	*out = h;
	return 0;
}

void
pass_hold_copy(struct hold *h, struct map *copy)
{
	maps_put(h->stage->desk->maps, h->map);
	h->map = copy;
}

int
pass_make_private(struct ds_pass *p, uint64_t before, struct pass_news *n,
    struct ds_err *err)
{
	struct maps *maps = p->stage->desk->maps;
	int rc = 0;

	for (struct hold *h = p->holds.first; h != NULL && rc == 0 &&
	    h->unit < before; h = h->next) {
		if (!h->map->is_private)
			rc = maps_make_private(maps, h->map, err);
	}
	(void)crash_point("stage.private");
	show(p, p->taken, n);
	return rc;
}

void
pass_drop(struct hold *h, struct pass_news *n)
{
	struct ds_stage *s = h->stage;
	struct ds_pass *p = h->pass;

	if (maps_release(s->desk->maps, h->map))
		s->copies = MAPS_COPIES;
	(void)crash_point("stage.released");
	take_out(p != NULL ? &p->holds : &s->kept, h);
	free(h);
	if (p != NULL)
		show(p, p->taken, n);
}

void
pass_forget_holds(struct holds *list)
{
	struct hold *h;

	while ((h = list->first) != NULL) {
		take_out(list, h);
		free(h);
	}
}

/*--- what it owes --------------------------------------------------------*/

bool
pass_is_done(const struct ds_pass *p)
{
	return p->is_closed && p->holds.first == NULL;
}

void
pass_settle(struct ds_pass *p, struct pass_news *n)
{
	move_private(p);
	if (p->holds.first != NULL)
		return;
	if (p->is == OWES_END) {
		p->is = NO_MEMBER;
		pass_stop_waiting(p);
		n->end = true;
	}
	if (p->is_closed)
		n->leave = true;
}
