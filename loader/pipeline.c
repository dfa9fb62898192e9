/* SPDX-License-Identifier: Apache-2.0
 *
 * pipeline.c: the batches in work, and who does what next.
 * Runs in clients, in any of their threads.
 */

#include <config.h>

#include "loader/pipeline.h"

#include <stdlib.h>

#include "base/must.h"

/* Readers work if getting takes more than this share of making. */
#define QUICK_SHARE	8u

/* How much one time counts in a mean: a slow read is noticed at once, and a
 * thread that did not get its processor for a while is soon forgotten. */
#define MEAN_SHARE	32u

/* What storage is taken for until it was tried. */
#define FETCH_GUESS_NS	1000000u

void
pipeline_init(struct pipeline *p, struct ds_data *data)
{
	*p = (struct pipeline){ .data = data,
	    .fetch_mean_ns = FETCH_GUESS_NS };
	must(pthread_mutex_init(&p->lock, NULL) == 0);
	must(pthread_cond_init(&p->for_makers, NULL) == 0);
	must(pthread_cond_init(&p->for_readers, NULL) == 0);
	must(pthread_cond_init(&p->for_job, NULL) == 0);
}

void
pipeline_fini(struct pipeline *p)
{
	must(p->oldest == NULL && p->leased == NULL);
	must(pthread_cond_destroy(&p->for_job) == 0);
	must(pthread_cond_destroy(&p->for_readers) == 0);
	must(pthread_cond_destroy(&p->for_makers) == 0);
	must(pthread_mutex_destroy(&p->lock) == 0);
}

/*--- who is woken --------------------------------------------------------*/

static void
wake(pthread_cond_t *cond, unsigned idle, uint64_t nr)
{
	if (idle == 0 || nr == 0)
		return;
	if (nr >= idle)
		pthread_cond_broadcast(cond);
	else
		for (; nr > 0; nr--)
			pthread_cond_signal(cond);
}

static bool
reads_ahead(const struct pipeline *p)
{
	return p->nr_readers > 0 &&
	    p->fetch_mean_ns > p->make_mean_ns / QUICK_SHARE;
}

/* Not for each few bytes that become free. */
static void
wake_readers(struct pipeline *p)
{
	if (reads_ahead(p) && p->ahead_bytes <= PIPELINE_AHEAD / 2)
		wake(&p->for_readers, p->idle_readers, p->nr_wanted);
}

static void
add_to_mean(uint64_t *mean, uint64_t value)
{
	*mean = *mean - *mean / MEAN_SHARE + value / MEAN_SHARE;
}

/*--- the job's end -------------------------------------------------------*/

/* How far its cells are, and that there is something to do. */
static void
begin_batch(struct pipeline *p, struct batch *b)
{
	b->first = b->nr_left = b->nr_ready = b->nr_wanted = 0;
	for (uint32_t i = 0; i < b->nr; i++) {
		b->nr_left += b->cells[i].state != CELL_DONE;
		b->nr_ready += b->cells[i].state == CELL_CACHED;
		b->nr_wanted += b->cells[i].state == CELL_WANTED;
	}
	p->nr_wanted += b->nr_wanted;
	wake(&p->for_makers, p->idle_makers, b->nr_left);
	wake_readers(p);
}

void
pipeline_add(struct pipeline *p, struct batch *b)
{
	must(pthread_mutex_lock(&p->lock) == 0);
	b->next = NULL;
	if (p->oldest == NULL)
		p->oldest = b;
	else
		p->newest->next = b;
	p->newest = b;
	p->nr_batches++;
	begin_batch(p, b);
	must(pthread_mutex_unlock(&p->lock) == 0);
}

void
pipeline_put_back(struct pipeline *p, struct batch *b)
{
	must(pthread_mutex_lock(&p->lock) == 0);
	for (uint32_t i = 0; i < b->nr; i++) {
		struct cell *s = &b->cells[i];

		if (s->rc >= 0 || s->is_bad)
			continue;
		free(s->why);
		*s = (struct cell){ .state = CELL_WANTED };
	}
	b->next = p->oldest;
	p->oldest = b;
	if (b->next == NULL)
		p->newest = b;
	p->nr_batches++;
	begin_batch(p, b);
	must(pthread_mutex_unlock(&p->lock) == 0);
}

static struct batch *
remove_oldest(struct pipeline *p)
{
	struct batch *b = p->oldest;

	p->oldest = b->next;
	b->next = NULL;
	p->nr_batches--;
	return b;
}

struct batch *
pipeline_take(struct pipeline *p)
{
	struct batch *b;

	must(pthread_mutex_lock(&p->lock) == 0);
	must(p->oldest != NULL);
	p->job_waits = true;
	while (p->oldest->nr_left > 0)
		must(pthread_cond_wait(&p->for_job, &p->lock) == 0);
	p->job_waits = false;
	b = remove_oldest(p);
	must(pthread_mutex_unlock(&p->lock) == 0);
	return b;
}

bool
pipeline_is_made(struct pipeline *p)
{
	bool is_made = true;

	must(pthread_mutex_lock(&p->lock) == 0);
	for (const struct batch *b = p->oldest; b != NULL; b = b->next)
		is_made = is_made && b->nr_left == 0;
	must(pthread_mutex_unlock(&p->lock) == 0);
	return is_made;
}

static void
put_items(struct pipeline *p, struct batch *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		if (b->cells[i].state == CELL_FETCHED)
			ds_put(p->data, &b->cells[i].item);
	}
}

void
pipeline_drop(struct pipeline *p)
{
	while (p->oldest != NULL)
		put_items(p, remove_oldest(p));
}

void
pipeline_stop(struct pipeline *p)
{
	must(pthread_mutex_lock(&p->lock) == 0);
	p->stops = true;
	pthread_cond_broadcast(&p->for_makers);
	pthread_cond_broadcast(&p->for_readers);
	must(pthread_mutex_unlock(&p->lock) == 0);
}

/*--- leased ones ---------------------------------------------------------*/

static bool
is_before(const struct batch *a, const struct batch *b)
{
	return a->given.epoch < b->given.epoch ||
	    (a->given.epoch == b->given.epoch &&
	    a->given.number < b->given.number);
}

void
pipeline_add_leased(struct pipeline *p, struct batch *b)
{
	struct batch **at = &p->leased;

	must(b->lease != NULL);
	must(pthread_mutex_lock(&p->lock) == 0);
	while (*at != NULL && !is_before(b, *at))
		at = &(*at)->next;
	b->next = *at;
	*at = b;
	begin_batch(p, b);
	must(pthread_mutex_unlock(&p->lock) == 0);
}

static void
remove_leased(struct pipeline *p, struct batch *b)
{
	struct batch **at = &p->leased;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	b->next = NULL;
}

struct batch *
pipeline_drop_leased(struct pipeline *p)
{
	struct batch *b = p->leased;

	if (b != NULL) {
		remove_leased(p, b);
		put_items(p, b);
	}
	return b;
}

/*--- choosing ------------------------------------------------------------*/

/* Of all batches, those for the job first. */
static struct batch *
first_batch(const struct pipeline *p)
{
	return p->oldest != NULL ? p->oldest : p->leased;
}

static struct batch *
next_batch(const struct pipeline *p, const struct batch *b)
{
	return b->next != NULL || b->lease != NULL ? b->next : p->leased;
}

static bool
can_be_made(enum cell_state state, bool from_storage)
{
	return state == CELL_CACHED || state == CELL_FETCHED ||
	    (state == CELL_WANTED && from_storage);
}

/* Of a batch, the first cell that can be made. */
static bool
find_in_batch(struct batch *b, bool from_storage, struct task *t)
{
	while (b->first < b->nr && b->cells[b->first].state >= CELL_MAKING)
		b->first++;
	for (uint32_t i = b->first; i < b->nr; i++) {
		if (!can_be_made(b->cells[i].state, from_storage))
			continue;
		*t = (struct task){ b, i, b->cells[i].state };
		return true;
	}
	return false;
}

static bool
find_make(struct pipeline *p, bool from_storage, struct task *t)
{
	for (struct batch *b = first_batch(p); b != NULL;
	    b = next_batch(p, b)) {
		uint32_t nr = b->nr_ready + (from_storage ? b->nr_wanted : 0);

		if (nr > 0 && find_in_batch(b, from_storage, t))
			return true;
	}
	return false;
}

static void
claim(struct pipeline *p, const struct task *t, enum cell_state state)
{
	struct cell *s = &t->batch->cells[t->i];

	if (s->state == CELL_WANTED) {
		t->batch->nr_wanted--;
		p->nr_wanted--;
	} else {
		t->batch->nr_ready--;
	}
	s->state = state;
}

/* Who reads ahead leaves reading to others, but rather reads than waits. */
bool
pipeline_next_make(struct pipeline *p, struct task *t)
{
	while (!p->stops) {
		if (find_make(p, !reads_ahead(p), t) ||
		    (p->nr_wanted > 0 && find_make(p, true, t))) {
			claim(p, t, CELL_MAKING);
			return true;
		}
		p->idle_makers++;
		must(pthread_cond_wait(&p->for_makers, &p->lock) == 0);
		p->idle_makers--;
	}
	return false;
}

static bool
find_wanted(struct pipeline *p, struct task *t)
{
	for (struct batch *b = first_batch(p); b != NULL;
	    b = next_batch(p, b)) {
		if (b->nr_wanted == 0)
			continue;
		for (uint32_t i = b->first; i < b->nr; i++) {
			if (b->cells[i].state != CELL_WANTED)
				continue;
			*t = (struct task){ b, i, CELL_WANTED };
			return true;
		}
	}
	return false;
}

static bool
find_fetch(struct pipeline *p, struct task *t, uint64_t *bytes)
{
	struct ds_info info = { .size = 0 };

	if (p->nr_wanted == 0 || !reads_ahead(p) || !find_wanted(p, t))
		return false;
	(void)ds_data_info(p->data, t->batch->items[t->i], &info);
	*bytes = info.size;
	return p->ahead_bytes == 0 ||
	    p->ahead_bytes + info.size <= PIPELINE_AHEAD;
}

bool
pipeline_next_fetch(struct pipeline *p, struct task *t)
{
	uint64_t bytes;

	while (!p->stops) {
		if (find_fetch(p, t, &bytes)) {
			claim(p, t, CELL_FETCHING);
			t->batch->cells[t->i].read_ahead = bytes;
			p->ahead_bytes += bytes;
			return true;
		}
		p->idle_readers++;
		must(pthread_cond_wait(&p->for_readers, &p->lock) == 0);
		p->idle_readers--;
	}
	return false;
}

/*--- what came of it -----------------------------------------------------*/

void
pipeline_fetched(struct pipeline *p, const struct task *t,
    const struct ds_item *item, const struct done *d)
{
	struct cell *s = &t->batch->cells[t->i];

	add_to_mean(&p->fetch_mean_ns, d->fetch_ns);
	p->counts.fetch_ns += d->fetch_ns;
	t->batch->made_ns += d->fetch_ns;
	s->item = *item;
	s->state = CELL_FETCHED;
	t->batch->nr_ready++;
	wake(&p->for_makers, p->idle_makers, 1);
}

static void
add_times(struct pipeline *p, const struct task *t, const struct done *d)
{
	p->counts.fetch_ns += d->fetch_ns;
	p->counts.prep_ns += d->make_ns;
	p->counts.encoded_bytes += d->bytes;
	if (t->was == CELL_WANTED)
		add_to_mean(&p->fetch_mean_ns, d->fetch_ns);
	if (d->make_ns > 0)
		add_to_mean(&p->make_mean_ns, d->make_ns);
}

/* Whose last sample was made. */
static struct batch *
finish_batch(struct pipeline *p, struct batch *b)
{
	if (b->lease != NULL) {
		remove_leased(p, b);
		return b;
	}
	if (b == p->oldest && p->job_waits)
		pthread_cond_signal(&p->for_job);
	return NULL;
}

struct batch *
pipeline_done(struct pipeline *p, const struct task *t, const struct done *d)
{
	struct cell *s = &t->batch->cells[t->i];
	struct batch *leased = NULL;

	add_times(p, t, d);
	s->rc = d->rc;
	s->is_bad = d->is_bad;
	s->why = d->why;
	s->state = CELL_DONE;
	p->ahead_bytes -= s->read_ahead;
	s->read_ahead = 0;
	t->batch->made_ns += d->fetch_ns + d->make_ns;
	if (--t->batch->nr_left == 0)
		leased = finish_batch(p, t->batch);
	wake_readers(p);
	return leased;
}
