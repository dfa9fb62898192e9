/* SPDX-License-Identifier: Apache-2.0
 *
 * world.c: the model's world: its beginning, its files, and what must hold in
 * it, by the numbers of world.h.
 */

#include <config.h>

#include "tests/model/world.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/must.h"

static_assert(sizeof(struct world) % 8 == 0 &&
    sizeof(struct world) <= EXPLORE_STATE_MAX, "hashed by words");
static_assert(sizeof(struct world) == MAX_SETS * sizeof(struct data_set) +
    MAX_CLIENTS * 24 + MAX_FILES * 12 + 8, "no holes");

const char *const break_names[BREAKS] = {
	"nothing", "generation", "proof", "revoke", "drop-in-use", "wake",
	"wake-revoke", "load-order", "quarantine", "holds", "leave", "reopen",
	"report",
};

bool
is_broken_by(const struct turn *t, enum break_rule rule)
{
	return t->cfg->broken == rule;
}

uint32_t
number_of(const struct turn *t, unsigned client)
{
	return t->cfg->threads && client == 1 ? 1 : client + 1;
}

/* Adds to what is told of this step. */
void
tell(struct turn *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	step_tell(t->step, fmt, ap);
	va_end(ap);
}

void
world_start(const struct config *cfg, struct world *w)
{
	memset(w, 0, sizeof *w);
	w->flips = cfg->flips;
	w->lies = cfg->lies;
	w->early = cfg->early;
	for (unsigned c = 0; c < cfg->clients; c++)
		w->client[c].item = NONE;
	for (unsigned c = cfg->clients; c < MAX_CLIENTS; c++)
		w->client[c].life = GONE;
}

/*--- items and files -----------------------------------------------------*/

struct minio_item
item_of(struct world *w, unsigned set, unsigned item)
{
	return (struct minio_item){ &w->set[set].word[item], 1 };
}

uint64_t
word_of(const struct world *w, unsigned set, unsigned item)
{
	return atomic_load_explicit(&w->set[set].word[item],
	    memory_order_relaxed);
}

static uint32_t
key_of(const struct file *f)
{
	return f->place == NO_FILE ? UINT32_MAX :
	    (uint32_t)f->number << 16 | (uint32_t)f->item << 8 | f->generation;
}

struct file *
file_of(struct world *w, unsigned set, unsigned item, unsigned generation)
{
	for (unsigned i = 0; i < MAX_FILES; i++) {
		struct file *f = &w->file[i];

		if (f->place != NO_FILE && f->number == w->set[set].number &&
		    f->item == item && f->generation == generation)
			return f;
	}
	return NULL;
}

/* In the order of their keys, so that one world has one form. */
struct file *
file_add(struct world *w, unsigned set, unsigned item, unsigned generation)
{
	struct file new = {
		.place = IN_HELPER, .number = w->set[set].number,
		.item = (uint8_t)item, .generation = (uint8_t)generation,
		.client = NONE,
	};
	unsigned at = 0;

	must(w->file[MAX_FILES - 1].place == NO_FILE);
	while (key_of(&w->file[at]) < key_of(&new))
		at++;
	memmove(&w->file[at + 1], &w->file[at],
	    (MAX_FILES - 1 - at) * sizeof new);
	memcpy(&w->file[at], &new, sizeof new);
	return &w->file[at];
}

void
file_remove(struct world *w, struct file *f)
{
	unsigned at = (unsigned)(f - w->file);

	memmove(f, f + 1, (MAX_FILES - 1 - at) * sizeof *f);
	memset(&w->file[MAX_FILES - 1], 0, sizeof *f);
}

/*--- every state ---------------------------------------------------------*/

static unsigned
count_files(const struct world *w, unsigned set, unsigned item, enum place p,
    const struct file **last)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MAX_FILES; i++) {
		const struct file *f = &w->file[i];

		if (f->place != p || f->number != w->set[set].number ||
		    f->item != item)
			continue;
		*last = f;
		n++;
	}
	return n;
}

static const char *
check_item(const struct world *w, unsigned set, unsigned item)
{
	uint64_t word = word_of(w, set, item);
	const struct file *f = NULL;
	unsigned n;

	n = count_files(w, set, item, DRAFT, &f);
	if (n > 1 || (n == 1 && (item_state(word) != ITEM_LEASED ||
	    f->generation != item_generation(word))))
		return "2: a draft without the lease it was made for";
	n = count_files(w, set, item, NAMED, &f);
	if (n != (item_state(word) == ITEM_READY))
		return "3: READY and the names of files do not agree";
	if (n == 1 && f->generation != item_generation(word))
		return "3: READY, but the file is of another lease";
	if (n == 1 && f->filled != 2)
		return "3: READY, but the file is not complete";
	if (item_state(word) == ITEM_LEASED && (item_owner(word) == 0 ||
	    w->client[item_owner(word) - 1].life == GONE))
		return "5: leased to a client that is gone";
	return NULL;
}

static const char *
check_set(const struct config *cfg, const struct world *w, unsigned set)
{
	const struct data_set *d = &w->set[set];
	struct minio_item items[MAX_ITEMS];
	const char *broken;
	unsigned users = 0;

	for (unsigned i = 0; i < cfg->items; i++)
		items[i] = (struct minio_item){
			(_Atomic uint64_t *)&d->word[i], 1
		};
	for (unsigned c = 0; c < cfg->clients; c++)
		users += w->client[c].member == set + 1;
	if (users != d->m.users)
		return "6: the users of a set are not its clients";
	broken = minio_broken(&d->m, items, cfg->items);
	if (broken != NULL)
		return broken;
	for (unsigned i = 0; i < cfg->items; i++) {
		broken = check_item(w, set, i);
		if (broken != NULL)
			return broken;
	}
	return NULL;
}

static const char *
check_files(const struct world *w)
{
	unsigned held = 0;

	for (unsigned i = 0; i < MAX_FILES; i++) {
		const struct file *f = &w->file[i];

		if (f->written)
			return "4: bytes that had a name were written";
		held += f->place != NO_FILE;
	}
	return held > w->used ? "7: memory is held that is not counted" : NULL;
}

const char *
world_check(const struct config *cfg, const struct world *w)
{
	const char *broken = check_files(w);

	for (unsigned s = 0; s < cfg->sets && broken == NULL; s++)
		broken = check_set(cfg, w, s);
	if (broken == NULL && w->used > cfg->budget)
		broken = "7: more is counted than the budget";
	return broken;
}

const char *
world_check_quiet(const struct config *cfg, const struct world *w)
{
	unsigned held = 0;

	(void)cfg;
	for (unsigned i = 0; i < MAX_FILES; i++) {
		const struct file *f = &w->file[i];

		held += f->place == NAMED || f->place == DRAFT ||
		    (f->writers | f->readers) != 0;
	}
	if (held != w->used)
		return "11: memory is counted that nobody holds";
	for (unsigned s = 0; s < cfg->sets; s++)
		for (unsigned i = 0; i < cfg->items; i++) {
			uint64_t word = word_of(w, s, i);

			if (item_state(word) == ITEM_LEASED &&
			    w->client[item_owner(word) - 1].life != ALIVE)
				return "11: leased to a dead client for ever";
		}
	return NULL;
}

/*--- every step ----------------------------------------------------------*/

static bool
was_corrupt(const struct world *w, unsigned set, unsigned item)
{
	const struct file *f = NULL;

	return count_files(w, set, item, NAMED, &f) == 1 && f->corrupt;
}

const char *
world_check_step(const struct config *cfg, const struct world *before,
    const struct world *after)
{
	for (unsigned s = 0; s < cfg->sets; s++) {
		const struct data_set *b = &before->set[s], *a = &after->set[s];

		if (b->m.users == 0)
			continue;
		if (a->number != b->number)
			return "9: a set in use was dropped";
		for (unsigned i = 0; i < cfg->items; i++)
			if (item_state(word_of(before, s, i)) == ITEM_READY &&
			    word_of(after, s, i) != word_of(before, s, i) &&
			    !was_corrupt(before, s, i))
				return "9: an item of a set in use was dropped";
		if (a->m.users > 0 && b->m.closed && !a->m.closed)
			return "10: admission was opened again while in use";
	}
	return NULL;
}

unsigned
world_blocked(const struct config *cfg, const struct world *w)
{
	unsigned blocked = 0;

	for (unsigned c = 0; c < cfg->clients; c++) {
		const struct person *p = &w->client[c];

		if (p->life == ALIVE && (p->at == AT_ASKED ||
		    p->at == AT_OPENING || (p->at == AT_WAIT && !p->woken)))
			blocked |= bit(c);
	}
	return blocked;
}
