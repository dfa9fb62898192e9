/* SPDX-License-Identifier: Apache-2.0
 *
 * fixes.c: what would help, and how much.  Runs in the command only.
 *
 * Gains are ratios of two predictions, or of a prediction and a speed that was
 * measured under the same conditions: what the model leaves out cancels.
 */

#include <config.h>

#include "analyzer/fixes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fixes_predict.h"
#include "base/say.h"
#include "base/shell.h"
#include "base/text.h"

#define GAIN_SMALL	0.02
#define FIXES		8u
#define RANGE		1000.0		/* a gain beyond it is a failed figure */

struct list {
	struct result_fix fix[FIXES];
	size_t	nr;
};

/*--- the list ------------------------------------------------------------*/

static char *format(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

static char *
format(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		say_no_memory();
	va_end(ap);
	return text;
}

static bool
is_worth(double gain)
{
	return gain >= GAIN_SMALL && gain < RANGE;
}

/* Behind those that gain as much or more.  Takes the texts over. */
static void
add(struct list *l, double gain, char *what, char *command)
{
	size_t i = l->nr++;

	for (; i > 0 && l->fix[i - 1].gain < gain; i--)
		l->fix[i] = l->fix[i - 1];
	l->fix[i] = (struct result_fix){ what, gain, command };
}

/*--- commands ------------------------------------------------------------*/

/* destall run, with what it needs for this job. */
static char *
run_command(const struct result *r, const char *data, uint64_t cache_bytes)
{
	char *dir = data != NULL ? shell_quote(data) : NULL, *out;
	char size[TEXT_FIGURE] = "";

	if (cache_bytes > 0)
		snprintf(size, sizeof size, " --cache %lluM",
		    (unsigned long long)((cache_bytes + 0xfffff) >> 20));
	out = format("destall run%s%s%s -- %s", size,
	    dir != NULL ? " --data " : "", dir != NULL ? dir : "",
	    r->command != NULL ? r->command : "CMD");
	free(dir);
	return out;
}

static char *
workers_line(const struct predict *p, unsigned workers)
{
	if (p->now.is_pipelined)
		return format("ds_loader_set(loader, \"threads\", \"%u\", &err)",
		    workers);
	return format("num_workers=%u", workers);
}

static const char *
workers_word(const struct predict *p, unsigned workers)
{
	if (p->now.is_pipelined)
		return workers == 1 ? "thread" : "threads";
	return workers == 1 ? "worker" : "workers";
}

/*--- one fix each --------------------------------------------------------*/

static void
add_workers(struct list *l, const struct predict *p)
{
	unsigned workers;
	double gain = predict_workers(p, &workers);

	if (is_worth(gain))
		add(l, gain, format("%u %s instead of %u", workers,
		    workers_word(p, workers), p->now.workers),
		    workers_line(p, workers));
}

static void
add_cores(struct list *l, const struct predict *p)
{
	unsigned cores, workers;
	double gain = predict_cores(p, &cores, &workers);

	if (is_worth(gain))
		add(l, gain, format("%u cores for each accelerator instead of "
		    "%.3g, and %u %s", cores, p->now.cores, workers,
		    workers_word(p, workers)), workers_line(p, workers));
}

static void
add_cache(struct list *l, const struct predict *p, const struct result *r,
    const struct fixes_about *about)
{
	uint64_t bytes;
	double x, gain = predict_cache(p, about->free_bytes, &x, &bytes);
	char size[TEXT_FIGURE];

	if (is_worth(gain))
		add(l, gain, format("a cache of %s, which holds %.0f %% of the "
		    "data set", text_size(size, bytes), 100 * x),
		    run_command(r, about->data, bytes));
}

/* A copy elsewhere. */
static char *
copy_command(const char *data)
{
	char *dir = data != NULL ? shell_quote(data) : NULL, *out;

	out = format("cp -r %s FASTER/", dir != NULL ? dir : "DATA");
	free(dir);
	return out;
}

static void
add_storage(struct list *l, const struct predict *p,
    const struct fixes_about *about)
{
	char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE], d[TEXT_FIGURE];
	double rate, gain = predict_storage(p, &rate);
	double now = p->now.storage * p->ranks, bytes = p->bytes_per_sample;

	if (!is_worth(gain))
		return;
	text_count(a, (uint64_t)llround(rate));
	text_count(b, (uint64_t)llround(now));
	if (bytes > 0)
		add(l, gain, format("storage that reads %s samples/s (%s/s) "
		    "instead of %s (%s/s)", a,
		    text_size(c, (uint64_t)(rate * bytes)), b,
		    text_size(d, (uint64_t)(now * bytes))),
		    copy_command(about->data));
	else
		add(l, gain, format("storage that reads %s samples/s instead of "
		    "%s", a, b), copy_command(about->data));
}

/* Its gain is that of two jobs over two jobs that do not share. */
static void
add_jobs(struct list *l, const struct predict *p, const struct result *r,
    const struct fixes_about *about)
{
	double two = predict_jobs(p, 2), four = predict_jobs(p, 4);
	double eight = predict_jobs(p, 8);

	if (r->mode == MODE_RUNS || !is_worth(two))
		return;
	add(l, two, format("several such jobs at a time that share their "
	    "batches (DESTALL=1): each gains %.0f %% over unshared ones with 2 "
	    "jobs, %.0f %% with 4, %.0f %% with 8", 100 * two, 100 * four,
	    100 * eight), run_command(r, about->data, 0));
}

static void
add_pinning(struct list *l, const struct predict *p, const struct result *r,
    const struct fixes_about *about)
{
	double gain = predict_no_handover(p);

	if (about->can_pin && r->has_verdict && p->now.workers > 0 &&
	    r->bottleneck == SHARE_HANDOVER && is_worth(gain))
		add(l, gain, format("the hand-over in a thread beside the main "
		    "one: at most so much"), format("pin_memory=True"));
}

void
fixes_find(struct result *r, const struct fixes_about *about)
{
	struct list l = { .nr = 0 };
	struct predict p;

	if (r->has_verdict && r->bottleneck == SHARE_COMPUTE)
		return;
	predict_init(&p, r);
	add_workers(&l, &p);
	add_cores(&l, &p);
	add_cache(&l, &p, r, about);
	add_storage(&l, &p, about);
	add_jobs(&l, &p, r, about);
	add_pinning(&l, &p, r, about);
	for (size_t i = 0; i < l.nr; i++) {
		result_add_fix(r, l.fix[i].what, l.fix[i].gain,
		    l.fix[i].command);
		free(l.fix[i].what);
		free(l.fix[i].command);
	}
}
