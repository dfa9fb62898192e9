/* SPDX-License-Identifier: Apache-2.0
 *
 * handoff_jobs.c: tiny units for many jobs: through the stage, and through
 * pipes, which is what a job would do with nothing of ours.
 *
 * A unit holds the time at which it was handed over; whoever takes it compares
 * that with its own.
 */

#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/handoff_loop.h"

#define JOBS_MAX	256u
#define TINY		64u	/* bytes */
#define WARM_UP		256u	/* units that are not counted: all slots are
				 * there then, and mapped */

/* Shared by all processes of a run. */
struct result {
	uint64_t	begin_ns, end_ns;
	uint64_t	alone;		/* units it was to make itself */
	struct hist	late;		/* from hand-over to having it */
};

static struct run {
	_Atomic unsigned nr_ready;
	_Atomic uint64_t made;		/* paces all makers */
	uint64_t	units, pace_ns;
	unsigned	jobs, makers;
	struct result	result[JOBS_MAX];
} *run;

static void
start_run(unsigned jobs, uint64_t units, uint64_t pace_ns, unsigned makers)
{
	if (jobs == 0 || jobs > JOBS_MAX)
		give_up("jobs", "1 to 256");
	run = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run == MAP_FAILED)
		give_up("memory", strerror(errno));
	run->jobs = jobs;
	run->units = WARM_UP + units;
	run->pace_ns = pace_ns;
	run->makers = makers;
	for (unsigned i = 0; i < jobs; i++)
		hist_init(&run->result[i].late);
}

/* Until all are here; not counted. */
static void
meet(void)
{
	const struct timespec ms = { 0, 1000000 };

	atomic_fetch_add(&run->nr_ready, 1);
	while (atomic_load(&run->nr_ready) < run->jobs)
		nanosleep(&ms, NULL);
}

/* The next unit of all makers is due, if they have a pace. */
static void
keep_pace(uint64_t begin_ns)
{
	uint64_t due = begin_ns +
	    atomic_fetch_add(&run->made, 1) * run->pace_ns;
	struct timespec t = { (time_t)(due / NS_PER_S),
	    (long)(due % NS_PER_S) };

	if (run->pace_ns > 0)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void
note_late(struct result *r, uint64_t unit, const void *bytes)
{
	uint64_t at, now = clock_now_ns();

	memcpy(&at, bytes, sizeof at);
	if (unit == WARM_UP)
		r->begin_ns = now;
	if (unit >= WARM_UP)
		hist_add(&r->late, now - at);
}

static void
print_run(void)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0, alone = 0;
	struct hist *all = &run->result[0].late;

	for (unsigned i = 0; i < run->jobs; i++) {
		const struct result *r = &run->result[i];

		begin_ns = r->begin_ns < begin_ns ? r->begin_ns : begin_ns;
		end_ns = r->end_ns > end_ns ? r->end_ns : end_ns;
		alone += r->alone;
		if (i > 0)
			hist_merge(all, &r->late);
	}
	printf("{\"deliveries_per_s\": %.0f, \"p50_us\": %.1f, "
	    "\"p99_us\": %.1f, \"max_us\": %.1f, \"made_alone\": %llu}\n",
	    (double)(run->jobs * (run->units - WARM_UP)) /
	    (double)(end_ns - begin_ns) * 1e9, us(all, 0.5), us(all, 0.99), us(all, 1),
	    (unsigned long long)alone);
}

/* One process per job; all must end well. */
static void
fork_jobs(void (*job)(unsigned))
{
	int status, failed = 0;

	fflush(stdout);
	for (unsigned i = 0; i < run->jobs; i++) {
		pid_t pid = fork();

		if (pid < 0)
			give_up("fork", strerror(errno));
		if (pid == 0) {
			job(i);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	if (failed != 0)
		give_up("a job", "failed");
}

/*--- the stage -----------------------------------------------------------*/

struct maker {
	struct ds_pass	*pass;
	uint64_t	begin_ns;
	_Atomic bool	over;
};

static void *
make(void *arg)
{
	struct maker *m = arg;
	struct ds_lease l;
	struct ds_err err;

	while (!atomic_load(&m->over)) {
		uint64_t now;
		int rc = ds_pass_lease(m->pass, 10, &l, &err);

		if (rc < 0)
			give_up("lease", err.text);
		if (rc == 0)
			continue;
		keep_pace(m->begin_ns);
		now = clock_now_ns();
		memcpy(l.bytes, &now, sizeof now);
		if (ds_pass_publish(m->pass, &l, TINY, l.unit, 1, &err) < 0)
			give_up("publish", err.text);
	}
	return NULL;
}

static void
take_all(struct seat_at *s, struct result *r)
{
	struct ds_taken t;
	struct ds_err err;

	for (uint64_t u = 0; u < run->units; u++) {
		int rc = ds_pass_take(s->pass, u, SOON_MS, &t, &err);

		if (rc == DS_TAKE_SELF) {
			ds_pass_skip(s->pass, u);
			r->alone++;
			continue;
		}
		if (rc != DS_TAKEN)
			give_up("take", rc < 0 ? err.text : "in vain");
		note_late(r, u, t.bytes);
		ds_stage_release(s->stage, &t);
		ds_pass_delivered(s->pass, 1);
	}
}

static void
share_job(unsigned i)
{
	struct result *r = &run->result[i];
	struct seat_at s = { 0 };
	struct maker m = { 0 };
	pthread_t thread;
	char job[32];

	(void)snprintf(job, sizeof job, "%016x", i + 1);
	setenv("DESTALL_JOB", job, 1);
	sit_down(&s, run->units, TINY, "16", "64");
	meet();
	m.begin_ns = clock_now_ns();
	m.pass = s.pass;
	if (i < run->makers && pthread_create(&thread, NULL, make, &m) != 0)
		give_up("thread", strerror(errno));
	take_all(&s, r);
	r->end_ns = clock_now_ns();
	atomic_store(&m.over, true);
	if (i < run->makers)
		pthread_join(thread, NULL);
	get_up(&s);
}

void
share(unsigned jobs, uint64_t units, uint64_t pace_ns, unsigned makers)
{
	start_run(jobs, units, pace_ns, makers);
	fork_jobs(share_job);
	print_run();
}

/*--- pipes ---------------------------------------------------------------*/

static int ends[JOBS_MAX][2];

static void *
write_all(void *arg)
{
	uint64_t begin_ns = *(uint64_t *)arg, now;
	char unit[TINY] = { 0 };

	for (uint64_t u = 0; u < run->units; u++) {
		keep_pace(begin_ns);
		now = clock_now_ns();
		memcpy(unit, &now, sizeof now);
		for (unsigned i = 0; i < run->jobs; i++)
			if (write(ends[i][1], unit, TINY) != TINY)
				give_up("pipe", strerror(errno));
	}
	return NULL;
}

static void
pipe_job(unsigned i)
{
	struct result *r = &run->result[i];
	uint64_t begin_ns;
	char unit[TINY];
	pthread_t thread;

	meet();
	begin_ns = clock_now_ns();
	if (i == 0 && pthread_create(&thread, NULL, write_all,
	    &begin_ns) != 0)
		give_up("thread", strerror(errno));
	for (uint64_t u = 0; u < run->units; u++) {
		if (read(ends[i][0], unit, TINY) != TINY)
			give_up("pipe", strerror(errno));
		note_late(r, u, unit);
	}
	r->end_ns = clock_now_ns();
	if (i == 0)
		pthread_join(thread, NULL);
}

void
pipes(unsigned jobs, uint64_t units, uint64_t pace_ns)
{
	start_run(jobs, units, pace_ns, 1);
	for (unsigned i = 0; i < jobs; i++)
		if (pipe(ends[i]) != 0)
			give_up("pipe", strerror(errno));
	fork_jobs(pipe_job);
	print_run();
}
