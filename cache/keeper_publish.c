/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_publish.c: how a lease ends by its holder's word: published, or given
 * up.  Runs in the hub only.
 *
 *     PUBLISH -> minio_check -> frozen, whole -> found by its inode -> named
 *             -> crc, file, READY -> wake
 *
 *  1. A draft gets its name, and the item becomes READY, only when the kernel
 *     has shown that nobody else has it open, and it is as long as the item and
 *     has no hole.
 *  2. Whoever is late is counted, and nothing else.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/crash.h"
#include "base/must.h"

#define ERRNO_MAX	4095u
#define LARGE_PAGE	(UINT64_C(2) << 20)	/* may reach past an end */

static int
refuse_draft(const struct stat *st, uint64_t size, struct ds_err *err)
{
	return err_fail(err, -EBADMSG, "cache: a draft of %lld bytes in %lld "
	    "for an item of %llu", (long long)st->st_size,
	    (long long)st->st_blocks * 512, (unsigned long long)size);
}

/* A producer may have cut the file or made it longer, and may do so until the
 * file is frozen.  It may have holes: they would be filled at the reader's
 * cost, and kill it where there is no memory.  They show in the number of
 * blocks, once those past the end are gone. */
static int
check_draft(const struct lease *l, uint64_t *ino, struct ds_err *err)
{
	uint64_t size = l->set->index->items[l->item].key.size;
	struct stat st;
	int rc;

	if (fstat(l->draft.keeper, &st) != 0)
		return err_errno(err, "cache: cannot look at a draft");
	if ((uint64_t)st.st_size != size ||
	    (uint64_t)st.st_blocks * 512 > room_pages(size) + LARGE_PAGE)
		return refuse_draft(&st, size, err);
	rc = store_trim(&l->draft, size, err);
	if (rc < 0)
		return rc;
	if (fstat(l->draft.keeper, &st) != 0)
		return err_errno(err, "cache: cannot look at a draft");
	if ((uint64_t)st.st_blocks * 512 < room_pages(size))
		return refuse_draft(&st, size, err);
	*ino = st.st_ino;
	return 0;
}

/* Found by its inode, then by its name. */
static int
name_file(const struct keeper *k, struct lease *l, uint64_t ino,
    const char *name, struct ds_err *err)
{
	struct index *x = l->set->index;
	int rc;

	if (!index_put_copy(x, l->item, ino))
		return err_fail(err, -ENOSPC, "cache: the index has no place "
		    "for the inode %llu", (unsigned long long)ino);
	rc = store_publish(k->store, &l->draft, name, err);
	if (rc < 0)
		index_take_copy(x, l->item);
	return rc;
}

static int
name_draft(struct keeper *k, struct lease *l, uint64_t *file,
    struct ds_err *err)
{
	int rc = store_freeze(&l->draft, err);
	char name[STORE_NAME_MAX];
	uint64_t ino;

	if (rc == 0)
		rc = check_draft(l, &ino, err);
	if (rc < 0)
		return rc;
	*file = ++k->next_file;
	index_file_name(name, *file);
	rc = crash_point("hub.publish");
	return rc < 0 ? rc : name_file(k, l, ino, name, err);
}

static void
publish(struct keeper *k, struct lease *l, uint32_t crc)
{
	struct dataset *d = l->set;
	struct index_item *it = &d->index->items[l->item];
	struct minio_item mi = dataset_item(d, l->item);
	struct ds_err err = { 0 };
	uint64_t file;

	if (name_draft(k, l, &file, &err) < 0) {
		log_line(hub_log(k->hub), LOG_WARN, "%s: item %llu is not "
		    "admitted: %s", d->uri, (unsigned long long)l->item,
		    err.text);
		must(minio_return(&d->minio, mi, l->client,
		    l->generation) == 0);
	} else {
		/* relaxed: published by the word's release store */
		atomic_store_explicit(&it->file, file, memory_order_relaxed);
		atomic_store_explicit(&it->crc32c, crc, memory_order_relaxed);
		must(minio_publish(&d->minio, mi, l->client,
		    l->generation) == 0);
		/* From a draft's to an item's: lease_end() takes it off. */
		k->stored_bytes += l->pages_bytes;
		d->stored_bytes += l->pages_bytes;
	}
	dataset_changed(d);
	lease_end(l);
}

/* What a holder says of its lease, in f: the lease, and one number more.  0
 * with *out NULL: it is late, and counted. */
static int
read_holder(struct keeper *k, const struct client *c,
    const struct wire_frame *f, struct lease **out, uint32_t *number)
{
	struct wire_reader r;
	uint32_t generation;
	struct dataset *d;
	uint64_t item;

	*out = NULL;
	wire_read(&r, f);
	d = dataset_of(k, wire_get_u32(&r), c);
	item = wire_get_u64(&r);
	generation = wire_get_u32(&r);
	*number = wire_get_u32(&r);
	if (!wire_read_end(&r) || d == NULL || item >= d->index->nr_items)
		return -EBADMSG;
	if (minio_check(&d->minio, dataset_item(d, item), client_id(c),
	    generation) < 0)
		return 0;
	*out = lease_find(k, d, item, client_id(c), generation);
	return *out != NULL ? 0 : -EBADMSG;	/* it was not given it yet */
}

int
lease_publish(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct lease *l;
	uint32_t crc;
	int rc = read_holder(k, c, f, &l, &crc);

	(void)err;
	if (l != NULL)
		publish(k, l, crc);
	return rc;
}

static void
fail_item(struct lease *l, uint32_t code)
{
	struct index_item *it = &l->set->index->items[l->item];

	/* relaxed: published by the word's release store.  It failed in the
	 * epoch in which it was asked for: the next may have begun by now. */
	atomic_store_explicit(&it->error, code, memory_order_relaxed);
	atomic_store_explicit(&it->failed_ns, l->asked_ns,
	    memory_order_relaxed);
	must(minio_fail(&l->set->minio, dataset_item(l->set, l->item),
	    l->client, l->generation) == 0);
}

int
lease_give_up(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct lease *l;
	uint32_t code;
	int rc = read_holder(k, c, f, &l, &code);

	(void)err;
	if (l == NULL)
		return rc;
	if (code > ERRNO_MAX)
		return -EBADMSG;
	if (code != 0)
		fail_item(l, code);
	else
		must(minio_return(&l->set->minio, dataset_item(l->set, l->item),
		    l->client, l->generation) == 0);
	dataset_changed(l->set);
	lease_end(l);
	return 0;
}
