/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_cache.c: the demo's cache next to the page cache, in as much memory.
 * Runs in the command only; reader and hub are processes of their own.
 */

#include <config.h>

#include "tool/demo_cache.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/parse.h"
#include "tool/demo_data.h"
#include "tool/demo_group.h"
#include "tool/demo_read.h"

#define SLACK_BYTES	(UINT64_C(64) << 20)	/* of the hub's ceiling */
#define ITEM_BYTES	4096u			/* of the kernel's own */
#define PROCESS_BYTES	(UINT64_C(8) << 20)
#define CPU_BYTES	(UINT64_C(256) << 10)	/* that each takes ahead */

struct comparison {
	const struct demo_cache_ask *ask;
	struct demo_found *found;
	struct demo_group group;
	struct demo_data data;
	uint64_t	done;		/* items read */
};

/*--- the data ------------------------------------------------------------*/

static int
write_orders(struct comparison *d, struct ds_err *err)
{
	char path[2 * DEMO_PATH];
	int rc = 0;

	for (unsigned e = 0; rc == 0 && e < DEMO_EPOCHS; e++) {
		(void)snprintf(path, sizeof path, "%s/" DEMO_ORDER,
		    d->ask->place->dir, e + 1);
		rc = demo_data_order(&d->data, &d->found->law, e, path, err);
	}
	return rc;
}

/* What other caches would read, and by that how much memory is needed. */
static int
look_at_data(struct comparison *d, struct ds_err *err)
{
	struct demo_found *f = d->found;
	int rc;

	rc = demo_data_open(&d->data, d->ask->place->data, &f->law,
	    d->ask->stop, err);
	if (rc < 0)
		return rc;
	f->bytes = d->data.bytes;
	f->digest = d->data.digest;
	rc = write_orders(d, err);
	return rc < 0 ? rc : demo_law_run(&f->law,
	    (uint64_t)(f->part * (double)f->bytes), err);
}

/*--- the memory ----------------------------------------------------------*/

/* For the share, in whole pages, with what the kernel needs for each item; for
 * the processes and processors; and for what the hub leaves free, a sixteenth. */
static uint64_t
choose_limit(const struct demo_law *l)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = l->admitted_pages + l->admitted * ITEM_BYTES +
	    PROCESS_BYTES + (cpus > 0 ? (uint64_t)cpus : 1) * CPU_BYTES;

	return demo_law_pages(bytes / 15 * 16);
}

static void
limit_memory(struct comparison *d)
{
	struct demo_found *f = d->found;
	uint64_t bytes = choose_limit(&f->law);

	if (demo_group_open(&d->group, "/", bytes, &f->no_limit) == 0)
		f->limit_bytes = bytes;
}

/*--- the reading ---------------------------------------------------------*/

static int
read_once(struct comparison *d, enum demo_run run, struct ds_err *err)
{
	struct demo_reading r = {
		.share = run == DEMO_DESTALL ? d->found->share : NULL,
		.evict = d->found->limit_bytes == 0,
		.place = d->ask->place, .group = &d->group, .data = &d->data,
		.law = &d->found->law, .stop = d->ask->stop,
		.progress = d->ask->progress, .done = &d->done,
	};

	return demo_read(&r, d->found->epoch[run], &d->found->held, err);
}

static int
read_cached(struct comparison *d, struct ds_err *err)
{
	int rc = demo_hub_start(d->ask->place, d->found->bytes + SLACK_BYTES +
	    d->ask->count * DEMO_LAW_PAGE, &d->group, d->ask->stop, err);

	if (rc == 0)
		rc = read_once(d, DEMO_DESTALL, err);
	demo_hub_end(d->ask->place);
	return rc;
}

static int
read_all(struct comparison *d, struct ds_err *err)
{
	int rc;

	progress_start(d->ask->progress, "demo", "images read", 0,
	    d->ask->count * DEMO_RUNS * DEMO_EPOCHS);
	rc = read_once(d, DEMO_PLAIN, err);
	if (rc == 0)
		rc = read_cached(d, err);
	progress_end(d->ask->progress);
	/* The hub has the share to the byte. */
	return rc < 0 ? rc : demo_law_run(&d->found->law,
	    d->found->held.cap_bytes, err);
}

/*--- the whole -----------------------------------------------------------*/

static int
compare(struct comparison *d, struct ds_err *err)
{
	struct demo_found *f = d->found;
	int rc;

	rc = demo_law_init(&f->law, (uint32_t)d->ask->count, DEMO_EPOCHS,
	    d->ask->seed, err);
	if (rc == 0)
		rc = demo_data_make(d->ask->place->data, d->ask->seed,
		    d->ask->count, d->ask->stop, err);
	if (rc == 0)
		rc = look_at_data(d, err);
	if (rc == 0) {
		limit_memory(d);
		rc = read_all(d, err);
	}
	return rc < 0 ? rc : demo_check(f, err);
}

int
demo_cache_run(struct demo_found *f, const struct demo_cache_ask *ask,
    struct ds_err *err)
{
	struct comparison d = { .ask = ask, .found = f };
	struct ds_err later;
	int rc, end;

	(void)parse_share(f->share, &f->part, NULL);
	rc = compare(&d, err);
	demo_data_close(&d.data);
	end = demo_group_close(&d.group, &later);
	if (rc == 0 && end < 0) {
		*err = later;
		rc = end;
	}
	return rc;
}
