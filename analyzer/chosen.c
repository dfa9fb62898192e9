/* SPDX-License-Identifier: Apache-2.0
 *
 * chosen.c: from which blocks a figure is taken.  Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/chosen.h"

#include <stdlib.h>

#include "analyzer/found.h"
#include "analyzer/model.h"
#include "analyzer/residency.h"
#include "base/median.h"
#include "base/say.h"

#define LET_ALONE_LEAST	2u	/* fewer say nothing of how sure they are */
#define STOLEN_FAR	0.03	/* of the time that was wanted, beyond the median */

/*--- kinds ---------------------------------------------------------------*/

/* Of all of a kind, in samples a second; 0: there is none. */
static double
rate_of(const struct measured_list *l, enum block_kind kind)
{
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		if (l->list[i].kind == kind && l->list[i].s_per_sample > 0) {
			sum += l->list[i].s_per_sample;
			nr++;
		}
	}
	return nr > 0 ? (double)nr / sum : 0;
}

/* Whose blocks tell of that kind, too. */
static enum block_kind
twin_of(const struct measured_list *l, enum block_kind kind)
{
	if ((kind != BLOCK_ACTUAL && kind != BLOCK_CACHED) ||
	    !model_is_resident(found_resident(l), rate_of(l, BLOCK_RAW_COLD),
	    rate_of(l, BLOCK_ACTUAL)))
		return kind;
	return kind == BLOCK_ACTUAL ? BLOCK_CACHED : BLOCK_ACTUAL;
}

/* Of the loader alone, with so many workers. */
static bool
has_workers(const struct measured *m, unsigned workers)
{
	return m->kind != BLOCK_ALONE || m->workers == workers;
}

/*--- which of them -------------------------------------------------------*/

static bool
is_undisturbed(const struct measured *m, double limit)
{
	(void)limit;
	return !m->is_disturbed;
}

static bool
is_in_place(const struct measured *m, double limit)
{
	(void)limit;
	return !residency_is_misplaced(m);
}

static bool
is_calm(const struct measured *m, double limit)
{
	return m->stolen <= limit;
}

static bool
is_let_alone(const struct measured *m, double limit)
{
	(void)limit;
	return !m->is_counted;
}

/* Those for which it holds, if there are so many. */
static bool
keep(struct chosen *c, size_t least,
    bool (*holds)(const struct measured *, double), double limit)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++)
		nr += holds(c->list[i], limit);
	if (nr < least)
		return false;
	nr = 0;
	for (size_t i = 0; i < c->nr; i++) {
		if (holds(c->list[i], limit))
			c->list[nr++] = c->list[i];
	}
	c->nr = nr;
	return true;
}

static double
median_stolen(const struct chosen *c)
{
	double *share = calloc(c->nr + 1, sizeof *share), middle;

	if (share == NULL)
		say_no_memory();
	for (size_t i = 0; i < c->nr; i++)
		share[i] = c->list[i]->stolen;
	middle = median_of(share, c->nr);
	free(share);
	return middle;
}

static void
leave_out(struct chosen *c)
{
	if (c->nr == 0)
		return;
	c->are_disturbed = !keep(c, 1, is_undisturbed, 0);
	(void)keep(c, 1, is_in_place, 0);
	(void)keep(c, LET_ALONE_LEAST, is_let_alone, 0);
	(void)keep(c, 1, is_calm, median_stolen(c) + STOLEN_FAR);
}

static void
reserve(struct chosen *c, const struct measured_list *l)
{
	*c = (struct chosen){ 0 };
	c->list = calloc(l->nr + 1, sizeof *c->list);
	if (c->list == NULL)
		say_no_memory();
}

void
chosen_init(struct chosen *c, const struct measured_list *l,
    enum block_kind kind, unsigned workers)
{
	enum block_kind twin = twin_of(l, kind);
	const struct measured *m;

	reserve(c, l);
	for (size_t i = 0; i < l->nr; i++) {
		m = &l->list[i];
		if ((m->kind == kind || m->kind == twin) &&
		    has_workers(m, workers))
			c->list[c->nr++] = m;
	}
	leave_out(c);
}

void
chosen_init_handover(struct chosen *c, const struct measured_list *l)
{
	reserve(c, l);
	for (size_t i = 0; i < l->nr; i++) {
		if (l->list[i].handover_s > 0)
			c->list[c->nr++] = &l->list[i];
	}
	leave_out(c);
}

void
chosen_fini(struct chosen *c)
{
	free(c->list);
	*c = (struct chosen){ 0 };
}
