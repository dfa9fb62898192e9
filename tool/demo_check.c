/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_check.c: is what the demo measured exactly what the law says?
 * Runs in the command only.
 *
 *  1. An epoch delivers every item once, with the bytes that storage has.
 *  2. The first epoch with destall reads every item from storage once; each
 *     later one exactly those that are not cached.
 *  3. What is cached are exactly the first items of the first order, until the
 *     first that did not fit into the share.
 *
 * What the page cache does, and what the kernel counts, obeys no law of ours:
 * it is shown as it is.
 */

#include <config.h>

#include "tool/demo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

/*--- what is counted -----------------------------------------------------*/

/* The first epoch was evicted, so all of it is to be seen. */
bool
demo_is_counted(const struct demo_found *f)
{
	for (unsigned r = 0; r < DEMO_RUNS; r++) {
		for (unsigned e = 0; e < DEMO_EPOCHS; e++)
			if (f->epoch[r][e].storage_bytes == DEMO_NOT_COUNTED)
				return false;
		if (f->epoch[r][0].storage_bytes < f->bytes / 10 * 9)
			return false;
	}
	return true;
}

uint64_t
demo_storage(const struct demo_found *f, enum demo_run run, unsigned epoch)
{
	const struct demo_epoch *e = &f->epoch[run][epoch];

	if (demo_is_counted(f))
		return e->storage_bytes;
	/* Which items the hub has counted is known from the law. */
	return run == DEMO_DESTALL ? f->law.miss[DEMO_MINIO][epoch].bytes :
	    DEMO_NOT_COUNTED;
}

/*--- the law -------------------------------------------------------------*/

static int
check_delivery(const struct demo_found *f, enum demo_run run, unsigned e,
    struct ds_err *err)
{
	const struct demo_epoch *got = &f->epoch[run][e];

	if (got->items != f->law.items || got->digest != f->digest)
		return err_fail(err, -EBADMSG, "demo: %s, epoch %u: not every "
		    "image was delivered once with its own bytes",
		    run == DEMO_PLAIN ? "without destall" : "with destall",
		    e + 1);
	return 0;
}

/* The hub does not count what is too large for it. */
static int
check_reads(const struct demo_found *f, unsigned e, struct ds_err *err)
{
	const struct demo_epoch *got = &f->epoch[DEMO_DESTALL][e];
	uint64_t n = f->law.items - f->law.too_large;
	uint64_t law = e == 0 ? n : n - f->held.items;

	if (got->hits + got->reads == 0)
		return err_fail(err, -EBADMSG, "demo: the cache was not asked "
		    "for a single image: is cat linked statically?");
	if (got->reads != law || got->hits != n - law)
		return err_fail(err, -EBADMSG, "demo: epoch %u: %" PRIu64
		    " images were read from storage where the law says %"
		    PRIu64, e + 1, got->reads, law);
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
check_held(const struct demo_found *f, struct ds_err *err)
{
	const struct demo_law *l = &f->law;
	const struct demo_held *h = &f->held;

	if (!is_share(f, h->cap_bytes))
		return err_fail(err, -EBADMSG, "demo: %s of %" PRIu64 " bytes "
		    "is not %" PRIu64, f->share, f->bytes, h->cap_bytes);
	if (h->items == l->admitted && h->bytes == l->admitted_bytes)
		return 0;
	(void)err_fail(err, -EBADMSG, "demo: %" PRIu64 " images of %" PRIu64
	    " bytes are cached where %" PRIu64 " of %" PRIu64 " fit before "
	    "the first that does not", h->items, h->bytes, l->admitted,
	    l->admitted_bytes);
	return err_hint(err, -EBADMSG, "was there not enough memory?");
}

int
demo_check(const struct demo_found *f, struct ds_err *err)
{
	int rc = 0;

	for (unsigned r = 0; r < DEMO_RUNS; r++)
		for (unsigned e = 0; rc == 0 && e < DEMO_EPOCHS; e++)
			rc = check_delivery(f, r, e, err);
	for (unsigned e = 0; rc == 0 && e < DEMO_EPOCHS; e++)
		rc = check_reads(f, e, err);
	return rc < 0 ? rc : check_held(f, err);
}
