/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.c: the steps of a job in a block.  Runs in the command only; no I/O.
 */

#include <config.h>

#include "analyzer/steps.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/median.h"
#include "base/say.h"

#define OUTLIER_TIMES	8.0	/* the median gap, and so much more, is no step */
#define OUTLIER_MORE_S	0.05

/* The words of records: probe/journal.h. */
enum { STEP_BLOCK, STEP_NUMBER, STEP_ASKED, STEP_GIVEN, STEP_SAMPLES, STEP_CPU_ASKED,
    STEP_CPU_GIVEN };
enum { BLOCK_NUMBER, BLOCK_KIND, BLOCK_TIME, BLOCK_CPU };
enum { END_NUMBER, END_KIND, END_TIME, END_BATCHES, END_SAMPLES, END_DEVICE };

void
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

bool
steps_find_borders(struct steps *s, const struct facts *f, uint32_t process,
    uint64_t block)
{
	const struct fact *p;

	for (size_t i = 0; i < f->nr; i++) {
		p = &f->list[i];
		if (p->process != process || p->word[BLOCK_NUMBER] != block)
			continue;
		if (p->kind == JOURNAL_BLOCK) {
			s->begin_ns = p->word[BLOCK_TIME];
			s->begin_cpu_ns = p->word[BLOCK_CPU];
		}
		if (p->kind == JOURNAL_BLOCK_END) {
			s->end_ns = p->word[END_TIME];
			s->has_device = p->word[END_DEVICE] != 0;
		}
	}
	return s->begin_ns != 0 && s->end_ns > s->begin_ns;
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
	bool is_alone = !has_other(f, process, 0, UINT64_MAX);
	uint64_t from, to, used;

	for (size_t i = 0; i < s->nr; i++) {
		used = i + 1 < s->nr ? s->list[i + 1]->word[STEP_CPU_ASKED] : 0;
		from = s->list[i]->word[STEP_GIVEN];
		to = i + 1 < s->nr ? s->list[i + 1]->word[STEP_ASKED] :
		    s->end_ns;
		s->gaps[i] = (struct gap){ .s = clock_seconds(from, to),
		    .cpu_s = clock_seconds(s->list[i]->word[STEP_CPU_GIVEN], used),
		    .samples = (double)s->list[i]->word[STEP_SAMPLES],
		    .has_other = !is_alone &&
			has_other(f, process, from, to) };
	}
}

void
steps_find(struct steps *s, const struct facts *f, uint32_t process,
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

double
steps_median_gap(const struct steps *s)
{
	double *values = calloc(s->nr + 1, sizeof *values), m;

	if (values == NULL)
		say_no_memory();
	for (size_t i = 0; i < s->nr; i++)
		values[i] = s->gaps[i].s;
	m = median_of(values, s->nr);
	free(values);
	return m;
}

/* Counts what is cut. */
static bool
is_cut(struct cut *cut, const struct gap *g, double usual)
{
	if (g->has_other) {
		cut->other_s += g->s - usual;
		cut->nr_other++;
		return true;
	}
	if (g->s > OUTLIER_TIMES * usual + OUTLIER_MORE_S) {
		cut->outlier_s += g->s - usual;
		cut->nr_outlier++;
		return true;
	}
	return false;
}

/*--- what counts ---------------------------------------------------------*/

/* A device is behind the job's steps: what counts there is the time in which it has
 * done all of them, for it was waited for at both ends of the block. */
void
steps_add_replayed(struct part *p, struct cut *cut, const struct steps *s)
{
	double usual = steps_median_gap(s), cut_s = 0;

	for (size_t i = 0; i < s->nr; i++) {
		bool is_last = i + 1 == s->nr;

		if (!(is_last && s->has_device) &&
		    is_cut(cut, &s->gaps[i], usual)) {
			cut_s += s->gaps[i].s;
			continue;
		}
		p->s += s->gaps[i].s;
		p->cpu_s += s->gaps[i].cpu_s;
		p->samples += s->gaps[i].samples;
	}
	if (s->has_device)
		p->s = clock_seconds(s->begin_ns, s->end_ns) - cut_s;
}

/* In the main process, all of them; files are arranged before the block begins,
 * when the first was asked for already. */
void
steps_add_made_here(struct part *p, struct cut *cut, const struct steps *s)
{
	double usual = steps_median_gap(s);

	if (s->nr == 0)
		return;
	p->s = clock_seconds(clock_later(s->list[0]->word[STEP_ASKED], s->begin_ns),
	    s->end_ns);
	p->cpu_s = clock_seconds(clock_later(s->list[0]->word[STEP_CPU_ASKED],
	    s->begin_cpu_ns), s->list[s->nr - 1]->word[STEP_CPU_GIVEN]);
	for (size_t i = 0; i < s->nr; i++) {
		p->samples += s->gaps[i].samples;
		p->is_disturbed |= is_cut(cut, &s->gaps[i], usual);
	}
}

static double
waited_s(const struct steps *s, size_t first, size_t end)
{
	double sum = 0, least = INFINITY, one;

	for (size_t i = first; i < end; i++) {
		one = clock_seconds(s->list[i]->word[STEP_ASKED],
		    s->list[i]->word[STEP_GIVEN]);
		least = fmin(least, one);
		sum += one;
	}
	return sum - (double)(end - first) * least;
}

void
steps_add_made(struct part *p, struct cut *cut, const struct steps *s,
    uint64_t workers, uint64_t ahead)
{
	size_t first = (size_t)workers, end = s->nr;
	double usual = steps_median_gap(s);

	if (s->nr <= first)
		return;
	if (s->nr >= 2 * workers + ahead)
		end -= (size_t)ahead;
	p->s = clock_seconds(s->list[first - 1]->word[STEP_GIVEN],
	    s->list[end - 1]->word[STEP_GIVEN]);
	p->cpu_s = clock_seconds(s->list[first - 1]->word[STEP_CPU_GIVEN],
	    s->list[end - 1]->word[STEP_CPU_GIVEN]);
	p->begin_ns = s->list[first - 1]->word[STEP_GIVEN];
	p->waited_s = waited_s(s, first, end);
	for (size_t i = first; i < end; i++)
		p->samples += s->gaps[i].samples;
	/* The gap behind the last is not within. */
	for (size_t i = 0; i + 1 < end; i++)
		p->is_disturbed |= is_cut(cut, &s->gaps[i], usual);
}
