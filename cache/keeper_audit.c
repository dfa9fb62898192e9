/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_audit.c: looks at the bytes of an item that a client found wrong.
 * Runs in the hub only, the reading in its helper.
 *
 *  1. The hub believes its own eyes: an item is dropped only if the hub finds
 *     another checksum too.
 *  2. One report is looked into at a time; more are ignored: who finds an item
 *     wrong reads storage, and reports it again the next time.
 *  3. An item that a newer listing has taken over is the newer one's to forget.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/io.h"

#define PIECE	(256u << 10)	/* bytes in a piece of work */

struct audit {
	struct helper_job job;
	struct keeper	*keeper;
	struct dataset	*set;		/* pinned */
	uint64_t	item;
	uint64_t	word, file;
	int		fd;
	uint64_t	at;
	uint32_t	crc;
	bool		failed;
	bool		missing;	/* the file */
	uint8_t		bytes[PIECE];
};

static bool
open_file(struct audit *a)
{
	char name[STORE_NAME_MAX];

	index_file_name(name, a->file);
	a->fd = store_open(a->keeper->store, name, NULL);
	a->missing = a->fd == -ENOENT;
	return a->fd >= 0;
}

static bool
sum(struct helper_job *job)
{
	struct audit *a = (struct audit *)job;
	uint64_t size = a->set->index->items[a->item].key.size;
	ssize_t n;

	if (a->fd < 0 && !open_file(a)) {
		a->failed = true;
		return false;
	}
	n = pread(a->fd, a->bytes, sizeof a->bytes, (off_t)a->at);
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0) {
		a->failed = true;
		return false;
	}
	a->crc = crc32c(a->crc, a->bytes, (size_t)n);
	a->at += (uint64_t)n;
	return a->at < size;
}

static void
forget(struct keeper *k, struct audit *a)
{
	struct dataset *d = a->set;
	uint64_t pages = room_pages(d->index->items[a->item].key.size);
	char name[STORE_NAME_MAX];

	log_line(hub_log(k->hub), LOG_ERROR, "%s: the bytes of item %llu have "
	    "changed in memory: forgotten, it will be fetched again", d->uri,
	    (unsigned long long)a->item);
	minio_corrupt(&d->minio, dataset_item(d, a->item));
	index_take_copy(d->index, a->item);
	d->corrupt++;
	d->stored_bytes -= pages;
	k->stored_bytes -= pages;
	index_file_name(name, a->file);
	(void)store_remove(k->store, name, NULL);
	dataset_changed(d);
}

static bool
is_wrong(const struct audit *a, const struct index_item *it)
{
	return a->missing || (!a->failed && a->at >= it->key.size &&
	    a->crc != atomic_load_explicit(&it->crc32c, memory_order_relaxed));
}

static void
summed(struct helper_job *job)
{
	struct audit *a = (struct audit *)job;
	struct index_item *it = &a->set->index->items[a->item];
	struct keeper *k = a->keeper;

	if (is_wrong(a, it) && !dataset_gave(a->set, a->item) &&
	    a->word == atomic_load_explicit(&it->word, memory_order_relaxed))
		forget(k, a);
	a->set->pins--;
	k->auditing = false;
	io_close(&a->fd);
	free(a);
	drop_superseded(k);
}

static bool
begin(struct keeper *k, struct dataset *d, uint64_t item, uint64_t word)
{
	struct audit *a = calloc(1, sizeof *a);

	if (a == NULL)
		return false;	/* it will be reported again */
	a->job.work = sum;
	a->job.done = summed;
	a->keeper = k;
	a->set = d;
	a->item = item;
	a->word = word;
	a->file = atomic_load_explicit(&d->index->items[item].file,
	    memory_order_relaxed);
	a->fd = -1;
	d->pins++;
	helper_submit(hub_helper(k->hub), &a->job);
	return true;
}

int
audit_asked(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint32_t generation;
	struct wire_reader r;
	struct dataset *d;
	uint64_t item, word;

	(void)err;
	wire_read(&r, f);
	d = dataset_of(k, wire_get_u32(&r), c);
	item = wire_get_u64(&r);
	generation = wire_get_u32(&r);
	if (!wire_read_end(&r) || d == NULL || item >= d->index->nr_items)
		return -EBADMSG;
	word = atomic_load_explicit(&d->index->items[item].word,
	    memory_order_relaxed);
	if (!k->auditing && item_state(word) == ITEM_READY &&
	    item_generation(word) == generation)
		k->auditing = begin(k, d, item, word);
	return 0;
}
