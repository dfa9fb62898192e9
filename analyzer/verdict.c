/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict.c: from rates to shares, and from shares to a verdict.  Runs in the
 * command only.
 */

#include <config.h>

#include "analyzer/verdict.h"

#include <math.h>

#include "analyzer/interval.h"
#include "analyzer/model.h"

#define STALL_SMALL	0.02	/* is no stall */
#define STALL_LARGE	0.10	/* is one, however wide its interval is */

/*--- shares --------------------------------------------------------------*/

enum input { IN_ACTUAL, IN_INGEST, IN_LOADER_CACHED, IN_HANDOVER, INPUTS };

static const bool needs[SHARES][INPUTS] = {
	[SHARE_COMPUTE]	 = { [IN_ACTUAL] = true, [IN_INGEST] = true },
	[SHARE_PREP]	 = { true, true, true, true },
	[SHARE_FETCH]	 = { [IN_ACTUAL] = true, [IN_LOADER_CACHED] = true },
	[SHARE_HANDOVER] = { [IN_ACTUAL] = true, [IN_HANDOVER] = true },
};

static void
take_inputs(struct figure in[INPUTS], const struct result *r)
{
	double batch = (double)r->job.batch_size;
	double ranks = r->job.ranks > 1 ? (double)r->job.ranks : 1;

	in[IN_ACTUAL] = r->rate[RATE_ACTUAL];
	in[IN_INGEST] = r->rate[RATE_INGEST];
	in[IN_LOADER_CACHED] = r->rate[RATE_LOADER_CACHED];
	/* Ranks hand over at the same time. */
	in[IN_HANDOVER] = interval_scale(&r->handover_ms_per_batch,
	    1e-3 / batch / ranks);
}

struct which {
	enum share s;
	bool	is_resident;		/* all is in memory: v and P' are one */
};

static double
share_law(const double *in, const void *more)
{
	const struct which *w = more;

	return model_share(w->s, in[IN_ACTUAL], in[IN_INGEST],
	    in[w->is_resident ? IN_ACTUAL : IN_LOADER_CACHED],
	    in[IN_HANDOVER]);
}

/* What a share does not need counts as known, for it. */
static struct figure
share_as_measured(const struct which *w, const struct figure in[INPUTS])
{
	struct figure used[INPUTS];
	double none;

	for (int i = 0; i < INPUTS; i++) {
		none = i == IN_HANDOVER ? 0 : 1;
		used[i] = needs[w->s][i] ? in[i] : interval_exact(none);
	}
	return interval_combine(share_law, used, INPUTS, w);
}

/* Half the widths stay as they were measured: noise that was set to zero is not
 * smaller for it. */
static struct figure
settle(const struct figure *measured, double value)
{
	struct figure f = *measured;

	f.value = fmin(1, fmax(0, value));
	f.low = fmax(0, f.value - (measured->value - measured->low));
	f.high = fmin(1, f.value + (measured->high - measured->value));
	return f;
}

/* Without a file that is known there is nothing to be brought into memory: v and P'
 * are of the same work, and whatever it reads is part of preparing. */
static bool
is_resident(const struct result *r)
{
	const struct figure *s = &r->rate[RATE_STORAGE];

	if (r->job.has_no_files)
		return true;
	return model_is_resident(r->job.resident, s->is_known ? s->value : 0,
	    r->rate[RATE_ACTUAL].value);
}

void
verdict_take_shares(struct result *r)
{
	struct figure in[INPUTS], share[SHARES];
	double value[SHARES];

	take_inputs(in, r);
	for (int s = 0; s < SHARES; s++) {
		struct which w = { (enum share)s, is_resident(r) };

		share[s] = share_as_measured(&w, in);
		value[s] = share[s].value;
	}
	if (share[SHARE_PREP].is_known)		/* and so all of them are */
		model_settle_shares(value);
	for (int s = 0; s < SHARES; s++)
		if (share[s].is_known)
			r->share[s] = settle(&share[s], value[s]);
}

/*--- the verdict ---------------------------------------------------------*/

static bool
is_stall(double share, const struct figure *f)
{
	return share >= STALL_LARGE ||
	    (share >= STALL_SMALL && share >= interval_half(f));
}

/* What is left for shares that are not known; negative: all are. */
static double
find_rest(const struct result *r)
{
	bool is_all = true;
	double rest = 1;

	for (int s = 0; s < SHARES; s++) {
		is_all = is_all && r->share[s].is_known;
		if (r->share[s].is_known)
			rest -= r->share[s].value;
	}
	return is_all ? -1 : rest;
}

/* The larger of what a loader is behind with; SHARES: neither is known. */
static enum share
find_behind(const struct result *r)
{
	const struct figure *prep = &r->share[SHARE_PREP];
	const struct figure *fetch = &r->share[SHARE_FETCH];

	if (!prep->is_known)
		return fetch->is_known ? SHARE_FETCH : SHARES;
	return fetch->is_known && fetch->value > prep->value ? SHARE_FETCH :
	    SHARE_PREP;
}

/* Of a result that knows all its shares. */
static enum share
decide(const struct result *r)
{
	enum share behind = find_behind(r);
	double stall = r->share[SHARE_PREP].value + r->share[SHARE_FETCH].value;

	if (is_stall(stall, &r->share[behind]))
		return behind;
	return r->share[SHARE_HANDOVER].value > r->share[SHARE_COMPUTE].value ?
	    SHARE_HANDOVER : SHARE_COMPUTE;
}

/* Of one that does not: SHARES, if what is not known could be larger. */
static enum share
decide_partly(const struct result *r, double rest)
{
	const struct figure *compute = &r->share[SHARE_COMPUTE];
	enum share behind = find_behind(r);

	if (compute->is_known && !is_stall(1 - compute->value, compute))
		return SHARE_COMPUTE;
	if (behind == SHARES || r->share[behind].value < rest ||
	    !is_stall(r->share[behind].value, &r->share[behind]))
		return SHARES;
	return behind;
}

void
verdict_decide(struct result *r)
{
	double rest = find_rest(r);
	enum share found = rest < 0 ? decide(r) : decide_partly(r, rest);

	r->has_verdict = found != SHARES;
	r->bottleneck = r->has_verdict ? found : SHARE_COMPUTE;
	verdict_say(r);
}
