/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_drop.c: forgets whole data sets.  Runs in the hub only, the removing
 * of files in its helper.
 *
 *  1. A set that is in use is never dropped, nor any of its items.
 *  2. Files that a newer listing of the same source has taken over stay.
 *  3. Whoever waits for room is woken when the memory is given back.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <stdlib.h>

#include "base/crash.h"
#include "base/must.h"
#include "cache/keeper_make.h"

#define PIECE	256u		/* items in a piece of work */
#define PIECE_BYTES	(UINT64_C(64) << 20)

struct drop {
	struct helper_job job;
	struct keeper	*keeper;
	struct dataset	*set;		/* ours alone */
	struct asker	asker;
	uint64_t	at;
	uint64_t	index_bytes, stored_bytes;
};

/* The bytes that went with it. */
static uint64_t
remove_file(const struct store *s, const struct dataset *d, uint64_t i)
{
	const struct index_item *it = &d->index->items[i];
	uint64_t word = atomic_load_explicit(&it->word, memory_order_relaxed);
	char name[STORE_NAME_MAX];

	if (item_state(word) != ITEM_READY || dataset_gave(d, i))
		return 0;
	index_file_name(name, atomic_load_explicit(&it->file,
	    memory_order_relaxed));
	(void)store_remove(s, name, NULL);	/* else it is gone already */
	return it->key.size;
}

static bool
remove_files(struct helper_job *job)
{
	struct drop *p = (struct drop *)job;
	uint64_t nr = p->set->index->nr_items, end = p->at + PIECE, bytes = 0;

	(void)crash_point("hub.drop");
	for (; p->at < nr && p->at < end && bytes < PIECE_BYTES; p->at++)
		bytes += remove_file(p->keeper->store, p->set, p->at);
	if (p->at < nr)
		return true;
	dataset_free(&p->set);
	return false;
}

static void
dropped(struct helper_job *job)
{
	struct drop *p = (struct drop *)job;
	struct keeper *k = p->keeper;
	struct client *c = hub_client(k->hub, p->asker.client);
	struct dataset *d;

	if (p->set != NULL)		/* the hub is leaving */
		dataset_free(&p->set);
	k->index_bytes -= p->index_bytes;
	k->stored_bytes -= p->stored_bytes;
	k->drops--;
	make_resume(k);
	for (d = k->sets; d != NULL; d = d->next)
		index_wake(d->index);
	if (c != NULL)
		client_done(c, p->asker.serial);
	free(p);
}

/* Sets that were listed later have nothing older any more. */
static void
take_out(struct keeper *k, struct dataset *gone)
{
	struct dataset **dp, *d;

	for (dp = &k->sets; *dp != gone; dp = &(*dp)->next)
		must(*dp != NULL);
	*dp = gone->next;
	k->nr_sets--;
	for (d = k->sets; d != NULL; d = d->next) {
		if (d->older == gone)
			d->older = gone->older;
	}
}

int
drop_begin(struct keeper *k, struct dataset *d, struct asker asker)
{
	struct drop *p;

	if (dataset_in_use(d))
		return -EBUSY;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return -ENOMEM;
	log_line(hub_log(k->hub), LOG_INFO, "%s: dropped, with %llu items of "
	    "%llu bytes", d->uri, (unsigned long long)d->minio.ready_items,
	    (unsigned long long)d->minio.ready_bytes);
	take_out(k, d);
	p->job.work = remove_files;
	p->job.done = dropped;
	p->keeper = k;
	p->set = d;
	p->asker = asker;
	p->index_bytes = d->seg.len;
	p->stored_bytes = d->stored_bytes;
	k->drops++;
	helper_submit(hub_helper(k->hub), &p->job);
	return 0;
}

static bool
is_only_pinned(const struct dataset *d)
{
	bool pinned = false;

	for (; d != NULL; d = d->older) {
		if (d->attached != NULL)
			return false;
		pinned |= d->pins > 0;
	}
	return pinned;
}

bool
drop_is_near(const struct keeper *k)
{
	const struct dataset *d;

	for (d = k->sets; d != NULL; d = d->next) {
		if (is_only_pinned(d))
			return true;
	}
	return false;
}

bool
drop_unused(struct keeper *k)
{
	struct dataset *d, *oldest = NULL;

	if (k->drops > 0)
		return true;
	for (d = k->sets; d != NULL; d = d->next) {
		if (!dataset_in_use(d) && (oldest == NULL ||
		    d->last_used_ns < oldest->last_used_ns))
			oldest = d;
	}
	return oldest != NULL &&
	    drop_begin(k, oldest, (struct asker){ 0, 0 }) == 0;
}

void
drop_superseded(struct keeper *k)
{
	struct dataset *d, *next;

	for (d = k->sets; d != NULL; d = next) {
		next = d->next;
		if (d->superseded && !dataset_in_use(d))
			(void)drop_begin(k, d, (struct asker){ 0, 0 });
	}
}

int
drop_asked(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct wire_reader r;
	struct dataset *d;
	const char *uri;
	size_t len;
	int rc;

	wire_read(&r, f);
	uri = wire_get_bytes(&r, &len);
	if (!wire_read_end(&r))
		return -EBADMSG;
	d = dataset_find(k, uri, len);
	if (d == NULL)
		return err_fail(err, -ENOENT, "%.*s: nothing of it is cached",
		    (int)len, uri);
	rc = drop_begin(k, d, (struct asker){ client_id(c), f->head.serial });
	if (rc == -EBUSY)
		return err_fail(err, rc, "%s: in use: its items stay until "
		    "the last who uses them closes it or ends", d->uri);
	return rc < 0 ? err_fail(err, rc, "cache: the hub has no memory") : 0;
}
