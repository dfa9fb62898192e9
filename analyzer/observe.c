/* SPDX-License-Identifier: Apache-2.0
 *
 * observe.c: the table of observers, and how they are asked.
 * Runs in the command only.
 *
 * A sample asks every observer of every subject and adds what it saw to the
 * phase, or to two where it changed since the last one.
 */

#include <config.h>

#include "analyzer/observe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "analyzer/observer.h"
#include "base/list.h"
#include "base/say.h"

#define FILES_SHARE	4u	/* of the limit of open files: for processes */

/* Whether a process is gone is learnt from the first. */
static const struct observer *const observers[] = {
	&obs_proc,
	&obs_sched,
	&obs_io,
	&obs_cgroup,
	&obs_psi,
	&obs_block,
	&obs_hub,
	&obs_pfm,
};

_Static_assert(sizeof observers / sizeof *observers == OBSERVERS,
    "as many as subjects have room for");

/*--- a sample ------------------------------------------------------------*/

struct sample {
	uint64_t now_ns, at_ns;		/* the next phase began */
	size_t	next;			/* or the one that there is */
	bool	is_change;
};

static void
open_watch(struct watch *w)
{
	struct ds_err err;
	int rc = w->is->open != NULL ? w->is->open(w, &err) : 0;

	if (rc < 0)
		gap_add(&w->gap, "%s", err.text);
	if (rc != OBSERVER_LATER)
		w->state = rc < 0 ? WATCH_MISSING : WATCH_OPEN;
}

/* The part of the time since then that belongs to the next phase. */
static double
find_part(const struct sample *t, uint64_t since_ns)
{
	if (!t->is_change || t->at_ns >= t->now_ns)
		return 0;
	return t->at_ns <= since_ns ? 1 :
	    (double)(t->now_ns - t->at_ns) / (double)(t->now_ns - since_ns);
}

static void
add_glance(const struct watch *w, const struct sample *t, const struct glance *g)
{
	struct observe *o = w->o;
	double ns = w->read_ns != 0 ? (double)(t->now_ns - w->read_ns) : 0;
	double part = find_part(t, w->read_ns);

	if (o->phase < o->nr_phases)
		sums_add(&o->phases[o->phase], w, g, ns, 1 - part);
	if (t->next < o->nr_phases)
		sums_add(&o->phases[t->next], w, g, ns, part);
}

static void
sample_watch(struct watch *w, const struct sample *t)
{
	struct glance *g = w->o->glance;

	if (w->state == WATCH_CLOSED)
		open_watch(w);
	if (w->state != WATCH_OPEN || (w->read_ns != 0 && !t->is_change &&
	    t->now_ns - w->read_ns < w->is->pause_ns))
		return;
	glance_take(g, w);
	add_glance(w, t, g);
	w->read_ns = t->now_ns;
}

static void
sweep(struct observe *o)
{
	struct watched *p;
	size_t kept = 0;

	for (size_t i = 0; i < o->nr_processes; i++) {
		p = o->processes[i];
		p->was_seen = true;
		if (p->is.is_gone) {
			watched_free(o, p);
			continue;
		}
		watched_sweep(o, p);
		o->processes[kept++] = p;
	}
	o->nr_processes = kept;
}

static void
add_time(struct observe *o, const struct sample *t)
{
	double ns = (double)(t->now_ns - o->sampled_ns);
	double part = find_part(t, o->sampled_ns);

	if (o->sampled_ns == 0)
		return;
	if (o->phase < o->nr_phases)
		o->phases[o->phase].ns += ns * (1 - part);
	if (t->next < o->nr_phases)
		o->phases[t->next].ns += ns * part;
}

static void
sample(struct observe *o, const struct sample *t)
{
	for (size_t i = 0; i < o->nr_processes; i++)
		watched_list_threads(o, o->processes[i]);
	for (unsigned i = 0; i < OBSERVERS; i++)
		sample_watch(&o->watches[i], t);
	sweep(o);
	add_time(o, t);
	o->sampled_ns = t->now_ns;
	o->is_urgent = false;
}

void
observe_sample(struct observe *o)
{
	struct sample t = { .now_ns = clock_now_ns(), .next = o->phase };

	if (o->is_urgent || o->sampled_ns == 0 ||
	    t.now_ns - o->sampled_ns >= OBSERVE_SAMPLE_NS)
		sample(o, &t);
}

/*--- what there is to observe --------------------------------------------*/

static char *
copy(const char *text)
{
	char *p = strdup(text);

	if (p == NULL)
		say_no_memory();
	return p;
}

void
observe_init(struct observe *o, const char *root)
{
	*o = (struct observe){
		/* Paths below it begin with a slash. */
		.root = copy(strcmp(root, "/") == 0 ? "" : root),
		.perf_open = obs_perf_open, .hub = &observe_hub,
		.phase = SIZE_MAX,
		.watches = calloc(OBSERVERS, sizeof *o->watches),
		.glance = malloc(sizeof *o->glance),
		.whole = malloc(sizeof *o->whole),
	};
	if (o->watches == NULL || o->glance == NULL || o->whole == NULL)
		say_no_memory();
	subject_init(o->whole, NAN);
	for (unsigned i = 0; i < OBSERVERS; i++)
		o->watches[i] = (struct watch){
			.is = observers[i], .o = o, .index = i,
		};
}

void
observe_fini(struct observe *o)
{
	for (size_t i = 0; i < o->nr_processes; i++)
		watched_free(o, o->processes[i]);
	for (unsigned i = 0; i < OBSERVERS; i++) {
		if (o->watches[i].state == WATCH_OPEN &&
		    observers[i]->close != NULL)
			observers[i]->close(&o->watches[i]);
	}
	for (size_t i = 0; i < o->nr_phases; i++)
		sums_fini(&o->phases[i]);
	free(o->processes);
	free(o->phases);
	free(o->watches);
	free(o->glance);
	free(o->whole);
	free(o->data);
	free(o->root);
	*o = (struct observe){ 0 };
}

void
observe_data(struct observe *o, const char *path)
{
	struct stat st;

	free(o->data);
	o->data = copy(path);
	o->data_dev = stat(path, &st) == 0 ? st.st_dev : 0;
}

static bool
has_room(const struct observe *o)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    o->nr_processes < limit.rlim_cur / FILES_SHARE;
}

static struct watched *
add_process(struct observe *o, pid_t pid)
{
	struct watched *p;
	struct ds_err err;

	if (!has_room(o)) {
		gap_add(&o->gap, "only the first %zu are observed, "
		    "as the limit of open files allows", o->nr_processes);
		return NULL;
	}
	p = watched_new(o, pid, &err);
	if (p == NULL) {
		if (err.code != -ENOENT)
			gap_add(&o->gap, "%s", err.text);
		return NULL;
	}
	o->processes = list_grow(o->processes, o->nr_processes,
	    sizeof(struct watched *));
	o->processes[o->nr_processes++] = p;
	o->is_urgent = true;
	return p;
}

void
observe_process(struct observe *o, pid_t pid, bool is_worker, unsigned worker)
{
	struct watched *p = NULL;

	for (size_t i = 0; i < o->nr_processes && p == NULL; i++) {
		if (o->processes[i]->is.pid == pid &&
		    !watched_lacks(o, o->processes[i], 0))
			p = o->processes[i];
	}
	if (p == NULL)
		p = add_process(o, pid);
	if (p == NULL)
		return;
	p->is_worker = is_worker;
	p->worker = worker;
	if (o->job == 0)
		o->job = pid;
}

void
observe_phase(struct observe *o, const char *phase, uint64_t at_ns)
{
	struct sample t = {
		.now_ns = clock_now_ns(), .at_ns = at_ns, .is_change = true,
		.next = phase != NULL ? sums_find(o, phase) : SIZE_MAX,
	};

	sample(o, &t);
	o->phase = t.next;
}

static void
end_watch(struct watch *w)
{
	struct observe *o = w->o;

	for (size_t i = 0; i < o->nr_processes; i++)
		watched_drop(o, o->processes[i], w->index);
	w->is->close(w);
	w->state = WATCH_ENDED;
}

bool
observe_end_counting(struct observe *o)
{
	for (unsigned i = 0; i < OBSERVERS; i++) {
		if (observers[i] == &obs_pfm &&
		    o->watches[i].state == WATCH_OPEN) {
			end_watch(&o->watches[i]);
			return true;
		}
	}
	return false;
}

/*--- what was seen -------------------------------------------------------*/

static void
confess(const char *what, bool in_part, const char *note,
    const struct observe_gap *g, struct result *r)
{
	const char *state = in_part ? "observed in part" : "not observed";
	const char *join = note[0] != '\0' && g->times > 0 ? "; " : "";

	if (g->times > 1)
		result_confess(r, "%s: %s: %s%s%s (%llu times)", state, what,
		    note, join, g->why, (unsigned long long)g->times);
	else if (g->times > 0 || note[0] != '\0')
		result_confess(r, "%s: %s: %s%s%s", state, what, note, join,
		    g->why);
}

void
observe_put(struct observe *o, struct result *r)
{
	struct sample t = {
		.now_ns = clock_now_ns(), .next = o->phase, .is_change = true,
	};

	t.at_ns = t.now_ns;
	sample(o, &t);
	for (size_t i = 0; i < o->nr_phases; i++)
		sums_put(&o->phases[i], o, r);
	confess("processes", true, "", &o->gap, r);
	for (unsigned i = 0; i < OBSERVERS; i++)
		confess(observers[i]->what, o->watches[i].has_seen,
		    o->watches[i].note, &o->watches[i].gap, r);
}
