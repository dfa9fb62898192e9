/* SPDX-License-Identifier: Apache-2.0
 *
 * rules_hub.c: what the hub does in the model: a turn of its loop each, over
 * the real rules of cache/minio.c.
 */

#include <config.h>

#include "tests/model/world.h"

#include <errno.h>
#include <string.h>

/*--- words that are used below -------------------------------------------*/

static void
wake(struct world *w, unsigned set)
{
	for (unsigned c = 0; c < MAX_CLIENTS; c++) {
		struct person *p = &w->client[c];

		if (p->life == ALIVE && p->set == set && p->at >= AT_LOADED &&
		    p->at <= AT_WAIT)
			p->woken = 1;
	}
}

/* An answer to a request for a lease, if there is still one who asked. */
static void
answer(struct world *w, struct turn *t, unsigned c, enum minio_answer what)
{
	struct person *p = &w->client[c];

	if (p->life != ALIVE)
		return;
	if (what == MINIO_CLOSED) {
		tell(t, ": client %c is to read it itself", letter(c));
		p->done |= bit(p->item);
		p->item = NONE;
		p->woken = 0;
		p->at = AT_PICK;
		return;
	}
	p->at = AT_WAIT;
	if (what == MINIO_LOOK)
		p->woken = 1;
	tell(t, ": client %c %s", letter(c),
	    what == MINIO_LOOK ? "is to look again" : "is to wait");
}

/* Its memory counts until nobody has it any more. */
static void
quarantine(struct world *w, struct turn *t, struct file *f)
{
	f->place = QUARANTINE;
	f->claimed = f->filled = f->corrupt = 0;
	if (!is_broken_by(t, BREAK_QUARANTINE))
		return;
	w->used--;
	if ((f->writers | f->readers) == 0)
		file_remove(w, f);
}

static void
revoke(struct world *w, struct turn *t, unsigned set, unsigned item)
{
	uint32_t generation = item_generation(word_of(w, set, item));
	struct file *f = file_of(w, set, item, generation);

	tell(t, ", lease %u of item %u is taken back", generation, item);
	if (f != NULL && f->place == DRAFT)
		quarantine(w, t, f);
	minio_revoke(&w->set[set].m, item_of(w, set, item));
	if (!is_broken_by(t, BREAK_WAKE_REVOKE))
		wake(w, set);
}

/* A client leaves its set, of its own will or not. */
static void
leave(struct world *w, struct turn *t, unsigned c)
{
	unsigned set = w->client[c].member - 1u;

	if (w->client[c].member == 0)
		return;
	for (unsigned i = 0; i < t->cfg->items; i++) {
		uint64_t word = word_of(w, set, i);
		struct file *f = file_of(w, set, i, item_generation(word));

		if (item_state(word) == ITEM_LEASED && f != NULL &&
		    f->client == c && !is_broken_by(t, BREAK_REVOKE))
			revoke(w, t, set, i);
	}
	if (!is_broken_by(t, BREAK_LEAVE))
		minio_leave(&w->set[set].m);
	w->client[c].member = 0;
}

static void
drop_set(struct world *w, struct turn *t, unsigned set)
{
	tell(t, ", set %u is dropped", set);
	for (unsigned i = MAX_FILES; i-- > 0;) {
		struct file *f = &w->file[i];

		if (f->place == NAMED && f->number == w->set[set].number)
			quarantine(w, t, f);
	}
	memset(&w->set[set], 0, sizeof w->set[set]);
}

/*--- messages ------------------------------------------------------------*/

static void
handle_open(struct world *w, struct turn *t, unsigned c, unsigned set)
{
	struct data_set *d = &w->set[set];

	tell(t, "OPEN of set %u", set);
	if (d->number == 0)
		d->number = ++w->sets;
	minio_join(&d->m, c + 1u == t->cfg->clients ?
	    t->cfg->cap - t->cfg->last_cap_less : t->cfg->cap);
	w->client[c].member = (uint8_t)(set + 1);
	if (w->client[c].life == ALIVE)
		w->client[c].at = AT_PICK;
}

/* Room for one more, now?  If not, what nobody uses goes. */
static bool
has_room(struct world *w, struct turn *t)
{
	if (w->used < t->cfg->budget)
		return true;
	for (unsigned s = 0; s < t->cfg->sets; s++)
		if (w->set[s].number != 0 && w->set[s].m.users == 0) {
			drop_set(w, t, s);
			break;
		}
	return false;
}

static bool
room_will_come(const struct world *w)
{
	for (unsigned i = 0; i < MAX_FILES; i++)
		if (w->file[i].place == QUARANTINE)
			return true;
	return false;
}

static void
handle_lease(struct world *w, struct turn *t, unsigned c,
    const struct message *m)
{
	struct data_set *d = &w->set[m->set];
	struct minio_item it = item_of(w, m->set, m->item);
	enum minio_answer a;

	tell(t, "LEASE of item %u", m->item);
	a = minio_ask(&d->m, it, number_of(t, c), c + 1u == t->cfg->clients);
	if (a == MINIO_CLOSED && !d->m.closed)
		t->step->broken = "10: it did not fit and closed nothing";
	if (a != MINIO_GRANT) {
		answer(w, t, c, a);
		return;
	}
	if (!has_room(w, t)) {
		minio_no_room(&d->m, it, !room_will_come(w));
		wake(w, m->set);
		answer(w, t, c, MINIO_CLOSED);
		return;
	}
	w->used++;
	file_add(w, m->set, m->item, item_generation(word_of(w, m->set,
	    m->item)))->client = (uint8_t)c;
	tell(t, ": lease %u, the helper allocates",
	    item_generation(word_of(w, m->set, m->item)));
}

static void
name_file(struct world *w, struct turn *t, unsigned set, struct file *f)
{
	uint64_t word = word_of(w, set, f->item);

	f->place = NAMED;
	f->claimed = 0;
	(void)minio_publish(&w->set[set].m, item_of(w, set, f->item),
	    item_owner(word), item_generation(word));
	tell(t, ", item %u is READY", f->item);
	if (!is_broken_by(t, BREAK_WAKE))
		wake(w, set);
}

/* Rule 8: nothing but the count. */
static void
check_late(const struct world *before, const struct world *after,
    unsigned set, bool counted, struct turn *t)
{
	struct world same;

	memcpy(&same, after, sizeof same);
	same.set[set].m.late -= counted;
	if (memcmp(&same, before, sizeof same) != 0)
		t->step->broken = "8: one who is late changed something";
}

static void
handle_publish(struct world *w, struct turn *t, unsigned c,
    const struct message *m)
{
	struct minio_set *s = &w->set[m->set].m;
	struct minio_item it = item_of(w, m->set, m->item);
	uint64_t word = word_of(w, m->set, m->item);
	uint32_t owner = number_of(t, c), generation = m->generation;
	struct world before;
	struct file *f;

	tell(t, "PUBLISH of item %u (lease %u)", m->item, m->generation);
	if (is_broken_by(t, BREAK_GENERATION)) {
		owner = item_owner(word);
		generation = item_generation(word);
	}
	memcpy(&before, w, sizeof before);
	if (minio_check(s, it, owner, generation) < 0) {
		tell(t, ": too late");
		check_late(&before, w, m->set, true, t);
		return;
	}
	/* The hub keeps one draft for an item: that of the lease. */
	f = file_of(w, m->set, m->item, item_generation(word));
	if (f == NULL || f->place != DRAFT)
		return;
	if (f->writers != 0 && !is_broken_by(t, BREAK_PROOF)) {
		tell(t, ": somebody can still write it");
		f->claimed = 1;
		return;
	}
	name_file(w, t, m->set, f);
}

static void
handle_give_up(struct world *w, struct turn *t, unsigned c,
    const struct message *m)
{
	struct minio_set *s = &w->set[m->set].m;
	struct minio_item it = item_of(w, m->set, m->item);
	struct world before;
	int rc;

	tell(t, "%s of item %u (lease %u)", m->what == FAIL ? "failure" :
	    "GIVE_UP", m->item, m->generation);
	memcpy(&before, w, sizeof before);
	if (m->what == FAIL)
		rc = minio_fail(s, it, number_of(t, c), m->generation);
	else
		rc = minio_return(s, it, number_of(t, c), m->generation);
	if (rc < 0) {
		tell(t, ": too late");
		check_late(&before, w, m->set, false, t);
		return;
	}
	quarantine(w, t, file_of(w, m->set, m->item, m->generation));
	wake(w, m->set);
}

static void
handle_report(struct world *w, struct turn *t, const struct message *m)
{
	uint64_t word = word_of(w, m->set, m->item);
	struct file *f = file_of(w, m->set, m->item, m->generation);

	tell(t, "REPORT of item %u (lease %u)", m->item, m->generation);
	if (item_state(word) != ITEM_READY ||
	    item_generation(word) != m->generation)
		return;
	if (!f->corrupt && !is_broken_by(t, BREAK_REPORT))
		return;
	tell(t, ": it goes");
	minio_corrupt(&w->set[m->set].m, item_of(w, m->set, m->item));
	if (is_broken_by(t, BREAK_REOPEN))
		w->set[m->set].m.closed = false;
	quarantine(w, t, f);
	wake(w, m->set);
}

static bool
handle(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];
	struct message m = p->queue[0];

	(void)b;
	if (p->life == GONE || m.what == NOTHING)
		return false;
	memmove(&p->queue[0], &p->queue[1], (MAX_QUEUE - 1) * sizeof m);
	memset(&p->queue[MAX_QUEUE - 1], 0, sizeof m);
	tell(t, "the hub handles client %c's ", letter(c));
	switch ((enum what)m.what) {
	case OPEN:
		handle_open(w, t, c, m.set);
		break;
	case CLOSE:
		tell(t, "CLOSE");
		leave(w, t, c);
		break;
	case LEASE:
		handle_lease(w, t, c, &m);
		break;
	case PUBLISH:
		handle_publish(w, t, c, &m);
		break;
	case GIVE_UP:
	case FAIL:
		handle_give_up(w, t, c, &m);
		break;
	case REPORT:
		handle_report(w, t, &m);
		break;
	case NOTHING:
		break;
	}
	w->set[m.set].m.late = 0;	/* would count for ever */
	return true;
}

/*--- what comes by itself ------------------------------------------------*/

static bool
reap(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];

	(void)b;
	if (p->life != DEAD)
		return false;
	tell(t, "the hub learns that client %c is dead", letter(c));
	p->life = GONE;
	leave(w, t, c);
	memset(p->queue, 0, sizeof p->queue);
	return true;
}

/* To a dead client: its socket holds it as long as a child has that open. */
static void
hand_out(struct world *w, struct turn *t, struct file *f)
{
	struct person *p = &w->client[f->client];

	f->place = DRAFT;
	tell(t, ": client %c may write it", letter(f->client));
	if (p->life == ALIVE) {
		f->writers = bit(f->client);
		p->at = AT_GRANTED;
		p->generation = f->generation;
		p->woken = 0;
	} else if (p->orphan == ORPHAN) {
		f->writers = orphan_bit(f->client);
	}
}

static bool
allocated(struct world *w, struct turn *t, unsigned i, unsigned failed)
{
	struct file *f = &w->file[i];
	unsigned c = f->client, item = f->item, set = 0;
	bool holds;

	if (f->place != IN_HELPER || (failed && !t->cfg->no_memory))
		return false;
	while (set < t->cfg->sets && w->set[set].number != f->number)
		set++;
	holds = set < t->cfg->sets && (is_broken_by(t, BREAK_HOLDS) ||
	    minio_holds(item_of(w, set, item), number_of(t, c), f->generation));
	tell(t, "the helper has %s for item %u (lease %u)",
	    failed ? "no memory" : "memory", item, f->generation);
	if (holds && !failed) {
		hand_out(w, t, f);
		return true;
	}
	w->used--;
	file_remove(w, f);
	if (holds) {
		minio_no_room(&w->set[set].m, item_of(w, set, item), true);
		wake(w, set);
	}
	answer(w, t, c, holds ? MINIO_CLOSED : MINIO_BUSY);
	return true;
}

static bool
expire(struct world *w, struct turn *t, unsigned set, unsigned item)
{
	uint64_t word = word_of(w, set, item);
	struct file *f;

	if (set >= t->cfg->sets || item_state(word) != ITEM_LEASED)
		return false;
	f = file_of(w, set, item, item_generation(word));
	if (f == NULL || f->place != DRAFT)
		return false;
	tell(t, "the time is over");
	revoke(w, t, set, item);
	return true;
}

/* Not counted on to wake anybody: the helper ends some day. */
static bool
expire_early(struct world *w, struct turn *t, unsigned set, unsigned item)
{
	uint64_t word = word_of(w, set, item);
	struct file *f;

	if (w->early == 0 || set >= t->cfg->sets ||
	    item_state(word) != ITEM_LEASED)
		return false;
	f = file_of(w, set, item, item_generation(word));
	if (f == NULL || f->place != IN_HELPER)
		return false;
	w->early--;
	tell(t, "the time is over before the helper is done");
	revoke(w, t, set, item);
	return true;
}

static bool
retry(struct world *w, struct turn *t, unsigned i, unsigned b)
{
	struct file *f = &w->file[i];
	unsigned set = 0;

	(void)b;
	if (f->place != DRAFT || !f->claimed || f->writers != 0)
		return false;
	while (w->set[set].number != f->number)
		set++;
	tell(t, "the hub tries again");
	name_file(w, t, set, f);
	return true;
}

static bool
free_file(struct world *w, struct turn *t, unsigned i, unsigned b)
{
	struct file *f = &w->file[i];

	(void)b;
	if (f->place != QUARANTINE || (f->writers | f->readers) != 0)
		return false;
	tell(t, "the memory of item %u (lease %u) is free", f->item,
	    f->generation);
	if (!is_broken_by(t, BREAK_QUARANTINE))
		w->used--;
	file_remove(w, f);
	return true;
}

static bool
drop(struct world *w, struct turn *t, unsigned set, unsigned b)
{
	(void)b;
	if (!t->cfg->drops || set >= t->cfg->sets || w->set[set].number == 0 ||
	    (w->set[set].m.users > 0 && !is_broken_by(t, BREAK_DROP_IN_USE)))
		return false;
	tell(t, "somebody asks to drop set %u", set);
	drop_set(w, t, set);
	return true;
}

const struct rule hub_rules[] = {
	{ handle, MAX_CLIENTS, 1, true },
	{ reap, MAX_CLIENTS, 1, true },
	{ allocated, MAX_FILES, 1, true },
	{ expire, MAX_SETS, MAX_ITEMS, true },
	{ retry, MAX_FILES, 1, true },
	{ free_file, MAX_FILES, 1, true },
	{ allocated, MAX_FILES, 2, false },	/* 1: fails */
	{ expire_early, MAX_SETS, MAX_ITEMS, false },
	{ drop, MAX_SETS, 1, false },
	{ NULL, 0, 0, false },
};
