/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_files.c: which files are in memory: those of the set are arranged, those
 * of fresh batches left as they were found.  Runs in clients, in the job's thread.
 *
 *  1. Of a source that is not a folder of files nothing is arranged, and nothing
 *     told (steer_set.c says so).
 */

#include <config.h>

#include "loader/steer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "cache/data.h"
#include "cache/source_file.h"
#include "loader/loader.h"
#include "probe/resident.h"

#define BESIDE_MOST	4000u	/* files that are looked at, beside the set's, */
#define BESIDE_NS	(250 * NS_PER_MS)	/* or as many as this is enough for */

static int
open_item(const struct ds_loader *l, uint64_t item, struct stat *st)
{
	const struct source *source = l->data->source;
	const char *name = data_name(l->data, item);

	if (source->ops->scheme != NULL || name == NULL)
		return -1;
	return source_file_open(source, name, st, NULL);
}

/* Pages that are not written yet stay: only where there are some left is a file
 * written out, which takes long. */
static void
evict(int fd, const struct stat *st)
{
	struct resident now;

	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	resident_look(fd, st, &now);
	if (now.is_told && now.in_memory == 0)
		return;
	(void)fdatasync(fd);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void
evict_item(const struct ds_loader *l, uint64_t item)
{
	struct stat st;
	int fd = open_item(l, item, &st);

	if (fd < 0)
		return;
	evict(fd, &st);
	io_close(&fd);
}

void
steer_arrange(struct ds_loader *l, bool in_memory, uint64_t nr)
{
	if (in_memory)
		steer_bring_in(l, nr);
	else
		for (uint64_t i = 0; i < nr; i++)
			evict_item(l, l->steer->set.items[i]);
}

/*--- how much is in memory -------------------------------------------------*/

struct pages {
	uint64_t	all, in_memory, not_told;
};

/* Is some of the item's file known to be out of memory? */
static bool
look_at(const struct ds_loader *l, uint64_t item, struct pages *p)
{
	struct resident r = { .is_told = false };
	struct stat st;
	int fd = open_item(l, item, &st);

	if (fd >= 0)
		resident_look(fd, &st, &r);
	else
		r.pages = resident_pages(data_key(l->data, item)->size);
	io_close(&fd);
	p->all += r.pages;
	p->in_memory += r.in_memory;
	p->not_told += r.is_told ? 0 : r.pages;
	return r.is_told && r.in_memory < r.pages;
}

static void
tell(struct steer *s, bool is_after, const struct pages *p)
{
	steer_tell(s, JOURNAL_PAGES, (const uint64_t[7]){ s->id, is_after,
	    p->all, p->in_memory, p->not_told }, NULL);
}

void
steer_tell_pages(struct ds_loader *l, bool is_after, uint64_t nr)
{
	struct pages p = { 0 };

	for (uint64_t i = 0; i < nr; i++)
		(void)look_at(l, l->steer->set.items[i], &p);
	tell(l->steer, is_after, &p);
}

/* Steps of it meet each of so many once, and are soon everywhere among them: it is
 * near the golden section, and prime to them. */
static uint64_t
stride(uint64_t nr)
{
	uint64_t s = nr * 618 / 1000 + 1, a, b, rest;

	for (;; s++) {
		for (a = nr, b = s; b != 0; a = b, b = rest)
			rest = a % b;
		if (a == 1)
			return s;
	}
}

/* Of what the epoch still has, spread over it, however soon the time is over; the
 * set is at its end. */
void
steer_tell_beside(struct ds_loader *l)
{
	uint64_t until_ns = clock_now_ns() + BESIDE_NS, files = 0, untold;
	uint64_t begin = l->opened.turn, end = l->steer->set.runs[0].at.turn;
	uint64_t nr = end > begin ? end - begin : 0, step = stride(nr), k = 0;
	struct pages p = { 0 };

	loader_turn_to(l, l->given.epoch);
	for (uint64_t i = 0; i < nr && i < BESIDE_MOST; i++) {
		untold = p.not_told;
		(void)look_at(l, l->items[plan_sample(&l->plan,
		    plan_position(&l->plan, begin + k))], &p);
		files += p.not_told == untold;
		k = (k + step) % nr;
		if (clock_now_ns() > until_ns)
			break;
	}
	if (files > 0)
		steer_tell(l->steer, JOURNAL_BESIDE, (const uint64_t[7]){
		    files, p.all, p.in_memory, p.not_told }, NULL);
}

/*--- fresh batches, as they are found ------------------------------------*/

static void
look_at_run(struct ds_loader *l, const struct plan_run *run, struct pages *p)
{
	struct steer_fresh *fresh = &l->steer->fresh;
	uint64_t turn, item;

	for (uint32_t i = 0; i < run->count; i++) {
		turn = plan_turn(&l->plan, &run->at, run->at.turn + i);
		item = l->items[plan_sample(&l->plan,
		    plan_position(&l->plan, turn))];
		if (look_at(l, item, p))
			fresh->out[fresh->nr_out++] = item;
	}
}

void
steer_look_fresh(struct ds_loader *l)
{
	struct steer *s = l->steer;
	struct plan_place place = l->opened;
	struct pages p = { 0 };
	struct plan_run run;
	uint64_t most = s->block.batches < s->left ? s->block.batches : s->left;

	steer_free_fresh(s);
	s->fresh.out = calloc(most + 1, l->plan.batch * sizeof *s->fresh.out);
	if (s->fresh.out == NULL)
		return;			/* it stays in memory, and is not told */
	loader_turn_to(l, place.epoch);
	for (uint64_t i = 0; i < most; i++) {
		if (plan_step(&l->plan, &place, &run) != PLAN_RUN)
			break;
		look_at_run(l, &run, &p);
	}
	tell(s, false, &p);
}

void
steer_restore_fresh(struct ds_loader *l)
{
	struct steer_fresh *fresh = &l->steer->fresh;

	for (uint64_t i = 0; i < fresh->nr_out; i++)
		evict_item(l, fresh->out[i]);
	steer_free_fresh(l->steer);
}

void
steer_free_fresh(struct steer *s)
{
	free(s->fresh.out);
	s->fresh = (struct steer_fresh){ 0 };
}
