/* SPDX-License-Identifier: Apache-2.0
 *
 * measure.c: one value for each block.  Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/say.h"

#define OUTLIER_TIMES	8.0	/* the median gap, and so much more, is no step */
#define OUTLIER_MORE_S	0.05

/* The words of records: probe/journal.h. */
enum { STEP_BLOCK, STEP_NUMBER, STEP_ASKED, STEP_GIVEN, STEP_SAMPLES, STEP_CPU_ASKED,
    STEP_CPU_GIVEN };
enum { MADE_BLOCK, MADE_WORKER, MADE_BEGIN, MADE_END, MADE_SAMPLES, MADE_CPU,
    MADE_KEPT };
enum { BLOCK_NUMBER, BLOCK_KIND, BLOCK_TIME, BLOCK_BATCHES, BLOCK_SAMPLES,
    BLOCK_DEVICE };
enum { READ_BLOCK, READ_BEGIN, READ_END, READ_FILES, READ_BYTES, READ_SAMPLES,
    READ_READERS };
enum { ALONE_BLOCK, ALONE_BEGIN, ALONE_END, ALONE_SAMPLES, ALONE_WORKERS,
    ALONE_CPU };
enum { STORAGE_BLOCK, STORAGE_BYTES, STORAGE_BEGIN, STORAGE_END, STORAGE_CPU };
enum { PAGES_BLOCK, PAGES_WHEN, PAGES_ALL, PAGES_RESIDENT, PAGES_UNTOLD };
enum { READY_BLOCK, READY_BEGIN, READY_END };

static double
seconds(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ?
	    (double)(to_ns - from_ns) / (double)NS_PER_S : 0;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *values, size_t nr)
{
	if (nr == 0)
		return 0;
	qsort(values, nr, sizeof *values, compare_doubles);
	return nr % 2 == 1 ? values[nr / 2] :
	    (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

void
measured_fini(struct measured_list *l)
{
	free(l->list);
	*l = (struct measured_list){ 0 };
}

/*--- the steps of a block ------------------------------------------------*/

struct gap {
	double	s;
	double	cpu_s;			/* of a processor meanwhile; 0: not told */
	double	samples;		/* of the batch before it */
	bool	has_other;		/* another loader was iterated */
};

struct steps {
	const struct fact **list;
	size_t		nr;
	struct gap	*gaps;		/* behind each */
	uint64_t	begin_ns, end_ns;	/* of the block */
	bool		has_device;	/* that works on between steps */
};

static void
steps_fini(struct steps *s)
{
	free(s->list);
	free(s->gaps);
}

static bool
is_of(const struct fact *f, enum journal_kind kind, uint32_t process,
    uint32_t loader)
{
	return f->kind == kind && f->process == process && f->loader == loader;
}

static size_t
count_steps(const struct facts *f, uint32_t process, uint64_t block)
{
	uint32_t loader = f->processes[process].trains;
	size_t nr = 0;

	for (size_t i = 0; i < f->nr; i++)
		nr += is_of(&f->list[i], JOURNAL_STEP, process, loader) &&
		    f->list[i].word[STEP_BLOCK] == block;
	return nr;
}

/* Was another loader of the process asked for a batch between? */
static bool
has_other(const struct facts *f, uint32_t process, uint64_t from, uint64_t to)
{
	uint32_t loader = f->processes[process].trains;
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind == JOURNAL_STEP && p->process == process &&
		    p->loader != loader && p->word[STEP_ASKED] > from &&
		    p->word[STEP_ASKED] < to)
			return true;
	}
	return false;
}

static void
find_gaps(struct steps *s, const struct facts *f, uint32_t process)
{
	uint64_t from, to, used;

	for (size_t i = 0; i < s->nr; i++) {
		used = i + 1 < s->nr ? s->list[i + 1]->word[STEP_CPU_ASKED] : 0;
		from = s->list[i]->word[STEP_GIVEN];
		to = i + 1 < s->nr ? s->list[i + 1]->word[STEP_ASKED] :
		    s->end_ns;
		s->gaps[i] = (struct gap){ .s = seconds(from, to),
		    .cpu_s = seconds(s->list[i]->word[STEP_CPU_GIVEN], used),
		    .samples = (double)s->list[i]->word[STEP_SAMPLES],
		    .has_other = has_other(f, process, from, to) };
	}
}

static void
find_steps(struct steps *s, const struct facts *f, uint32_t process,
    uint64_t block)
{
	uint32_t loader = f->processes[process].trains;
	size_t most = count_steps(f, process, block);

	s->list = calloc(most + 1, sizeof *s->list);
	s->gaps = calloc(most + 1, sizeof *s->gaps);
	if (s->list == NULL || s->gaps == NULL)
		say_no_memory();
	for (size_t i = 0; i < f->nr && s->nr < most; i++) {
		if (is_of(&f->list[i], JOURNAL_STEP, process, loader) &&
		    f->list[i].word[STEP_BLOCK] == block)
			s->list[s->nr++] = &f->list[i];
	}
	find_gaps(s, f, process);
}

static double
median_gap(const struct steps *s)
{
	double *values = calloc(s->nr + 1, sizeof *values), m;

	if (values == NULL)
		say_no_memory();
	for (size_t i = 0; i < s->nr; i++)
		values[i] = s->gaps[i].s;
	m = median(values, s->nr);
	free(values);
	return m;
}

/* Counts what is cut. */
static bool
is_cut(struct measured_list *l, const struct gap *g, double usual)
{
	if (g->has_other) {
		l->other_s += g->s - usual;
		l->nr_other++;
		return true;
	}
	if (g->s > OUTLIER_TIMES * usual + OUTLIER_MORE_S) {
		l->outlier_s += g->s - usual;
		l->nr_outlier++;
		return true;
	}
	return false;
}

/*--- what counts ---------------------------------------------------------*/

/* Of one rank. */
struct part {
	double	s, samples, batches, cpu_s;
	bool	is_disturbed;
};

/* A device is behind the job's steps: what counts there is the time in which it has
 * done all of them, for it was waited for at both ends of the block. */
static void
add_replayed(struct part *p, struct measured_list *l, const struct steps *s)
{
	double usual = median_gap(s), cut_s = 0;

	for (size_t i = 0; i < s->nr; i++) {
		bool is_last = i + 1 == s->nr;

		if (!(is_last && s->has_device) &&
		    is_cut(l, &s->gaps[i], usual)) {
			cut_s += s->gaps[i].s;
			continue;
		}
		p->s += s->gaps[i].s;
		p->cpu_s += s->gaps[i].cpu_s;
		p->samples += s->gaps[i].samples;
		p->batches++;
	}
	if (s->has_device)
		p->s = seconds(s->begin_ns, s->end_ns) - cut_s;
}

static void
add_made(struct part *p, struct measured_list *l, const struct steps *s,
    uint64_t workers)
{
	double usual = median_gap(s);
	size_t first = workers > 0 ? (size_t)workers : 0;

	if (s->nr <= first)
		return;
	p->s = workers > 0 ?
	    seconds(s->list[first - 1]->word[STEP_GIVEN],
	    s->list[s->nr - 1]->word[STEP_GIVEN]) :
	    seconds(s->list[0]->word[STEP_ASKED], s->end_ns);
	for (size_t i = first; i < s->nr; i++) {
		p->samples += s->gaps[i].samples;
		p->batches++;
	}
	p->cpu_s = seconds(s->list[first > 0 ? first - 1 : 0]->word[first > 0 ?
	    STEP_CPU_GIVEN : STEP_CPU_ASKED],
	    s->list[s->nr - 1]->word[STEP_CPU_GIVEN]);
	/* The gap behind the last is not within, where workers deliver. */
	for (size_t i = 0; i + (workers > 0) < s->nr; i++)
		p->is_disturbed |= is_cut(l, &s->gaps[i], usual);
}

static bool
find_borders(struct steps *s, const struct facts *f, uint32_t process,
    uint64_t block)
{
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->process != process || p->word[BLOCK_NUMBER] != block)
			continue;
		if (p->kind == JOURNAL_BLOCK)
			s->begin_ns = p->word[BLOCK_TIME];
		if (p->kind == JOURNAL_BLOCK_END) {
			s->end_ns = p->word[BLOCK_TIME];
			s->has_device = p->word[BLOCK_DEVICE] != 0;
		}
	}
	return s->begin_ns != 0 && s->end_ns > s->begin_ns;
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
		    !find_borders(&s, f, i, block))
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

/* What a rank was given in a block; false: nothing that counts. */
static bool
add_rank(struct measured *m, struct measured_list *l, const struct facts *f,
    uint32_t process)
{
	uint32_t loader = f->processes[process].trains;
	const struct fact_loader *known = facts_loader(f, process, loader);
	struct steps s = { 0 };
	struct part p = { 0 };

	if (known == NULL)
		return false;
	(void)find_borders(&s, f, process, m->number);
	find_steps(&s, f, process, m->number);
	if (is_replay(m->kind))
		add_replayed(&p, l, &s);
	else
		add_made(&p, l, &s, known->workers);
	widen(m, s.begin_ns, s.end_ns);
	steps_fini(&s);
	if (p.s <= 0 || p.samples <= 0)
		return false;
	/* Rates add up: s_per_sample holds the sum of them meanwhile. */
	m->s_per_sample += p.samples / p.s;
	m->samples += p.samples;
	m->batches += p.batches;
	m->job_cpu_s += p.cpu_s;
	m->is_disturbed |= p.is_disturbed;
	m->ranks++;
	return true;
}

/*--- what workers tell ---------------------------------------------------*/

static void
add_workers(struct measured *m, const struct facts *f)
{
	double samples = 0, wall = 0, cpu = 0;
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_MADE || p->word[MADE_BLOCK] != m->number)
			continue;
		samples += (double)p->word[MADE_SAMPLES];
		cpu += (double)p->word[MADE_CPU] / (double)NS_PER_S;
		/* Of threads, all together: making and fetching. */
		wall += p->word[MADE_WORKER] == JOURNAL_ALL_WORKERS ?
		    (double)(p->word[MADE_CPU] + p->word[MADE_KEPT]) /
		    (double)NS_PER_S :
		    seconds(p->word[MADE_BEGIN], p->word[MADE_END]);
	}
	if (samples > 0) {
		m->worker_s = wall / samples;
		m->cpu_s = cpu / samples;
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

/* A mean: one call may receive what several others find there. */
static void
add_ready(struct measured *m, const struct facts *f)
{
	const struct fact *p;
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_READY || p->word[READY_BLOCK] != m->number)
			continue;
		sum += seconds(p->word[READY_BEGIN], p->word[READY_END]);
		nr++;
	}
	m->handover_s = nr > 0 ? sum / (double)nr : -1;
}

static void
add_pages(struct measured *m, const struct facts *f)
{
	double all[2] = { 0 }, in[2] = { 0 };
	const struct fact *p;
	size_t when;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->kind != JOURNAL_PAGES || p->word[PAGES_BLOCK] != m->number)
			continue;
		when = p->word[PAGES_WHEN] != 0;
		m->has_files |= p->word[PAGES_ALL] > 0;
		all[when] += (double)p->word[PAGES_ALL] -
		    (double)p->word[PAGES_UNTOLD];
		in[when] += (double)p->word[PAGES_RESIDENT];
	}
	m->resident = all[0] > 0 ? in[0] / all[0] : -1;
	m->resident_after = all[1] > 0 ? in[1] / all[1] : -1;
}

/*--- reading, and making, alone ------------------------------------------*/

static void
add_alone(struct measured *m, const struct fact *p)
{
	double s, samples;

	if (p->kind == JOURNAL_READ) {
		s = seconds(p->word[READ_BEGIN], p->word[READ_END]);
		samples = (double)p->word[READ_SAMPLES];
		m->bytes += (double)p->word[READ_BYTES];
		m->workers += (uint32_t)p->word[READ_READERS];
	} else {
		s = seconds(p->word[ALONE_BEGIN], p->word[ALONE_END]);
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
		(void)find_borders(&s, f, i, block);
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

/*--- all blocks ----------------------------------------------------------*/

static bool
has_workers(const struct facts *f)
{
	const struct fact_loader *l = facts_training(f);

	return l != NULL && l->workers > 0;
}

static bool
measure_one(struct measured *m, struct measured_list *l, const struct facts *f)
{
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
				is_whole = add_rank(m, l, f, i);
		}
	}
	if (!is_whole || m->s_per_sample <= 0)
		return false;
	m->s_per_sample = 1 / m->s_per_sample;
	m->job_cpu_s /= m->samples;
	add_workers(m, f);
	add_processors(m, f, m->kind == BLOCK_ALONE ? m->workers > 0 :
	    has_workers(f));
	add_ready(m, f);
	add_pages(m, f);
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
	    .number = (uint32_t)number, .handover_s = -1 };
	struct measured_list cut = { 0 };

	if (number >= SCHEDULE_BLOCKS || !is_new(l, start, number) ||
	    !measure_one(&m, &cut, f))
		return;
	/* Only now: a block without a value is tried again. */
	l->other_s += cut.other_s;
	l->nr_other += cut.nr_other;
	l->outlier_s += cut.outlier_s;
	l->nr_outlier += cut.nr_outlier;
	l->list = list_grow(l->list, l->nr, sizeof *l->list);
	l->list[l->nr++] = m;
}

/* The schedule's own list of kinds is not needed: what was done is told. */
void
measure_blocks(struct measured_list *l, const struct facts *f, uint32_t start)
{
	const struct fact *p;
	uint64_t kind;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		kind = p->word[BLOCK_KIND];
		if (p->kind == JOURNAL_BLOCK_END && kind < BLOCK_KINDS)
			add_block(l, f, start, (enum block_kind)kind,
			    p->word[BLOCK_NUMBER]);
	}
}

/*--- before anything is steered ------------------------------------------*/

double
measure_plain(const struct facts *f, double *samples, double *step_s)
{
	struct steps s = { 0 };
	struct part p = { 0 };
	struct measured_list none = { 0 };

	for (uint32_t i = 0; i < f->nr_processes && s.nr == 0; i++) {
		if (f->processes[i].trains == 0)
			continue;
		steps_fini(&s);
		s = (struct steps){ .end_ns = f->processes[i].trains_ns };
		find_steps(&s, f, i, JOURNAL_NO_BLOCK);
	}
	if (s.nr > 0)
		s.nr--;			/* its gap has no end yet */
	add_made(&p, &none, &s, 1);
	*step_s = median_gap(&s);
	*samples = p.samples;
	steps_fini(&s);
	return p.samples > 0 ? p.s / p.samples : 0;
}
