/* SPDX-License-Identifier: Apache-2.0
 *
 * measure.c: one value for each block.  Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/residency.h"
#include "analyzer/work.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/median.h"
#include "base/say.h"

#define BUSY_LEAST	0.9	/* of their time: workers have always something to do */
#define WAITED_LEAST	0.05	/* of its time: a job waits for its loader */
#define LATE_MOST	8u	/* blocks of which something may be told late */

/* The words of records: probe/journal.h. */
enum { END_NUMBER, END_KIND };
enum { READ_BLOCK, READ_BEGIN, READ_END, READ_FILES, READ_BYTES, READ_SAMPLES,
    READ_READERS };
enum { ALONE_BLOCK, ALONE_BEGIN, ALONE_END, ALONE_SAMPLES, ALONE_WORKERS,
    ALONE_CPU };
enum { STORAGE_BLOCK, STORAGE_BYTES, STORAGE_BEGIN, STORAGE_END, STORAGE_CPU };
enum { READY_BLOCK, READY_BEGIN, READY_END, READY_BATCHES };

void
measured_fini(struct measured_list *l)
{
	free(l->list);
	*l = (struct measured_list){ 0 };
}

/*--- what a rank was given -----------------------------------------------*/

/* Threads of a native loader make one batch after the other: they have none in
 * work that is behind the last one. */
static uint64_t
ahead_of(const struct fact_loader *l)
{
	return (l->flags & LOADER_PIPELINED) != 0 ? 0 :
	    l->prefetch * l->workers;
}

static bool
is_replay(enum block_kind kind)
{
	return kind == BLOCK_REPLAY || kind == BLOCK_REPLAY_BUSY;
}

static bool
has_ended(const struct facts *f, uint64_t block)
{
	for (uint32_t i = 0; i < f->nr_processes; i++) {
		struct steps s = { 0 };

		if (f->processes[i].trains != 0 &&
		    !steps_find_borders(&s, f, i, block))
			return false;
	}
	return true;
}

/* From when to when any rank was in it. */
static void
widen(struct measured *m, uint64_t begin_ns, uint64_t end_ns)
{
	if (m->begin_ns == 0 || begin_ns < m->begin_ns)
		m->begin_ns = begin_ns;
	if (end_ns > m->end_ns)
		m->end_ns = end_ns;
}

static void
add_part(struct part *all, const struct part *p)
{
	all->s += p->s;
	all->waited_s += p->waited_s;
	all->workers += p->workers;
	all->begin_ns = clock_later(all->begin_ns, p->begin_ns);
}

/* What a rank was given in a block; false: nothing that counts. */
static bool
add_rank(struct measured *m, struct cut *cut, const struct facts *f,
    uint32_t process, struct part *all)
{
	uint32_t loader = f->processes[process].trains;
	const struct fact_loader *known = facts_loader(f, process, loader);
	struct steps s = { 0 };
	struct part p = { 0 };

	if (known == NULL)
		return false;
	(void)steps_find_borders(&s, f, process, m->number);
	steps_find(&s, f, process, m->number);
	if (is_replay(m->kind))
		steps_add_replayed(&p, cut, &s);
	else if (known->workers == 0)
		steps_add_made_here(&p, cut, &s);
	else
		steps_add_made(&p, cut, &s, known->workers,
		    ahead_of(known));
	widen(m, s.begin_ns, s.end_ns);
	steps_fini(&s);
	if (p.s <= 0 || p.samples <= 0)
		return false;
	/* Rates add up: s_per_sample holds the sum of them meanwhile. */
	m->s_per_sample += p.samples / p.s;
	m->samples += p.samples;
	m->job_cpu_s += p.cpu_s;
	m->is_disturbed |= p.is_disturbed;
	m->ranks++;
	p.workers = (double)known->workers;
	add_part(all, &p);
	return true;
}

/*--- what workers tell ---------------------------------------------------*/

struct made {
	double	samples, wall_s, cpu_s;
};

/* All batches of a block; loader: of one, or 0. */
static struct made
sum_made(const struct facts *f, uint64_t block, uint32_t loader)
{
	struct made sum = { 0 };
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_MADE || p->word[MADE_BLOCK] != block ||
		    (loader != 0 && p->loader != loader))
			continue;
		sum.samples += (double)p->word[MADE_SAMPLES];
		sum.cpu_s += (double)p->word[MADE_CPU] / (double)NS_PER_S;
		/* Of threads, all together: making and fetching. */
		sum.wall_s += p->word[MADE_WORKER] == JOURNAL_ALL_WORKERS ?
		    (double)(p->word[MADE_CPU] + p->word[MADE_KEPT]) /
		    (double)NS_PER_S :
		    clock_seconds(p->word[MADE_BEGIN], p->word[MADE_END]);
	}
	return sum;
}

/* The loader alone is at work from the first batch to the last, those that do not
 * count included.  Threads tell sums, and no times. */
static void
widen_to_made(struct measured *m, const struct facts *f)
{
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind == JOURNAL_MADE && p->word[MADE_BLOCK] == m->number &&
		    p->word[MADE_WORKER] != JOURNAL_ALL_WORKERS)
			widen(m, p->word[MADE_BEGIN], p->word[MADE_END]);
	}
}

static void
add_workers(struct measured *m, const struct facts *f)
{
	struct made sum = sum_made(f, m->number, 0);

	if (sum.samples > 0) {
		m->worker_s = sum.wall_s / sum.samples;
		m->cpu_s = sum.cpu_s / sum.samples;
	}
}

/* A native loader tells what its process has used; of that, what was not of the
 * job's own thread is of makers and readers.  Workers tell of themselves, and
 * without any the main process makes samples. */
static void
add_processors(struct measured *m, const struct facts *f, bool has_workers)
{
	double process = 0, made = 0;
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->word[MADE_BLOCK] != m->number)
			continue;
		if (p->kind == JOURNAL_STORAGE)
			process += (double)p->word[STORAGE_CPU];
		if (p->kind == JOURNAL_MADE &&
		    p->word[MADE_WORKER] == JOURNAL_ALL_WORKERS)
			made += (double)p->word[MADE_SAMPLES];
	}
	if (process > 0 && made > 0) {
		m->all_cpu_s = process / (double)NS_PER_S / made;
		if (m->all_cpu_s > m->job_cpu_s)
			m->cpu_s = m->all_cpu_s - m->job_cpu_s;
	} else if (m->cpu_s > 0 || !has_workers) {
		m->all_cpu_s = m->job_cpu_s + (has_workers ? m->cpu_s : 0);
	}
}

/* In the median of calls that received the batch they gave, and no other: some are
 * delayed by what else the machine does.  Where there is none, of all calls. */
static void
add_ready(struct measured *m, const struct facts *f)
{
	double *own = calloc(f->nr + 1, sizeof *own), s, sum = 0, batches = 0;
	uint64_t begin_ns = 0;
	const struct fact *p;
	size_t nr = 0;

	if (own == NULL)
		say_no_memory();
	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_READY || p->word[READY_BLOCK] != m->number)
			continue;
		s = clock_seconds(p->word[READY_BEGIN], p->word[READY_END]);
		if (p->word[READY_BATCHES] == 1)
			own[nr++] = s;
		sum += s;
		batches += (double)p->word[READY_BATCHES];
		if (m->ready_ns == 0)
			begin_ns = p->word[READY_BEGIN];
		m->ready_ns = clock_later(m->ready_ns, p->word[READY_END]);
	}
	m->ready_s = clock_seconds(begin_ns, m->ready_ns);
	m->handover_s = nr > 0 ? median_of(own, nr) :
	    batches > 0 ? sum / batches : -1;
	free(own);
}

/*--- reading, and making, alone ------------------------------------------*/

static void
add_alone(struct measured *m, const struct fact *p)
{
	double s, samples;

	if (p->kind == JOURNAL_READ) {
		s = clock_seconds(p->word[READ_BEGIN], p->word[READ_END]);
		samples = (double)p->word[READ_SAMPLES];
		m->bytes += (double)p->word[READ_BYTES];
		m->workers += (uint32_t)p->word[READ_READERS];
	} else {
		s = clock_seconds(p->word[ALONE_BEGIN], p->word[ALONE_END]);
		samples = (double)p->word[ALONE_SAMPLES];
		/* Of each rank, as the job says how many it has. */
		m->workers = (uint32_t)p->word[ALONE_WORKERS];
		m->job_cpu_s += (double)p->word[ALONE_CPU] / (double)NS_PER_S;
	}
	widen(m, p->word[READ_BEGIN], p->word[READ_END]);
	if (s > 0 && samples > 0) {
		m->s_per_sample += samples / s;
		m->samples += samples;
		m->ranks++;
	}
}

/* It has no beginning that is told: what counts has times of its own. */
static bool
has_ended_alone(const struct facts *f, uint64_t block)
{
	for (uint32_t i = 0; i < f->nr_processes; i++) {
		struct steps s = { 0 };

		if (f->processes[i].trains == 0)
			continue;
		(void)steps_find_borders(&s, f, i, block);
		if (s.end_ns == 0)
			return false;
	}
	return true;
}

static bool
add_all_alone(struct measured *m, const struct facts *f)
{
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if ((p->kind == JOURNAL_READ || p->kind == JOURNAL_ALONE) &&
		    p->word[READ_BLOCK] == m->number)
			add_alone(m, p);
	}
	return m->samples > 0;
}

/*--- where workers decide ------------------------------------------------*/

/* What they made counts then, to the last batch that one of them began, unless that
 * is little (work.h). */
static void
count_work(struct measured *m, const struct facts *f, uint64_t from_ns,
    double workers)
{
	struct work w;
	double s;

	work_find(&w, f, m->number, from_ns);
	s = clock_seconds(from_ns, w.last_ns);
	if (w.samples < m->samples / 2 || w.busy_s < BUSY_LEAST * workers * s)
		return;
	m->s_per_sample = s / w.samples;
	m->samples = w.samples;
	if (m->kind == BLOCK_ACTUAL && w.pages > 0)
		m->resident = w.resident / w.pages;
}

static void
count_work_of_job(struct measured *m, const struct facts *f,
    const struct part *all)
{
	if (all->begin_ns != 0 && all->waited_s >= WAITED_LEAST * all->s)
		count_work(m, f, all->begin_ns, all->workers);
}

static void
count_work_alone(struct measured *m, const struct facts *f)
{
	uint64_t from_ns = 0;

	for (size_t i = 0; i < f->nr; i++) {
		if (f->list[i].kind == JOURNAL_ALONE &&
		    f->list[i].word[ALONE_BLOCK] == m->number)
			from_ns = clock_later(from_ns, f->list[i].word[ALONE_BEGIN]);
	}
	if (m->workers > 0)
		count_work(m, f, from_ns, (double)m->workers * m->ranks);
}

/*--- all blocks ----------------------------------------------------------*/

static bool
has_workers(const struct facts *f)
{
	const struct fact_loader *l = facts_training(f);

	return l != NULL && l->workers > 0;
}

static bool
measure_one(struct measured *m, struct cut *cut, const struct facts *f)
{
	struct part all = { 0 };
	bool is_whole;

	switch (m->kind) {
	case BLOCK_RAW_COLD:
	case BLOCK_RAW_CACHED:
	case BLOCK_ALONE:
		is_whole = has_ended_alone(f, m->number) &&
		    add_all_alone(m, f);
		break;
	default:
		is_whole = has_ended(f, m->number);
		for (uint32_t i = 0; i < f->nr_processes && is_whole; i++) {
			if (f->processes[i].trains != 0)
				is_whole = add_rank(m, cut, f, i, &all);
		}
	}
	if (!is_whole || m->s_per_sample <= 0)
		return false;
	m->s_per_sample = 1 / m->s_per_sample;
	m->job_cpu_s /= m->samples;
	count_work_of_job(m, f, &all);
	if (m->kind == BLOCK_ALONE) {
		count_work_alone(m, f);
		widen_to_made(m, f);
	}
	add_workers(m, f);
	add_processors(m, f, m->kind == BLOCK_ALONE ? m->workers > 0 :
	    has_workers(f));
	add_ready(m, f);
	residency_take(m, f);
	return true;
}

static bool
is_new(const struct measured_list *l, uint32_t start, uint64_t number)
{
	for (size_t i = 0; i < l->nr; i++) {
		if (l->list[i].start == start && l->list[i].number == number)
			return false;
	}
	return true;
}

static void
add_block(struct measured_list *l, const struct facts *f, uint32_t start,
    enum block_kind kind, uint64_t number)
{
	struct measured m = { .kind = kind, .start = start,
	    .number = (uint32_t)number, .handover_s = -1, .resident = -1,
	    .resident_after = -1, .from_storage = -1 };
	struct cut cut = { 0 };

	if (number >= SCHEDULE_BLOCKS || !is_new(l, start, number) ||
	    !measure_one(&m, &cut, f))
		return;
	/* Only now: a block without a value is tried again. */
	l->cut.other_s += cut.other_s;
	l->cut.nr_other += cut.nr_other;
	l->cut.outlier_s += cut.outlier_s;
	l->cut.nr_outlier += cut.nr_outlier;
	l->list = list_grow(l->list, l->nr, sizeof *l->list);
	l->list[l->nr++] = m;
}

/* What workers had to have read is told when they begin the next block. */
static void
look_again(struct measured_list *l, const struct facts *f, uint32_t start)
{
	for (size_t i = l->nr > LATE_MOST ? l->nr - LATE_MOST : 0; i < l->nr; i++) {
		struct measured *m = &l->list[i];

		if (m->start == start && m->from_storage < 0)
			residency_take_reads(m, f);
	}
}

/* The schedule's own list of kinds is not needed: what was done is told. */
void
measure_blocks(struct measured_list *l, const struct facts *f, uint32_t start)
{
	const struct fact *p;
	uint64_t kind;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		kind = p->word[END_KIND];
		if (p->kind == JOURNAL_BLOCK_END && kind < BLOCK_KINDS)
			add_block(l, f, start, (enum block_kind)kind,
			    p->word[END_NUMBER]);
	}
	look_again(l, f, start);
}

/*--- before anything is steered ------------------------------------------*/

/* The first batches of all workers come at the same time, and say nothing of how
 * long the next ones take. */
static double
least_seconds(const struct facts *f)
{
	const struct fact_loader *l = facts_training(f);
	struct made sum;

	if (l == NULL || l->workers == 0)
		return 0;
	sum = sum_made(f, JOURNAL_NO_BLOCK, l->loader);
	return sum.samples <= 0 ? 0 :
	    sum.wall_s / sum.samples / (double)l->workers;
}

void
measure_plain(struct plain *out, const struct facts *f)
{
	struct steps s = { 0 };
	struct part p = { 0 };
	struct cut first = { 0 };

	for (uint32_t i = 0; i < f->nr_processes && s.nr == 0; i++) {
		if (f->processes[i].trains == 0)
			continue;
		steps_fini(&s);
		s = (struct steps){ .end_ns = f->processes[i].trains_ns };
		steps_find(&s, f, i, JOURNAL_NO_BLOCK);
	}
	if (s.nr > 0)
		s.nr--;			/* its gap has no end yet */
	steps_add_made(&p, &first, &s, 1, 0);
	*out = (struct plain){
		.s_per_sample = fmax(p.samples > 0 ? p.s / p.samples : 0,
		    least_seconds(f)),
		.samples = p.samples, .step_s = steps_median_gap(&s),
		.first_s = first.outlier_s, .nr_first = first.nr_outlier,
	};
	steps_fini(&s);
}
