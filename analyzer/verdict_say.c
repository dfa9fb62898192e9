/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict_say.c: the sentence of a verdict, as much of it as figures are known
 * for.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyzer/model.h"
#include "base/text.h"

#define CORES_SMALL	0.05	/* is not worth a sentence */
#define RESIDENT_SMALL	0.01
#define HANDOVER_SMALL	0.02

#define SENTENCE	256

static void set_sentence(struct result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
set_sentence(struct result *r, const char *fmt, ...)
{
	char text[SENTENCE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	result_set_text(&r->sentence, text);
}

/*--- figures -------------------------------------------------------------*/

static double
ranks_of(const struct result *r)
{
	return r->job.ranks > 1 ? (double)r->job.ranks : 1;
}

static const char *
count(char out[TEXT_FIGURE], double rate)
{
	return text_count(out, (uint64_t)llround(fmax(0, fmin(rate, 1e15))));
}

static double
rate_of(const struct result *r, enum rate which)
{
	return r->rate[which].is_known ? r->rate[which].value : NAN;
}

static double
percent(const struct result *r, enum share s)
{
	return 100 * fmin(1, fmax(0, r->share[s].value));
}

/* Memory that was not measured is no limit. */
static double
fetch_rate(const struct model_job *j)
{
	return model_fetch_rate(j->storage,
	    isnan(j->cache) ? INFINITY : j->cache, j->x);
}

/* What the accelerator takes and fetching gives, of one rank. */
static double
speed_wanted(const struct result *r, const struct model_job *j)
{
	double ingest = rate_of(r, RATE_INGEST) / ranks_of(r);

	return isnan(ingest) ? NAN : fmin(ingest, fetch_rate(j));
}

/* So many workers keep up with a speed. */
static double
workers_for(const struct model_job *j, double speed)
{
	double fetch = j->is_pipelined || j->x == 1 ? 0 :
	    (1 - j->x) * j->t_fetch_miss;

	return ceil(speed * (j->t_prep + fetch) - 1e-9);
}

static const char *
workers_word(const struct model_job *j, double nr)
{
	if (j->is_pipelined)
		return nr == 1 ? "thread" : "threads";
	return nr == 1 ? "worker" : "workers";
}

/*--- of each bottleneck --------------------------------------------------*/

/* The last thing to say of a stall: how fast, and how fast the accelerator is. */
static void
say_rates(struct result *r, enum share s)
{
	double ingest = rate_of(r, RATE_INGEST);
	char a[TEXT_FIGURE], b[TEXT_FIGURE];

	count(a, rate_of(r, RATE_ACTUAL));
	if (ingest > rate_of(r, RATE_ACTUAL))
		set_sentence(r, "%.0f %% of your epoch is %s stall: %s of the %s "
		    "samples/s that the accelerator takes", percent(r, s),
		    share_names[s], a, count(b, ingest));
	else
		set_sentence(r, "%.0f %% of your epoch is %s stall",
		    percent(r, s), share_names[s]);
}

static bool
say_workers(struct result *r, const struct model_job *j, double speed)
{
	double w = j->workers, enough = workers_for(j, speed);
	double busy = rate_of(r, RATE_ACTUAL) / ranks_of(r) * j->t_prep_cpu;

	if (!(enough > w) || !(busy >= 0) || !(j->cores > 0) || w == 0)
		return false;
	set_sentence(r, "%.0f %% of your epoch is prep stall: %.0f %s keep%s "
	    "%.1f of %.3g cores busy, %.0f would be enough",
	    percent(r, SHARE_PREP), w, workers_word(j, w), w == 1 ? "s" : "",
	    busy, j->cores, enough);
	return true;
}

static void
say_prep(struct result *r)
{
	double wanted, needed, missing;
	struct model_job j;

	model_of_result(&j, r);
	wanted = speed_wanted(r, &j);
	needed = wanted * j.t_prep_cpu;
	missing = needed - rate_of(r, RATE_ACTUAL) / ranks_of(r) * j.t_prep_cpu;
	if (j.workers == 0 && !j.is_pipelined)
		set_sentence(r, "%.0f %% of your epoch is prep stall: without "
		    "workers, nothing is prepared ahead",
		    percent(r, SHARE_PREP));
	else if (needed > j.cores && missing >= CORES_SMALL)
		set_sentence(r, "%.0f %% of your epoch is prep stall: %.1f cores "
		    "per accelerator are missing", percent(r, SHARE_PREP),
		    missing);
	else if (!say_workers(r, &j, wanted))
		say_rates(r, SHARE_PREP);
}

/* Storage itself is too slow. */
static void
say_storage(struct result *r, const struct model_job *j, double fetch)
{
	char a[TEXT_FIGURE], b[TEXT_FIGURE], memory[64] = "";

	if (j->x >= RESIDENT_SMALL)
		snprintf(memory, sizeof memory,
		    "with %.0f %% of the files in memory, ", 100 * j->x);
	set_sentence(r, "%.0f %% of your epoch is fetch stall: %sstorage gives "
	    "%s of the %s samples/s that the accelerator takes",
	    percent(r, SHARE_FETCH), memory, count(a, fetch),
	    count(b, rate_of(r, RATE_INGEST)));
}

static void
say_fetch(struct result *r)
{
	double fetch, wanted, enough;
	struct model_job j;

	model_of_result(&j, r);
	fetch = ranks_of(r) * fetch_rate(&j);
	wanted = speed_wanted(r, &j);
	enough = workers_for(&j, wanted);
	if (fetch < rate_of(r, RATE_INGEST))
		say_storage(r, &j, fetch);
	else if (j.workers > 0 && j.t_fetch_miss > 0 && enough > j.workers)
		set_sentence(r, "%.0f %% of your epoch is fetch stall: a worker "
		    "waits %.1f ms for a sample from storage; %.0f workers "
		    "instead of %u would hide it", percent(r, SHARE_FETCH),
		    1e3 * j.t_fetch_miss, enough, j.workers);
	else
		say_rates(r, SHARE_FETCH);
}

static void
say_handover(struct result *r)
{
	if (r->handover_ms_per_batch.is_known)
		set_sentence(r, "%.0f %% of your epoch is hand-over: the main "
		    "process takes %.1f ms for each batch that is ready",
		    percent(r, SHARE_HANDOVER),
		    r->handover_ms_per_batch.value);
	else
		set_sentence(r, "%.0f %% of your epoch is hand-over",
		    percent(r, SHARE_HANDOVER));
}

static void
say_compute(struct result *r)
{
	char handover[64] = "";

	if (r->share[SHARE_HANDOVER].is_known &&
	    r->share[SHARE_HANDOVER].value >= HANDOVER_SMALL)
		snprintf(handover, sizeof handover,
		    ", %.0f %% is hand-over of batches",
		    percent(r, SHARE_HANDOVER));
	set_sentence(r, "no stall: the accelerator is busy %.0f %% of the time%s",
	    percent(r, SHARE_COMPUTE), handover);
}

/*--- without a verdict ---------------------------------------------------*/

static void
say_what_is_known(struct result *r)
{
	static const char *const words[SHARES] = {
		"computing", "prep stall", "fetch stall", "hand-over",
	};
	char list[SENTENCE] = "", *end = list;
	double rest = 100;

	for (int s = 0; s < SHARES; s++) {
		if (!r->share[s].is_known)
			continue;
		rest -= percent(r, (enum share)s);
		end += snprintf(end, SENTENCE / SHARES, "%s%.0f %%%s %s",
		    end > list ? ", " : "", percent(r, (enum share)s),
		    end == list ? " of your epoch is" : "", words[s]);
	}
	if (end == list)
		set_sentence(r, "no verdict: what the job waits for could not "
		    "be measured");
	else
		set_sentence(r, "no verdict: %s; the other %.0f %% could not be "
		    "told apart", list, fmax(0, rest));
}

void
verdict_say(struct result *r)
{
	if (!r->has_verdict) {
		say_what_is_known(r);
		return;
	}
	switch (r->bottleneck) {
	case SHARE_COMPUTE:
		say_compute(r);
		return;
	case SHARE_PREP:
		say_prep(r);
		return;
	case SHARE_FETCH:
		say_fetch(r);
		return;
	case SHARE_HANDOVER:
	case SHARES:
		say_handover(r);
	}
}
