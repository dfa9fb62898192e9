/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_pfm.c: the observer of counters: cycles, instructions and misses of the
 * last cache, which tell workers that want cores from workers that wait for
 * memory; and the kernel's own events.  Runs in the command only.
 *
 * What may be counted is tried on this thread, rung by rung, once:
 *
 *     hardware events                       none here: the kernel's own only
 *     of kernel and user                    not allowed: of the user's code only
 *     of guests, too                        not supported: not of guests
 *
 *  1. Each thread has two groups of at most four events, so that those of a group
 *     count at the same time, and the ratios of one are right.
 *  2. Descriptors are PFM_FILES_SHARE of the limit, at most.
 *  3. A group that did not count all the time is scaled up to it; one that never
 *     did is not known.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analyzer/obs_pfm_names.h"
#include "base/io.h"
#include "base/say.h"

#define PFM_FILES_SHARE	2u
#define GROUP		4u		/* events in one */
#define FORMAT		(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | \
			PERF_FORMAT_TOTAL_TIME_RUNNING)

enum { HARDWARE, SOFTWARE, GROUPS };
enum { TASK_CLOCK = PFM_EVENTS, FAULTS, SWITCHES, MIGRATIONS, IPC, MPKI };

static const struct metric metrics[] = {
	[PFM_CYCLES] = { .name = "cycles", .unit = "1" },
	[PFM_INSTRUCTIONS] = { .name = "instructions", .unit = "1" },
	[PFM_LLC_REFERENCES] = { .name = "llc_references", .unit = "1" },
	[PFM_LLC_MISSES] = { .name = "llc_misses", .unit = "1" },
	[TASK_CLOCK] = { .name = "task_clock", .unit = "ns" },
	[FAULTS] = { .name = "page_faults", .unit = "1" },
	[SWITCHES] = { .name = "context_switches", .unit = "1" },
	[MIGRATIONS] = { .name = "cpu_migrations", .unit = "1" },
	[IPC] = { .name = "instructions_per_cycle", .unit = "1",
	    .kind = METRIC_RATIO, .of = PFM_INSTRUCTIONS, .by = PFM_CYCLES,
	    .times = 1 },
	[MPKI] = { .name = "llc_misses_per_1000_instructions", .unit = "1",
	    .kind = METRIC_RATIO, .of = PFM_LLC_MISSES,
	    .by = PFM_INSTRUCTIONS, .times = 1000 },
	{ .name = NULL },
};

_Static_assert(sizeof metrics / sizeof *metrics <= METRICS_MAX + 1, "room");

static const uint64_t software[GROUP] = {
	PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
	PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
};

struct counters {			/* what can be counted here */
	struct pfm_code code[PFM_EVENTS];
	bool	has_hardware, user_only, no_guest;
	int	why;			/* no hardware: the errno */
	size_t	nr_fds;
};

struct group {				/* of a thread */
	int	fd[GROUP];		/* or -1; the first leads */
	uint64_t enabled, running, raw[GROUP];	/* at the last look */
	double	total[GROUP];
};

struct counted {
	struct group group[GROUPS];
};

int
obs_perf_open(struct perf_event_attr *attr, pid_t tid, int group)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, -1, group,
	    PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*--- what can be counted -------------------------------------------------*/

/* The kernel's own events that happen within it would be 0 without it. */
static bool
can_count(const struct counters *c, unsigned group, unsigned event)
{
	if (group == HARDWARE)
		return c->has_hardware;
	return !c->user_only || event < SWITCHES - TASK_CLOCK;
}

static int
open_event(const struct observe *o, const struct counters *c, unsigned group,
    unsigned event, pid_t tid, int leader)
{
	const struct pfm_code *code = &c->code[event];
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER0,
		.type = PERF_TYPE_SOFTWARE,
		.config = software[event],
		.read_format = FORMAT,
		.exclude_kernel = c->user_only,
		.exclude_hv = c->user_only,
		.exclude_guest = c->no_guest,
	};

	if (group == HARDWARE) {
		attr.size = PERF_ATTR_SIZE_VER1;
		attr.type = code->type;
		attr.config = code->config;
		attr.config1 = code->config1;
		attr.config2 = code->config2;
	}
	return o->perf_open(&attr, tid, leader);
}

/* 0: try again, on the next rung; else there is none. */
static int
step_down(struct counters *c, unsigned group, int e)
{
	if (e == EACCES && !c->user_only) {
		c->user_only = true;
		return 0;
	}
	if (e == EOPNOTSUPP && !c->no_guest) {
		c->no_guest = true;
		return 0;
	}
	if (group != HARDWARE || e == EPERM || e == ENOSYS || e == EACCES)
		return -e;
	c->why = e;
	return -ENODEV;
}

static int
try_group(const struct observe *o, struct counters *c, unsigned group)
{
	int fd, rc = 0;

	do {
		fd = open_event(o, c, group, 0, 0, -1);
		if (fd < 0)
			rc = step_down(c, group, -fd);
	} while (fd < 0 && rc == 0);
	io_close(&fd);
	return rc;
}

static int
refuse(int rc, struct ds_err *err)
{
	switch (-rc) {
	case EPERM:
		return err_fail(err, rc, "forbidden by a container or security "
		    "module (EPERM)");
	case EACCES:
		return err_fail(err, rc, "not allowed by perf_event_paranoid");
	default:
		return err_fail(err, rc, "perf_event_open: %s", strerror(-rc));
	}
}

/* One line, of the worst. */
static void
tell(struct watch *w, const struct counters *c, int names,
    const struct ds_err *err)
{
	char *note = w->note;

	if (!c->has_hardware)
		(void)snprintf(note, sizeof w->note, "this machine has none "
		    "(%s): the kernel's software events only",
		    strerrorname_np(c->why));
	else if (c->user_only)
		(void)snprintf(note, sizeof w->note, "perf_event_paranoid leaves "
		    "out the kernel: the programs' own code only");
	else if (names < 0)
		(void)snprintf(note, sizeof w->note, "%.60s: the kernel's "
		    "generic events only", err->text);
}

static int
open_pfm(struct watch *w, struct ds_err *err)
{
	struct counters *c;
	int names, rc;

	if (w->o->perf_open == NULL)
		return err_fail(err, -ENOTSUP, "they would cost a job at each "
		    "change of its threads, which --live is not to");
	c = calloc(1, sizeof *c);
	if (c == NULL)
		say_no_memory();
	names = pfm_names_find(c->code, err);
	rc = try_group(w->o, c, HARDWARE);
	c->has_hardware = rc == 0;
	if (rc == -ENODEV)
		rc = try_group(w->o, c, SOFTWARE);
	if (rc < 0) {
		free(c);
		return refuse(rc, err);
	}
	tell(w, c, names, err);
	w->own = c;
	return 0;
}

static void
close_pfm(struct watch *w)
{
	free(w->own);
}

/*--- a thread ------------------------------------------------------------*/

static bool
has_room(const struct counters *c)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    c->nr_fds + GROUPS * GROUP <= limit.rlim_cur / PFM_FILES_SHARE;
}

/* An event that the group cannot have besides the first is left out. */
static int
open_group(const struct observe *o, struct counters *c, unsigned which,
    pid_t tid, struct group *g)
{
	int fd;

	for (unsigned i = 0; i < GROUP; i++) {
		if (!can_count(c, which, i))
			continue;
		fd = open_event(o, c, which, i, tid, g->fd[0]);
		if (fd < 0 && (i == 0 || fd == -EMFILE || fd == -ENFILE))
			return fd;
		if (fd >= 0)
			c->nr_fds++;
		g->fd[i] = fd >= 0 ? fd : -1;
	}
	return 0;
}

static void
drop_pfm(struct watch *w, struct subject *s)
{
	struct counted *t = s->state[w->index];
	struct counters *c = w->own;

	for (unsigned i = 0; i < GROUPS; i++) {
		/* The leader last: without it the others stand alone. */
		for (unsigned j = GROUP; j-- > 0; ) {
			if (t->group[i].fd[j] < 0)
				continue;
			io_close(&t->group[i].fd[j]);
			c->nr_fds--;
		}
	}
	free(t);
	s->state[w->index] = NULL;
}

static int
open_thread(struct watch *w, struct subject *s, struct ds_err *err)
{
	struct counters *c = w->own;
	struct counted *t;
	int rc = 0;

	if (!has_room(c))
		return err_fail(err, -EMFILE, "the limit of open files has no "
		    "room for the counters of all threads");
	t = calloc(1, sizeof *t);
	if (t == NULL)
		say_no_memory();
	memset(&t->group[HARDWARE].fd, -1, sizeof t->group[HARDWARE].fd);
	memset(&t->group[SOFTWARE].fd, -1, sizeof t->group[SOFTWARE].fd);
	s->state[w->index] = t;
	for (unsigned i = 0; i < GROUPS && rc == 0; i++)
		rc = open_group(w->o, c, i, s->tid, &t->group[i]);
	if (rc == 0)
		return 0;
	drop_pfm(w, s);
	return err_fail(err, rc, "thread %d of process %d: %s", s->tid, s->pid,
	    strerror(-rc));
}

/*--- its counts ----------------------------------------------------------*/

struct counts {				/* as the kernel writes a group */
	uint64_t nr, enabled, running, raw[GROUP];
};

/* Scaled by the time since the last look, when it may have run only for a part
 * of it. */
static void
add_counts(struct group *g, const struct counts *k)
{
	double enabled = (double)(k->enabled - g->enabled);
	double running = (double)(k->running - g->running);

	if (k->running <= g->running)
		return;
	for (unsigned i = 0; i < GROUP; i++) {
		g->total[i] += (double)(k->raw[i] - g->raw[i]) * enabled /
		    running;
		g->raw[i] = k->raw[i];
	}
	g->enabled = k->enabled;
	g->running = k->running;
}

/* The kernel tells those that are open, in the order of the group. */
static int
read_counts(const struct group *g, struct counts *k, struct ds_err *err)
{
	struct counts told = { 0 };
	unsigned at = 0;
	ssize_t n = read(g->fd[0], &told, sizeof told);

	if (n < 0)
		return err_errno(err, "cannot be read");
	*k = told;
	for (unsigned i = 0; i < GROUP; i++)
		k->raw[i] = g->fd[i] >= 0 && at < GROUP ? told.raw[at++] : 0;
	/* None at all: an event that failed. */
	return told.nr != at || (size_t)n < offsetof(struct counts, raw[at]) ?
	    err_fail(err, -EIO, "the kernel tells none") : 0;
}

static int
read_group(struct group *g, double *value, struct ds_err *err)
{
	struct counts k = { 0 };
	int rc;

	if (g->fd[0] < 0)
		return 0;
	rc = read_counts(g, &k, err);
	if (rc < 0)
		return rc;
	add_counts(g, &k);
	if (k.enabled > 0 && g->running == 0)
		return err_fail(err, -EBUSY, "the counters did not run: "
		    "somebody else uses them");
	for (unsigned i = 0; i < GROUP; i++) {
		if (g->fd[i] >= 0)
			value[i] = g->total[i];
	}
	return 0;
}

static int
read_pfm(struct watch *w, struct subject *s, double *value, struct ds_err *err)
{
	struct counted *t = s->state[w->index];
	int rc;

	if (t == NULL) {
		rc = s->is_gone ? -ESRCH : open_thread(w, s, err);
		if (rc < 0)
			return rc;
		t = s->state[w->index];
	}
	rc = read_group(&t->group[SOFTWARE], value + TASK_CLOCK, err);
	if (rc < 0)
		return rc;
	return read_group(&t->group[HARDWARE], value, err);
}

const struct observer obs_pfm = {
	.name = "pfm",
	.what = "hardware counters",
	.scope = SCOPE_THREAD,
	.per_worker = true,
	.metrics = metrics,
	.open = open_pfm,
	.read = read_pfm,
	.drop = drop_pfm,
	.close = close_pfm,
};
