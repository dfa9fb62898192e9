/* SPDX-License-Identifier: Apache-2.0
 *
 * rules_client.c: what clients and their orphans may do in the model, and what
 * may happen to them.
 */

#include <config.h>

#include "tests/model/world.h"

#include <string.h>

static bool
is_at(const struct world *w, unsigned c, enum at at)
{
	return w->client[c].life == ALIVE && w->client[c].at == at;
}

static bool
push(struct person *p, enum what what)
{
	for (unsigned i = 0; i < MAX_QUEUE; i++) {
		struct message *m = &p->queue[i];

		if (m->what != NOTHING)
			continue;
		m->what = (uint8_t)what;
		m->set = p->set;
		m->item = p->item;
		m->generation = p->generation;
		return true;
	}
	return false;
}

/* Done with its item, for this visit or for now. */
static void
put_item(struct person *p, bool done)
{
	if (done)
		p->done |= bit(p->item);
	p->at = AT_PICK;
	p->item = NONE;
	p->generation = p->woken = p->saw = 0;
}

/*--- a data set ----------------------------------------------------------*/

static bool
open_set(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];
	uint8_t visit = p->visit < MAX_VISITS ?
	    t->cfg->visits[c][p->visit] : 0;

	(void)b;
	if (!is_at(w, c, AT_START) || visit == 0)
		return false;
	p->set = (uint8_t)(visit - 1);
	if (!push(p, OPEN))
		return false;
	tell(t, "client %c asks to open set %u", letter(c), p->set);
	p->at = AT_OPENING;
	return true;
}

static bool
close_set(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];

	(void)b;
	if (!is_at(w, c, AT_PICK) || p->done != bit(t->cfg->items) - 1 ||
	    !push(p, CLOSE))
		return false;
	tell(t, "client %c has read all of set %u and closes it", letter(c),
	    p->set);
	p->done = 0;
	p->visit++;
	p->at = p->visit < MAX_VISITS && t->cfg->visits[c][p->visit] != 0 ?
	    AT_START : AT_END;
	return true;
}

/*--- looking -------------------------------------------------------------*/

static void
begin_look(struct world *w, struct turn *t, struct person *p)
{
	if (is_broken_by(t, BREAK_LOAD_ORDER)) {
		p->saw = (uint8_t)item_state(word_of(w, p->set, p->item));
		p->at = AT_LOOKED;
		tell(t, " looks at item %u", p->item);
	} else {
		p->woken = 0;
		p->at = AT_LOADED;
		tell(t, " loads wake, to look at item %u", p->item);
	}
}

static bool
pick(struct world *w, struct turn *t, unsigned c, unsigned item)
{
	struct person *p = &w->client[c];

	if (!is_at(w, c, AT_PICK) || item >= t->cfg->items ||
	    (p->done & bit(item)) != 0)
		return false;
	p->item = (uint8_t)item;
	tell(t, "client %c", letter(c));
	begin_look(w, t, p);
	return true;
}

static bool
go_on(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];

	(void)b;
	if (!is_at(w, c, AT_WAIT) || !p->woken)
		return false;
	p->generation = 0;
	tell(t, "client %c was woken,", letter(c));
	begin_look(w, t, p);
	return true;
}

/* The last client tries items again that failed. */
static bool
is_stubborn(const struct turn *t, unsigned c)
{
	return c + 1u == t->cfg->clients;
}

static bool
ask_for(struct turn *t, struct person *p)
{
	if (!push(p, LEASE))
		return false;
	tell(t, " and asks for the lease");
	p->at = AT_ASKED;
	return true;
}

static bool
look(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	static const char *const names[] = {
		"EMPTY", "LEASED", "READY", "FAILED"
	};
	struct person *p = &w->client[c];
	enum item_state state;
	uint64_t word;

	(void)b;
	if (!is_at(w, c, AT_LOADED) && !is_at(w, c, AT_LOOKED))
		return false;
	word = word_of(w, p->set, p->item);
	state = p->at == AT_LOADED ? item_state(word) :
	    (enum item_state)p->saw;
	if (p->at == AT_LOOKED)
		p->woken = 0;
	p->saw = 0;
	tell(t, "client %c finds item %u %s", letter(c), p->item, names[state]);
	switch (state) {
	case ITEM_LEASED:
		p->at = AT_WAIT;
		tell(t, " and waits");
		return true;
	case ITEM_READY:
		p->generation = (uint8_t)item_generation(word);
		p->at = AT_FOUND;
		return true;
	case ITEM_FAILED:
		if (is_stubborn(t, c))
			return ask_for(t, p);
		break;
	case ITEM_EMPTY:
		if (!w->set[p->set].m.closed)
			return ask_for(t, p);
		tell(t, " and closed, and reads it itself");
		break;
	}
	put_item(p, true);
	return true;
}

/*--- filling -------------------------------------------------------------*/

static bool
fill(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];
	struct file *f;

	(void)b;
	if (!is_at(w, c, AT_GRANTED) && !is_at(w, c, AT_HALF))
		return false;
	tell(t, "client %c writes %s half of item %u", letter(c),
	    p->at == AT_GRANTED ? "one" : "the other", p->item);
	f = file_of(w, p->set, p->item, p->generation);
	if (f != NULL && f->place == DRAFT)
		f->filled++;
	p->at++;
	return true;
}

/* Closes the descriptor, says what came of it, and goes to the next item. */
static bool
end_fill(struct world *w, struct person *p, unsigned c, enum what what)
{
	struct file *f = file_of(w, p->set, p->item, p->generation);

	if (!push(p, what))
		return false;
	if (f != NULL)
		f->writers &= (uint8_t)~bit(c);
	put_item(p, true);
	return true;
}

static bool
publish(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];

	(void)b;
	if (!is_at(w, c, AT_FILLED))
		return false;
	tell(t, "client %c closes item %u and publishes it (lease %u)",
	    letter(c), p->item, p->generation);
	return end_fill(w, p, c, PUBLISH);
}

static bool
give_up(struct world *w, struct turn *t, unsigned c, unsigned failed)
{
	struct person *p = &w->client[c];

	if (!t->cfg->fails || !is_at(w, c, AT_GRANTED))
		return false;
	tell(t, "client %c %s item %u (lease %u)", letter(c),
	    failed ? "cannot read" : "gives up", p->item, p->generation);
	return end_fill(w, p, c, failed ? FAIL : GIVE_UP);
}

/* Publishes what another process has the lease of, and waits on. */
static bool
pretend(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];
	uint64_t word;

	(void)b;
	if (!is_at(w, c, AT_WAIT) || w->lies == 0)
		return false;
	word = word_of(w, p->set, p->item);
	if (item_owner(word) == number_of(t, c))
		return false;
	p->generation = (uint8_t)item_generation(word);
	tell(t, "client %c says that it has filled item %u: a lie", letter(c),
	    p->item);
	if (!push(p, PUBLISH))
		return false;
	p->generation = 0;
	w->lies--;
	return true;
}

/*--- reading -------------------------------------------------------------*/

static bool
map(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];
	struct file *f;

	(void)b;
	if (!is_at(w, c, AT_FOUND))
		return false;
	f = file_of(w, p->set, p->item, p->generation);
	if (f == NULL || f->place != NAMED) {
		tell(t, "client %c does not find the file of item %u",
		    letter(c), p->item);
		put_item(p, false);
		return true;
	}
	tell(t, "client %c maps item %u", letter(c), p->item);
	f->readers |= bit(c);
	p->at = AT_MAPPED;
	return true;
}

static bool
unmap(struct world *w, struct turn *t, unsigned c, unsigned lie)
{
	struct person *p = &w->client[c];
	struct file *f;

	if (!is_at(w, c, AT_MAPPED) || (lie && w->lies == 0))
		return false;
	f = file_of(w, p->set, p->item, p->generation);
	if (f->corrupt && lie)
		return false;
	tell(t, "client %c has read item %u", letter(c), p->item);
	if ((f->corrupt || lie) && !push(p, REPORT))
		return false;
	if (f->corrupt || lie)
		tell(t, " and reports it as corrupt%s", lie ? ": a lie" : "");
	w->lies -= (uint8_t)lie;
	f->readers &= (uint8_t)~bit(c);
	put_item(p, true);
	return true;
}

/*--- faults --------------------------------------------------------------*/

static void
close_all(struct world *w, uint8_t who)
{
	for (unsigned i = 0; i < MAX_FILES; i++) {
		w->file[i].writers &= (uint8_t)~who;
		w->file[i].readers &= (uint8_t)~who;
	}
}

/* What it sent is still there. */
static bool
die(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];

	(void)b;
	if (p->life != ALIVE || p->at == AT_START ||
	    (t->cfg->mortal & bit(c)) == 0)
		return false;
	tell(t, "client %c dies", letter(c));
	p->life = DEAD;
	p->done = 0;
	put_item(p, false);
	p->at = AT_END;
	close_all(w, bit(c));
	return true;
}

static bool
fork_orphan(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	struct person *p = &w->client[c];

	(void)b;
	if (p->life != ALIVE || p->orphan != NO_ORPHAN ||
	    p->at < AT_ASKED || p->at == AT_END ||
	    (t->cfg->orphans & bit(c)) == 0)
		return false;
	tell(t, "client %c forks", letter(c));
	p->orphan = ORPHAN;
	for (unsigned i = 0; i < MAX_FILES; i++) {
		if (w->file[i].writers & bit(c))
			w->file[i].writers |= orphan_bit(c);
		if (w->file[i].readers & bit(c))
			w->file[i].readers |= orphan_bit(c);
	}
	return true;
}

static bool
orphan_writes(struct world *w, struct turn *t, unsigned c, unsigned i)
{
	struct file *f = &w->file[i];

	if (w->client[c].orphan != ORPHAN || f->place != NAMED ||
	    (f->writers & orphan_bit(c)) == 0)
		return false;
	tell(t, "the child of client %c writes item %u (lease %u)", letter(c),
	    f->item, f->generation);
	f->written = 1;
	return true;
}

static bool
orphan_ends(struct world *w, struct turn *t, unsigned c, unsigned b)
{
	(void)b;
	if (w->client[c].orphan != ORPHAN)
		return false;
	tell(t, "the child of client %c ends", letter(c));
	w->client[c].orphan = ORPHAN_DEAD;
	close_all(w, orphan_bit(c));
	return true;
}

static bool
flip(struct world *w, struct turn *t, unsigned i, unsigned b)
{
	struct file *f = &w->file[i];

	(void)b;
	if (w->flips == 0 || f->place != NAMED || f->corrupt)
		return false;
	tell(t, "a bit of item %u flips", f->item);
	w->flips--;
	f->corrupt = 1;
	return true;
}

const struct rule client_rules[] = {
	{ open_set, MAX_CLIENTS, 1, false },
	{ pick, MAX_CLIENTS, MAX_ITEMS, false },
	{ look, MAX_CLIENTS, 1, false },
	{ go_on, MAX_CLIENTS, 1, false },
	{ fill, MAX_CLIENTS, 1, false },
	{ publish, MAX_CLIENTS, 1, false },
	{ give_up, MAX_CLIENTS, 2, false },
	{ pretend, MAX_CLIENTS, 1, false },
	{ map, MAX_CLIENTS, 1, false },
	{ unmap, MAX_CLIENTS, 2, false },
	{ close_set, MAX_CLIENTS, 1, false },
	{ die, MAX_CLIENTS, 1, false },
	{ fork_orphan, MAX_CLIENTS, 1, false },
	{ orphan_writes, MAX_CLIENTS, MAX_FILES, false },
	{ orphan_ends, MAX_CLIENTS, 1, false },
	{ flip, MAX_FILES, 1, false },
	{ NULL, 0, 0, false },
};
