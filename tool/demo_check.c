/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_check.c: is what the demo measured exactly what the law says?
 * Runs in the command only.
 *
 *  1. An epoch delivers every item once, with the bytes that storage has.
 *  2. The first epoch reads every item from storage once; each later one
 *     exactly those that are not cached.
 *  3. What is cached fits into the share, and the first item that did not fit
 *     is all that is missing of it.
 *  4. One process admits exactly the first items of the first order.
 */

#include <config.h>

#include "tool/demo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

uint64_t
demo_ideal(const struct demo_found *f, unsigned epoch)
{
	double n = (double)f->law.items;

	return epoch == 0 ? f->law.items :
	    (uint64_t)((1 - f->part) * n + 0.5);
}

static int
check_epoch(const struct demo_found *f, const struct demo_run *r, unsigned e,
    struct ds_err *err)
{
	const struct demo_epoch *got = &r->epoch[e];
	uint64_t n = f->law.items, law = e == 0 ? n : n - r->held.items;

	if (got->gets != n || got->digest != f->digest)
		return err_fail(err, -EBADMSG, "demo: %u process%s, epoch %u: "
		    "not every item was delivered once with its own bytes",
		    r->jobs, r->jobs == 1 ? "" : "es", e + 1);
	if (got->reads != law || got->hits != n - law)
		return err_fail(err, -EBADMSG, "demo: %u process%s, epoch %u: "
		    "%" PRIu64 " items were read from storage where the law "
		    "says %" PRIu64, r->jobs, r->jobs == 1 ? "" : "es", e + 1,
		    got->reads, law);
	return 0;
}

/* The hub has it in millionths. */
static bool
is_share(const struct demo_found *f, uint64_t cap_bytes)
{
	double want = f->part * (double)f->bytes, got = (double)cap_bytes;
	double off = want > got ? want - got : got - want;

	return off <= 1 + (double)f->bytes / 1e6;
}

static int
check_held(const struct demo_found *f, const struct demo_run *r,
    struct ds_err *err)
{
	const struct demo_law *l = &f->law;
	const struct demo_held *h = &r->held;
	uint64_t reads = 0;

	for (unsigned e = 0; e < DEMO_EPOCHS; e++)
		reads += r->epoch[e].reads;
	if (h->storage_reads != reads)
		return err_fail(err, -EBADMSG, "demo: the jobs counted %" PRIu64
		    " reads from storage, the hub %" PRIu64, reads,
		    h->storage_reads);
	if (!is_share(f, h->cap_bytes))
		return err_fail(err, -EBADMSG, "demo: %s of %" PRIu64 " bytes "
		    "is not %" PRIu64, f->share, f->bytes, h->cap_bytes);
	if (h->bytes > l->cap_bytes || (h->items < l->items &&
	    h->bytes + l->largest <= l->cap_bytes))
		return err_fail(err, -EBADMSG, "demo: %" PRIu64 " bytes are "
		    "cached of a share of %" PRIu64 ": has the hub had the "
		    "memory?", h->bytes, l->cap_bytes);
	if (r->jobs == 1 && (h->items != l->admitted ||
	    h->bytes != l->admitted_bytes))
		return err_fail(err, -EBADMSG, "demo: %" PRIu64 " items of %"
		    PRIu64 " bytes are cached where %" PRIu64 " of %" PRIu64
		    " fit before the first that does not", h->items, h->bytes,
		    l->admitted, l->admitted_bytes);
	return 0;
}

int
demo_check(const struct demo_found *f, struct ds_err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < DEMO_RUNS; i++) {
		for (unsigned e = 0; rc == 0 && e < DEMO_EPOCHS; e++)
			rc = check_epoch(f, &f->run[i], e, err);
		if (rc == 0)
			rc = check_held(f, &f->run[i], err);
	}
	return rc;
}
