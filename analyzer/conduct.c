/* SPDX-License-Identifier: Apache-2.0
 *
 * conduct.c: a steered run of a job.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/conduct.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/estimate.h"
#include "analyzer/tree.h"
#include "base/clock.h"
#include "base/cpus.h"
#include "base/list.h"
#include "base/text.h"
#include "launch/job_env.h"

#define AHEAD		2u	/* blocks that are planned before they begin */
#define LEAVE_NS	(5 * NS_PER_S)	/* that a job may take to its next batch */
#define LATE_NS		(2 * NS_PER_S)
#define LIVE_LOOK_NS	(500 * NS_PER_MS)
#define STARTS_MOST	50u
#define STARTS_EMPTY	2u	/* that showed nothing: no more are tried */
#define WORTH_TIMES	2u	/* choosing the set: time that another start needs */
#define MARKED_PARTS	3u	/* of the time, for each run that is only marked */

/*--- what the job is -----------------------------------------------------*/

/* Batches of an epoch for blocks: not those that are in work when it begins, nor,
 * where its end is not passed, those with which the loader was recognised. */
static uint64_t
find_room(const struct conduct *c, const struct fact_loader *l)
{
	uint64_t gone = c->job.prefetch * c->job.workers;

	if (!c->options->pass_epochs)
		gone += l->given;
	if (l->batches == 0)
		return 0;
	return l->batches > gone ? l->batches - gone : 1;
}

static void
learn_job(struct conduct *c)
{
	const struct fact_loader *l = facts_training(&c->facts);
	struct plain plain;

	measure_plain(&plain, &c->facts);
	c->measured.cut.first_s += plain.first_s;
	c->measured.cut.nr_first += plain.nr_first;
	c->job.step_s = plain.step_s;
	c->job.workers = l->workers;
	c->job.prefetch = l->prefetch > 0 ? l->prefetch : 2;
	c->job.batch_size = l->batch_size > 0 ? l->batch_size : 1;
	c->job.is_iterable = (l->flags & LOADER_ITERABLE) != 0;
	c->job.is_pipelined = (l->flags & LOADER_PIPELINED) != 0;
	c->job.cores = cpus_granted("/");
	c->job.batch_s = plain.s_per_sample * (double)c->job.batch_size;
	c->job.room = find_room(c, l);
	c->job.for_s = (double)c->options->for_ns / (double)NS_PER_S;
}

/* What was told of the set: its files are what can be read and evicted. */
static bool
learn_set(struct conduct *c)
{
	enum { SET_BATCHES, SET_SAMPLES, SET_FILES, SET_BYTES, SET_UNKNOWN };
	const struct fact *f;
	bool is_told = false;

	c->bytes_per_set = c->samples_per_set = 0;
	c->job.knows_files = true;
	for (size_t i = 0; i < c->facts.nr; i++) {
		f = &c->facts.list[i];
		if (f->kind != JOURNAL_SET)
			continue;
		is_told = true;
		c->bytes_per_set += f->word[SET_BYTES];
		c->samples_per_set += f->word[SET_SAMPLES];
		c->planner.set = (uint32_t)f->word[SET_BATCHES];
		/* Some of a set may share files, or be made of none. */
		c->job.knows_files &= f->word[SET_FILES] > 0 &&
		    2 * f->word[SET_UNKNOWN] < f->word[SET_SAMPLES];
	}
	if (is_told && !c->job.knows_files)
		result_confess(c->result, "which files the samples come from "
		    "could not be seen: storage was not measured");
	c->planner.job.knows_files = c->job.knows_files;
	return is_told;
}

/*--- blocks --------------------------------------------------------------*/

static uint64_t
measured_ns(const struct conduct *c)
{
	return c->measured_ns +
	    (c->trains_ns > 0 ? clock_now_ns() - c->trains_ns : 0);
}

/* What the host took is read a few times a second, so that the first reading behind
 * the end of a block comes after it was measured: the shares of all are taken again. */
static void
measure(struct conduct *c)
{
	struct measured *m;

	measure_blocks(&c->measured, &c->facts, c->starts);
	for (size_t i = 0; i < c->measured.nr; i++) {
		m = &c->measured.list[i];
		m->is_counted = c->counted_ns == 0 ||
		    m->begin_ns < c->counted_ns;
		m->stolen = stolen_share(&c->stolen, m->begin_ns,
		    m->ready_ns > m->end_ns ? m->ready_ns : m->end_ns);
	}
}

/* Of each kind of block one is enough for counters, which cost the job time. */
static void
end_counting(struct conduct *c)
{
	if (c->counted_ns != 0 || c->planner.round == 0)
		return;
	c->counted_ns = observe_end_counting(&c->observe) ? clock_now_ns() : 1;
}

static void
note_before(struct conduct *c)
{
	c->before = list_grow(c->before, c->folder.nr_blocks,
	    sizeof *c->before);
	c->before[c->folder.nr_blocks] = c->planner;
}

static bool
is_enough(struct conduct *c)
{
	return c->is_asked || measured_ns(c) >= c->options->for_ns ||
	    (c->planner.round >= PLANNER_ROUNDS_LEAST &&
	    estimate_is_narrow(&c->measured, (unsigned)c->job.workers,
	    c->options->confidence));
}

static void
plan_one(struct conduct *c)
{
	struct planned next;

	note_before(c);
	if (is_enough(c)) {
		c->is_complete = true;
		(void)folder_add(&c->folder, BLOCK_END, 0, 0);
		return;
	}
	planner_next(&c->planner, &c->measured, &next);
	if (!folder_add(&c->folder, next.kind, next.batches, next.workers))
		c->is_complete = true;
}

static void
plan_ahead(struct conduct *c)
{
	uint32_t ended = facts_blocks_ended(&c->facts);

	if (c->folder.nr_blocks == 0) {
		planner_start(&c->planner, &c->job);
		plan_one(c);
		return;
	}
	if (ended == c->ended)
		return;
	c->ended = ended;
	end_counting(c);
	measure(c);
	/* Behind the set nothing is planned before it is known what it is. */
	if (!learn_set(c))
		return;
	while (!c->is_complete && c->folder.nr_blocks < ended + AHEAD)
		plan_one(c);
}

/*--- the end of a start --------------------------------------------------*/

static size_t
list_mains(const struct facts *f, pid_t *mains, size_t most)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->nr_processes && nr < most; i++) {
		if (f->processes[i].trains != 0)
			mains[nr++] = f->processes[i].pid;
	}
	return nr;
}

/* Its processes wait for our word; then, when they are gone, the rest. */
static void
end_start(struct conduct *c)
{
	pid_t mains[256];
	size_t nr = list_mains(&c->facts, mains, 256);

	if (!c->has_freed) {
		c->launch->is_ending = true;
		tree_freeze_above(mains, nr);
		folder_leave(&c->folder, LEAVE_MAY);
		c->has_freed = c->has_ended = true;
		c->leaving_ns = clock_now_ns();
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		if (tree_is_alive(mains[i]) &&
		    clock_now_ns() - c->leaving_ns < LEAVE_NS)
			return;
	}
	tree_end_above();
}

static void
end_now(struct conduct *c)
{
	c->launch->is_ending = true;
	c->has_freed = c->has_ended = true;
	tree_end();
}

/* The time is long over, and the block that is on does not end. */
static void
end_late(struct conduct *c)
{
	uint64_t most_ns = c->options->for_ns + c->options->for_ns / 4 + LATE_NS;

	if (c->is_asked || c->trains_ns == 0 || measured_ns(c) < most_ns)
		return;
	c->is_asked = true;
	c->leaving_ns = clock_now_ns();
	folder_leave(&c->folder, LEAVE_ASKED);
}

/* The user has asked, and the job does not come to its next batch. */
static bool
is_slow(const struct conduct *c)
{
	return c->is_asked && c->leaving_ns != 0 &&
	    clock_now_ns() - c->leaving_ns >= LEAVE_NS;
}

/* One that is only seen by its marker has had its part of the time. */
static bool
is_marked_enough(const struct conduct *c)
{
	return c->trains_ns == 0 && c->marker.nr > 0 &&
	    clock_now_ns() - c->marker.steps[0] >=
	    c->options->for_ns / MARKED_PARTS;
}

/*--- who is watched ------------------------------------------------------*/

static void
enter_phase(struct conduct *c, const char *phase, uint64_t at_ns)
{
	c->phase = phase;
	observe_phase(&c->observe, phase, at_ns);
}

/* A run of which only steps are seen is all of one phase, from its first step on. */
static void
watch_marked(struct conduct *c)
{
	if (c->trains_ns == 0 && c->marker.nr > 0 && c->phase == NULL)
		enter_phase(c, conduct_phase(c->run_is), clock_now_ns());
}

static void
watch(struct conduct *c, const struct journal_record *r, const char *text)
{
	enum { PROCESS_ROLE, PROCESS_PID, PROCESS_PARENT, PROCESS_NUMBER };
	enum { OF_BLOCK, OF_KIND, OF_TIME };
	uint64_t now_ns = clock_now_ns(), at_ns = r->word[OF_TIME];

	if (at_ns > now_ns)
		at_ns = now_ns;
	if (r->kind == JOURNAL_HELLO && r->word[PROCESS_ROLE] != ROLE_PYTHON)
		observe_process(&c->observe, (pid_t)r->word[PROCESS_PID],
		    r->word[PROCESS_ROLE] == ROLE_WORKER,
		    (unsigned)r->word[PROCESS_NUMBER]);
	else if (r->kind == JOURNAL_BLOCK || r->kind == JOURNAL_BLOCK_END)
		enter_phase(c, r->kind == JOURNAL_BLOCK ?
		    conduct_phase(r->word[OF_KIND]) : NULL, at_ns);
	if (r->kind == JOURNAL_SET && text[0] == '/')
		observe_data(&c->observe, text);
	if (r->kind == JOURNAL_TRAINS && c->options->is_live)
		enter_phase(c, conduct_phase(BLOCK_ACTUAL), now_ns);
}

static void
take_record(void *arg, size_t process, const struct journal_record *r,
    const char *text)
{
	struct conduct *c = arg;

	if (r->kind == JOURNAL_MARK) {
		marker_note(&c->marker, r->word[0], r->word[1]);
		return;
	}
	facts_add(&c->facts, process, r, text);
	watch(c, r, text);
}

/*--- while it runs -------------------------------------------------------*/

/* With --continue the job goes on by itself when all is measured. */
static void
go_on(struct conduct *c)
{
	if (c->is_done)
		return;
	c->is_done = true;
	c->measured_ns += clock_now_ns() - c->trains_ns;
	conduct_tell_on(c);
}

static void
steer(struct conduct *c)
{
	if (c->trains_ns == 0 && facts_training(&c->facts) != NULL) {
		c->trains_ns = clock_now_ns();
		c->startup_ns += c->trains_ns - c->launched_ns;
		conduct_tell_begin(c);
		learn_job(c);
	}
	if (c->trains_ns > 0 && !c->has_freed && !c->is_done)
		plan_ahead(c);
	if (c->options->continues && facts_all_left(&c->facts) && !c->is_asked)
		go_on(c);
	else if (facts_all_left(&c->facts) || c->has_freed)
		end_start(c);
	else if (is_slow(c) || is_marked_enough(c))
		end_now(c);
	else if (!c->is_done)
		end_late(c);
	if (!c->is_done)
		conduct_show(c, measured_ns(c));
}

/* A job that is only watched waits for nothing of ours, and needs its processors:
 * a look now and then will do. */
static bool
is_time_to_look(struct conduct *c, uint64_t now_ns)
{
	if (c->options->is_live && now_ns < c->looked_ns + LIVE_LOOK_NS)
		return false;
	c->looked_ns = now_ns;
	return true;
}

/* Journals are read one after the other: what a worker told before a block ended may
 * not have been there yet, when the end already is. */
static void
read_told(struct conduct *c)
{
	folder_read(&c->folder, take_record, c);
	if (facts_blocks_ended(&c->facts) != c->ended)
		folder_read(&c->folder, take_record, c);
}

static void
tick(void *arg)
{
	struct conduct *c = arg;
	uint64_t now_ns = clock_now_ns();

	marker_look(&c->marker);
	if (!is_time_to_look(c, now_ns))
		return;
	read_told(c);
	watch_marked(c);
	observe_sample(&c->observe);
	if (c->options->is_live)
		return;
	if (!c->is_done)
		stolen_look(&c->stolen, now_ns);
	steer(c);
}

bool
conduct_is_over(const struct conduct *c)
{
	return c->is_asked || c->is_last;
}

/* Whatever becomes of the job, it is not started again; and if it is not there to end
 * by that signal, we do. */
static void
note_end(struct conduct *c, int signal_number, bool is_ours)
{
	c->is_last = true;
	if (is_ours)
		c->died_by = signal_number;
}

/* Between two starts: signals stay blocked, and there is no job to pass them to. */
static void
take_pending(struct conduct *c)
{
	const struct timespec no_time = { 0 };
	sigset_t set;
	int taken;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	taken = sigtimedwait(&set, NULL, &no_time);
	if (taken == SIGINT)
		c->is_asked = true;
	else if (taken > 0)
		note_end(c, taken, true);
}

/* Ctrl-C ends the measuring once there is some, and while there is.  A program of
 * which only steps are seen ends as it would, and is not run again. */
static bool
on_signal(void *arg, int signal_number)
{
	struct conduct *c = arg;

	if (signal_number == SIGTERM || signal_number == SIGHUP)
		note_end(c, signal_number, c->has_ended);
	if (signal_number != SIGINT || c->options->is_live)
		return false;
	if (c->marker.nr > 0 && c->trains_ns == 0)
		c->is_asked = true;
	if (c->trains_ns == 0 || c->is_asked || c->is_done)
		return false;
	c->is_asked = true;
	c->leaving_ns = clock_now_ns();
	folder_leave(&c->folder, LEAVE_ASKED);
	return true;
}

/*--- starts --------------------------------------------------------------*/

/* The preload object sees which files are opened; a job that is only watched pays for
 * nothing that is not needed. */
static const char *
find_object(const struct conduct *c)
{
	return c->options->is_live && !c->wants_opens ? NULL :
	    c->options->object;
}

static int
start_job(struct conduct *c, char *const argv[], struct launch_end *end,
    struct ds_err *err)
{
	struct job_settings s = { .object = find_object(c),
	    .hook = c->options->hook, .profile = c->folder.path };
	struct job_env env;
	int rc;

	rc = job_env_init(&env, c->environment, &s, err);
	if (rc < 0)
		return rc;
	if (c->marker.to >= 0)
		c->launch->output = &c->marker.to;
	c->launched_ns = clock_now_ns();
	c->trains_ns = c->leaving_ns = 0;
	c->ended = 0;
	c->has_freed = c->has_ended = c->launch->is_ending = false;
	rc = launch_run(c->launch, argv, env.list, end, err);
	job_env_fini(&env);
	return rc;
}

/* How long it took from the first word of a training loader to the first block. */
static void
note_arranged(struct conduct *c)
{
	const struct measured *m;

	for (size_t i = 0; i < c->measured.nr; i++) {
		m = &c->measured.list[i];
		if (m->start == c->starts && m->begin_ns > c->trains_ns) {
			c->arranged_ns = m->begin_ns - c->trains_ns;
			return;
		}
	}
}

/* What its processes have told last; the journals are gone with the session. */
static void
finish_start(struct conduct *c)
{
	uint32_t ended;

	folder_read(&c->folder, take_record, c);
	enter_phase(c, NULL, clock_now_ns());
	measure(c);
	if (c->trains_ns > 0)
		note_arranged(c);
	if (c->trains_ns > 0 && !c->is_done)
		c->measured_ns += clock_now_ns() - c->trains_ns;
	ended = facts_blocks_ended(&c->facts);
	/* Blocks that were planned, and not done, are planned again. */
	if (c->before != NULL && ended < c->folder.nr_blocks) {
		c->planner = c->before[ended];
		c->planner.set = 0;
	}
	if (c->folder.nr_broken > 0)
		result_confess(c->result, "journals of %llu processes could "
		    "not be read to their end",
		    (unsigned long long)c->folder.nr_broken);
	c->trains_ns = 0;
}

/* Is there time for more than choosing the set once more?  Until each kind of block
 * has been measured, there always is. */
static bool
is_worth_it(const struct conduct *c)
{
	return c->measured_ns < c->options->for_ns &&
	    (c->planner.round == 0 || c->options->for_ns - c->measured_ns >
	    WORTH_TIMES * c->arranged_ns);
}

/* It left because its epoch had no room for the next block. */
static bool
is_to_go_on(const struct conduct *c)
{
	return facts_has_left(&c->facts, LEFT_EPOCH) && c->has_ended &&
	    !conduct_is_over(c) && is_worth_it(c) &&
	    c->starts < (c->measured.nr > 0 ? STARTS_MOST : STARTS_EMPTY);
}

static uint32_t
flags_of(const struct conduct *c)
{
	const struct conduct_options *o = c->options;

	return (o->pass_epochs ? SCHEDULE_PASS_EPOCHS : 0) |
	    (o->continues ? SCHEDULE_CONTINUE : 0) |
	    (o->is_live ? SCHEDULE_LIVE : 0) |
	    (c->wants_opens ? SCHEDULE_OPENS : 0);
}

/* What the marker has seen of a start. */
static void
take_rate(struct conduct *c)
{
	marker_look(&c->marker);
	c->step_samples = marker_step_samples(&c->marker,
	    c->options->step_samples);
	c->rate = marker_rate(&c->marker, c->step_samples);
	c->steps = c->marker.nr;
}

/* One start of the job.  If there is none, what is known stays. */
static int
run_once(struct conduct *c, char *const argv[], struct launch_end *end,
    struct ds_err *err)
{
	struct facts before = c->facts;
	int rc;

	facts_init(&c->facts, c->result);
	rc = marker_open(&c->marker, &c->options->marker, err);
	if (rc == 0)
		rc = folder_open(&c->folder, flags_of(c), err);
	if (rc == 0)
		rc = start_job(c, argv, end, err);
	if (rc == 0 && end->exec_errno == 0) {
		finish_start(c);
		take_rate(c);
		facts_fini(&before);
	} else {
		facts_fini(&c->facts);
		c->facts = before;
	}
	folder_close(&c->folder);
	marker_close(&c->marker);
	return rc;
}

bool
conduct_again(struct conduct *c, char *const argv[], struct launch_end *end)
{
	bool had_ended = c->has_ended;
	struct ds_err err;
	int rc;

	take_pending(c);
	if (conduct_is_over(c))
		return false;
	rc = run_once(c, argv, end, &err);
	if (rc == 0 && end->exec_errno == 0)
		return true;
	c->has_ended = had_ended;
	result_confess(c->result, "the job could not be started again: %s",
	    rc < 0 ? err.text : strerror(end->exec_errno));
	return false;
}

int
conduct_run(struct conduct *c, char *const argv[], struct launch_end *end,
    struct ds_err *err)
{
	struct launch_end again;
	int rc;

	tree_adopt();
	observe_init(&c->observe, "/");
	if (c->options->is_live)
		c->observe.perf_open = NULL;
	c->launch->tick = tick;
	c->launch->on_signal = on_signal;
	c->launch->arg = c;
	c->launch->keeps_streams = true;
	progress_start(&c->progress, "profile", NULL, 0,
	    c->options->for_ns / NS_PER_S);
	rc = run_once(c, argv, end, err);
	for (c->starts = 1; rc == 0 && is_to_go_on(c); c->starts++) {
		if (!conduct_again(c, argv, &again))
			break;
		*end = again;
	}
	progress_end(&c->progress);
	return rc;
}

void
conduct_fini(struct conduct *c)
{
	facts_fini(&c->facts);
	measured_fini(&c->measured);
	if (c->observe.root != NULL)
		observe_fini(&c->observe);
	stolen_fini(&c->stolen);
	free(c->before);
	c->before = NULL;
}
