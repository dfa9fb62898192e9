/* SPDX-License-Identifier: Apache-2.0
 *
 * drill.c: jobs that share batches and are killed at any time; how soon do the
 * others go on?  Run by tests.
 *
 *     drill FOLDER PREFIX [NAME=VALUE]...
 *
 *     jobs=4       so many processes at a time, each a job of the native loader
 *     kills=20     one after the other; each time another takes its place
 *     dice=1       of who is killed, and when
 *     pause=60     at most so many ms between two kills
 *     hub=PID      it is this process that is killed, once, and no job
 *     step-us=0    what a job does with a batch
 *     others       options of the loader
 *
 * The n-th job writes the ledger PREFIX.n.  Prints, for each job, "ended FILE"
 * or "killed FILE"; for each kill "recovery US SURVIVORS": from kill() to the
 * first new batch of the last of those who had one before; at the end "batch
 * US", the mean time of a job between two batches.
 *
 * Exit status: 0; 1 if a job failed, or had no batch for HANG_NS.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "destall.h"

#define JOBS_MAX	16u
#define STAMPS		4096u
#define HANG_NS		(60 * NS_PER_S)
#define LOOK_NS		200000

/* What a job says while it runs, in memory that it shares with its parent. */
struct told {
	_Atomic uint64_t nr;		/* batches */
	_Atomic uint64_t stamp[STAMPS];	/* when, the last of them */
};

struct job {
	pid_t		pid;		/* 0: none */
	unsigned	number;
	struct told	*told;
	uint64_t	before;		/* batches at the time of a kill */
};

static struct {
	const char	*folder, *prefix;
	unsigned	jobs, kills, pause, step_us;
	uint64_t	dice;
	pid_t		hub;
	char		**options;	/* of the loader */
} plan = { .jobs = 4, .kills = 20, .pause = 60, .dice = 1 };

static struct job jobs[JOBS_MAX];
static unsigned next_number;
static struct rng rng;
static uint64_t sum_ns, nr_intervals;

static void complain(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

static void
complain(const char *fmt, ...)
{
	va_list ap;

	(void)fputs("drill: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

static void
sleep_ns(uint64_t ns)
{
	const struct timespec t = { .tv_sec = (time_t)(ns / NS_PER_S),
	    .tv_nsec = (long)(ns % NS_PER_S) };

	(void)nanosleep(&t, NULL);
}

/*--- a job ---------------------------------------------------------------*/

static int
set_options(struct ds_loader *l, unsigned number, struct ds_err *err)
{
	char text[512], *value;
	int rc;

	(void)snprintf(text, sizeof text, "%s.%u", plan.prefix, number);
	rc = ds_loader_set(l, "ledger", text, err);
	if (rc == 0)
		rc = ds_loader_set(l, "share", "yes", err);
	for (char **o = plan.options; rc == 0 && *o != NULL; o++) {
		(void)snprintf(text, sizeof text, "%s", *o);
		value = strchr(text, '=');
		if (value == NULL)
			return -EINVAL;
		*value++ = '\0';
		rc = ds_loader_set(l, text, value, err);
	}
	return rc;
}

static void
tell_batch(struct told *t)
{
	uint64_t nr = atomic_load_explicit(&t->nr, memory_order_relaxed);

	atomic_store_explicit(&t->stamp[nr % STAMPS], clock_now_ns(),
	    memory_order_relaxed);
	/* release: find_stamp() loads it with acquire and then the stamps */
	atomic_store_explicit(&t->nr, nr + 1, memory_order_release);
}

static int
take_all(struct ds_loader *l, struct told *told, struct ds_err *err)
{
	struct ds_batch *b;
	int rc;

	while ((rc = ds_loader_next(l, &b, err)) >= 0) {
		if (rc == 0)
			continue;
		tell_batch(told);
		if (plan.step_us > 0)
			sleep_ns(plan.step_us * UINT64_C(1000));
		ds_loader_release(l, &b);
	}
	return rc == -ENOENT ? 0 : rc;
}

/* In the child.  Without a hub it is a job all the same. */
static int
run_job(unsigned number, struct told *told)
{
	struct ds_hub *hub = NULL;
	struct ds_data *data = NULL;
	struct ds_loader *l = NULL;
	struct ds_err err = { .text = "no reason was given" };
	int rc;

	(void)ds_connect(&hub, DS_NO_START, NULL);
	rc = ds_data_open(&data, hub, plan.folder, NULL, &err);
	if (rc == 0)
		rc = ds_loader_open(&l, data, &err);
	if (rc == 0)
		rc = set_options(l, number, &err);
	if (rc == 0)
		rc = take_all(l, told, &err);
	ds_loader_close(&l);
	ds_data_close(&data);
	ds_disconnect(&hub);
	if (rc < 0)
		complain("job %u: %s", number, err.text);
	return rc < 0 ? 1 : 0;
}

/*--- all jobs ------------------------------------------------------------*/

static bool
start_job(struct job *j)
{
	j->number = next_number++;
	memset(j->told, 0, sizeof *j->told);
	(void)fflush(stdout);
	j->pid = fork();
	if (j->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(run_job(j->number, j->told));
	}
	return j->pid > 0;
}

static void
note_intervals(const struct told *t)
{
	uint64_t nr = atomic_load_explicit(&t->nr, memory_order_acquire);
	uint64_t first, last;

	if (nr < 2 || nr > STAMPS)
		return;
	first = atomic_load_explicit(&t->stamp[0], memory_order_relaxed);
	last = atomic_load_explicit(&t->stamp[nr - 1], memory_order_relaxed);
	sum_ns += last - first;
	nr_intervals += nr - 1;
}

/* flags: WNOHANG or 0.  False: it has failed. */
static bool
reap(struct job *j, int flags, int signal)
{
	int status;

	if (j->pid == 0 || waitpid(j->pid, &status, flags) != j->pid)
		return true;
	j->pid = 0;
	note_intervals(j->told);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		printf("ended %s.%u\n", plan.prefix, j->number);
		return true;
	}
	if (signal != 0 && WIFSIGNALED(status) && WTERMSIG(status) == signal) {
		printf("killed %s.%u\n", plan.prefix, j->number);
		return true;
	}
	complain("job %u: status %#x", j->number, (unsigned)status);
	return false;
}

/* Those that have ended are followed by others. */
static bool
fill_up(void)
{
	for (unsigned i = 0; i < plan.jobs; i++) {
		if (!reap(&jobs[i], WNOHANG, 0))
			return false;
		if (jobs[i].pid == 0 && !start_job(&jobs[i]))
			return false;
	}
	return true;
}

/*--- a kill --------------------------------------------------------------*/

/* The first batch after a time; 0: there is none yet. */
static uint64_t
find_stamp(const struct job *j, uint64_t since_ns)
{
	uint64_t nr = atomic_load_explicit(&j->told->nr, memory_order_acquire);
	uint64_t stamp;

	for (uint64_t i = j->before; i < nr; i++) {
		stamp = atomic_load_explicit(&j->told->stamp[i % STAMPS],
		    memory_order_relaxed);
		if (stamp > since_ns)
			return stamp;
	}
	return 0;
}

static void
note_before(void)
{
	for (unsigned i = 0; i < plan.jobs; i++)
		jobs[i].before = atomic_load_explicit(&jobs[i].told->nr,
		    memory_order_acquire);
}

/* Until that job has a batch.  *last_ns: when, if it is the last of all. */
static bool
await_batch(struct job *j, uint64_t killed_ns, uint64_t *last_ns,
    unsigned *survivors)
{
	uint64_t stamp;

	while ((stamp = find_stamp(j, killed_ns)) == 0) {
		if (clock_now_ns() > killed_ns + HANG_NS) {
			complain("job %u: no batch", j->number);
			return false;
		}
		if (!reap(j, WNOHANG, 0))
			return false;
		if (j->pid == 0)
			return true;
		sleep_ns(LOOK_NS);
	}
	(*survivors)++;
	if (stamp > *last_ns)
		*last_ns = stamp;
	return true;
}

static bool
kill_one(struct job *victim, pid_t pid)
{
	uint64_t killed_ns, last_ns = 0;
	unsigned survivors = 0;

	note_before();
	killed_ns = clock_now_ns();
	if (kill(pid, SIGKILL) != 0) {
		complain("cannot kill %d: %s", (int)pid, strerror(errno));
		return false;
	}
	/* Who had none before waits for nobody's. */
	for (unsigned i = 0; i < plan.jobs; i++) {
		if (&jobs[i] != victim && jobs[i].before > 0 &&
		    jobs[i].pid != 0 && !await_batch(&jobs[i], killed_ns,
		    &last_ns, &survivors))
			return false;
	}
	if (survivors > 0)
		printf("recovery %" PRIu64 " %u\n",
		    (last_ns - killed_ns) / 1000, survivors);
	return victim == NULL || reap(victim, 0, SIGKILL);
}

static void
pause_a_while(void)
{
	sleep_ns((1 + rng_below(&rng, plan.pause)) * NS_PER_MS);
}

static bool
kill_jobs(void)
{
	struct job *victim;

	for (unsigned i = 0; i < plan.kills; i++) {
		if (!fill_up())
			return false;
		pause_a_while();
		if (!fill_up())
			return false;
		victim = &jobs[rng_below(&rng, plan.jobs)];
		if (!kill_one(victim, victim->pid))
			return false;
	}
	return true;
}

/* Until each has had a batch: one that has not even asked for the hub could not
 * miss it. */
static bool
await_first(void)
{
	uint64_t since_ns = clock_now_ns(), last_ns = 0;
	unsigned nr = 0;

	for (unsigned i = 0; i < plan.jobs; i++) {
		if (!await_batch(&jobs[i], since_ns, &last_ns, &nr))
			return false;
	}
	return true;
}

static bool
kill_hub(void)
{
	if (!fill_up() || !await_first())
		return false;
	pause_a_while();
	return kill_one(NULL, plan.hub);
}

/*--- main ----------------------------------------------------------------*/

static bool
await_ends(void)
{
	uint64_t since_ns = clock_now_ns();

	for (unsigned i = 0; i < plan.jobs; i++) {
		while (jobs[i].pid != 0) {
			if (!reap(&jobs[i], WNOHANG, 0))
				return false;
			if (clock_now_ns() > since_ns + HANG_NS) {
				complain("job %u: no end", jobs[i].number);
				return false;
			}
			sleep_ns(LOOK_NS);
		}
	}
	return true;
}

static bool
take_number(const char *text, const char *name, uint64_t *number)
{
	size_t len = strlen(name);

	if (strncmp(text, name, len) != 0 || text[len] != '=')
		return false;
	*number = strtoull(text + len + 1, NULL, 10);
	return true;
}

/* What is not ours is the loader's. */
static void
parse(char **argv)
{
	char **to = argv;
	uint64_t n;

	plan.options = argv;
	for (; *argv != NULL; argv++) {
		if (take_number(*argv, "jobs", &n))
			plan.jobs = n < JOBS_MAX ? (unsigned)n : JOBS_MAX;
		else if (take_number(*argv, "kills", &n))
			plan.kills = (unsigned)n;
		else if (take_number(*argv, "pause", &n))
			plan.pause = n > 0 ? (unsigned)n : 1;
		else if (take_number(*argv, "step-us", &n))
			plan.step_us = (unsigned)n;
		else if (take_number(*argv, "hub", &n))
			plan.hub = (pid_t)n;
		else if (!take_number(*argv, "dice", &plan.dice))
			*to++ = *argv;
	}
	*to = NULL;
}

static bool
share_memory(void)
{
	struct told *told = mmap(NULL, JOBS_MAX * sizeof *told,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (told == MAP_FAILED)
		return false;
	for (unsigned i = 0; i < JOBS_MAX; i++)
		jobs[i].told = &told[i];
	return true;
}

int
main(int argc, char **argv)
{
	bool good;

	if (argc < 3 || !share_memory())
		return 99;
	plan.folder = argv[1];
	plan.prefix = argv[2];
	parse(argv + 3);
	rng_init(&rng, RNG_ORDER, plan.dice, 0, 0);
	good = (plan.hub != 0 ? kill_hub() : kill_jobs()) && await_ends();
	for (unsigned i = 0; i < plan.jobs; i++) {
		if (jobs[i].pid != 0)
			(void)kill(jobs[i].pid, SIGKILL);
	}
	if (nr_intervals > 0)
		printf("batch %" PRIu64 "\n", sum_ns / nr_intervals / 1000);
	return good ? 0 : 1;
}
