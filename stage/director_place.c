/* SPDX-License-Identifier: Apache-2.0
 *
 * director_place.c: processes at a pass: how they come and go, and how much
 * they may have in the making.  Runs in the hub only.
 */

#include <config.h>

#include "stage/director.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/memfd.h"
#include "base/must.h"
#include "hub/clients.h"

/*--- how much ------------------------------------------------------------*/

struct asker {
	uint64_t	job, ahead;
};

/* By job, what it asks for most first. */
static int
compare_askers(const void *a, const void *b)
{
	const struct asker *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return (x->ahead < y->ahead) - (x->ahead > y->ahead);
}

static uint32_t
sort_askers(const struct pass *p, bool only_live, struct asker *all)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < p->high; i++) {
		const struct seated *s = p->seated[i];

		if (s != NULL && (!only_live ||
		    p->line.place[i].state == PLACE_LIVE))
			all[nr++] = (struct asker){ s->job, s->ahead };
	}
	qsort(all, nr, sizeof all[0], compare_askers);
	return nr;
}

/* What a job would have in the making alone, summed over jobs. */
static uint64_t
sum_ahead(const struct pass *p)
{
	struct asker all[LINE_PLACES];
	uint32_t nr = sort_askers(p, false, all);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		if (i == 0 || all[i].job != all[i - 1].job)
			sum += all[i].ahead;
	}
	return sum < LINE_RING ? sum : LINE_RING;
}

uint32_t
director_count_jobs(const struct pass *p)
{
	struct asker all[LINE_PLACES];
	uint32_t nr = sort_askers(p, true, all), jobs = 0;

	for (uint32_t i = 0; i < nr; i++)
		jobs += i == 0 || all[i].job != all[i - 1].job;
	return jobs;
}

void
director_fit(struct pass *p)
{
	const struct line *l = &p->line;
	struct slots_counts counts;
	uint64_t window = p->window_units, used, most;

	slots_counts(p->director->slots, &counts);
	if (p->unit_bytes > 0 && p->window_bytes / p->unit_bytes > window)
		window = p->window_bytes / p->unit_bytes;
	if (window == 0)
		window = WINDOW_UNITS;
	/* Half of the memory: all of a window may stay as it is for one that
	 * was detached and says nothing, and the others go on in the rest. */
	most = p->unit_bytes > 0 ? counts.budget_bytes / p->unit_bytes / 2 :
	    LINE_RING;
	if (most < WINDOW_MEMORY)
		most = WINDOW_MEMORY;
	if (window > most)
		window = most;
	if (window < WINDOW_LEAST)
		window = WINDOW_LEAST;
	/* Nothing that is in use falls out of it. */
	used = l->front > l->base ? l->front - l->base : 0;
	if (window < used)
		window = used;
	p->line.window = window < LINE_RING ? window : LINE_RING;
}

/*--- coming --------------------------------------------------------------*/

/* With its head written; mapped here for reading only. */
static int
make_seat(struct segment *seat, uint64_t generation, struct ds_err *err)
{
	const size_t len = sizeof(struct seat);
	struct segment_head head = {
		.magic = seat_kind.magic, .layout = seat_kind.layout,
		.byte_order = SEGMENT_BYTE_ORDER, .head_size = sizeof head,
		.size = len, .generation = generation,
	};
	int rc, fd = memfd_new(seat_kind.name, len, err);

	if (fd < 0)
		return fd;
	if (pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
		rc = err_errno(err, "stage: cannot write a client's seat");
		goto close_fd;
	}
	rc = memfd_map_reader(fd, len, &seat->base, err);
	if (rc < 0)
		goto close_fd;
	seat->fd = fd;
	seat->len = len;
	return 0;
close_fd:
	io_close(&fd);
	return rc;
}

static unsigned
count_attached(const struct director *d, uint32_t client)
{
	const struct pass *p;
	unsigned nr = 0;

	for (p = d->passes; p != NULL; p = p->next) {
		for (uint32_t i = 0; i < p->high; i++)
			nr += p->seated[i] != NULL &&
			    p->seated[i]->client == client;
	}
	return nr;
}

int
director_new_seated(struct director *d, const struct client *c, struct seated **out,
    struct ds_err *err)
{
	struct seated *s;
	int rc;

	if (count_attached(d, client_id(c)) >= DIRECTOR_ATTACHED)
		return err_fail(err, -EMFILE, "stage: a process can be "
		    "attached to %u passes", DIRECTOR_ATTACHED);
	s = calloc(1, sizeof *s);
	if (s == NULL)
		return err_fail(err, -ENOMEM, "stage: the hub has no memory");
	rc = make_seat(&s->seat, hub_generation(d->hub), err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	s->client = client_id(c);
	s->pid = c->caller.pid;
	strcpy(s->name, client_name(c));
	/* One that says none is its own. */
	s->job = client_job(c) != 0 ? client_job(c) : s->client;
	*out = s;
	return 0;
}

void
director_free_seated(struct seated **sp)
{
	segment_detach(&(*sp)->seat);
	free(*sp);
	*sp = NULL;
}

uint32_t
director_seat(struct pass *p, struct seated *s)
{
	int place = line_attach(&p->line, s->job);

	must(place >= 0);	/* whoever chose the pass has looked */
	p->seated[place] = s;
	p->nr_seated++;
	if ((uint32_t)place >= p->high)
		p->high = (uint32_t)place + 1;
	director_show_place(p, (uint32_t)place);
	p->line.ahead = sum_ahead(p);
	return (uint32_t)place;
}

static void
unseat(struct pass *p, uint32_t place)
{
	director_free_seated(&p->seated[place]);
	p->nr_seated--;
	while (p->high > 0 && p->seated[p->high - 1] == NULL)
		p->high--;
	director_show_place(p, place);
	p->line.ahead = sum_ahead(p);
}

/*--- going ---------------------------------------------------------------*/

void
director_leave_place(struct director *d, struct pass *p, uint32_t place)
{
	uint64_t now_ns = clock_now_ns();

	director_look(p, now_ns);
	line_leave(&p->line, place);
	director_end_leases(p, place);
	unseat(p, place);
	if (p->nr_seated == 0) {
		director_end_pass(d, p);
		return;
	}
	director_put_held(p);
	director_show_members(p);
	director_settle(p, now_ns);
}
