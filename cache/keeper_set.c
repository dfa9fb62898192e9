/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_set.c: the data sets that the hub knows, and who uses them.
 * Runs in the hub only.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/memfd.h"
#include "base/must.h"

#define LARGE_PART	4u	/* of the room that a data set has */

struct dataset *
dataset_find(struct keeper *k, const char *uri, size_t len)
{
	struct dataset *d;

	for (d = k->sets; d != NULL; d = d->next) {
		if (!d->superseded && strlen(d->uri) == len &&
		    memcmp(d->uri, uri, len) == 0)
			return d;
	}
	return NULL;
}

static struct attachment **
find_attachment(struct dataset *d, uint32_t client)
{
	struct attachment **at;

	for (at = &d->attached; *at != NULL; at = &(*at)->next) {
		if ((*at)->client == client)
			return at;
	}
	return NULL;
}

struct dataset *
dataset_of(struct keeper *k, uint32_t id, const struct client *c)
{
	struct dataset *d;

	for (d = k->sets; d != NULL; d = d->next) {
		if (d->id == id)
			return find_attachment(d, client_id(c)) != NULL ?
			    d : NULL;
	}
	return NULL;
}

bool
dataset_in_use(const struct dataset *d)
{
	for (; d != NULL; d = d->older) {
		if (d->attached != NULL || d->pins > 0)
			return true;
	}
	return false;
}

bool
dataset_gave(const struct dataset *d, uint64_t i)
{
	return d->given != NULL && (d->given[i / 8] >> i % 8 & 1) != 0;
}

struct minio_item
dataset_item(struct dataset *d, uint64_t i)
{
	struct index_item *it = &d->index->items[i];

	must(i < d->index->nr_items);
	return (struct minio_item){ &it->word, it->key.size };
}

void
dataset_changed(struct dataset *d)
{
	/* release: who sees it closed also sees what was published before */
	atomic_store_explicit(&d->index->closed, d->minio.closed,
	    memory_order_release);
	index_wake(d->index);
}

/*--- attaching -----------------------------------------------------------*/

/* A page with its head written; mapped here for reading only. */
static int
new_page(struct segment *page, uint64_t generation, struct ds_err *err)
{
	const size_t len = sizeof(struct page);
	struct segment_head head = {
		.magic = page_kind.magic, .layout = page_kind.layout,
		.byte_order = SEGMENT_BYTE_ORDER, .head_size = sizeof head,
		.size = len, .generation = generation,
	};
	int rc, fd = memfd_new(page_kind.name, len, err);

	if (fd < 0)
		return fd;
	if (pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
		rc = err_errno(err, "cache: cannot write a client's page");
		goto close_fd;
	}
	rc = memfd_map_reader(fd, len, &page->base, err);
	if (rc < 0)
		goto close_fd;
	page->fd = fd;
	page->len = len;
	return 0;
close_fd:
	io_close(&fd);
	return rc;
}

static unsigned
count_attached(const struct keeper *k, uint32_t client)
{
	const struct dataset *d;
	const struct attachment *a;
	unsigned nr = 0;

	for (d = k->sets; d != NULL; d = d->next) {
		for (a = d->attached; a != NULL; a = a->next)
			nr += a->client == client;
	}
	return nr;
}

static int
new_attachment(struct keeper *k, struct attachment **out, struct client *c,
    struct ds_err *err)
{
	struct attachment *a;
	int rc;

	if (count_attached(k, client_id(c)) >= KEEPER_ATTACHED_MAX)
		return err_fail(err, -EMFILE, "cache: a process can have %u "
		    "data sets open", KEEPER_ATTACHED_MAX);
	a = calloc(1, sizeof *a);
	if (a == NULL)
		return err_fail(err, -ENOMEM, "cache: the hub has no memory");
	rc = new_page(&a->page, hub_generation(k->hub), err);
	if (rc < 0) {
		free(a);
		return rc;
	}
	page_copy_init(&a->copy);
	a->number = ++k->next_attachment;
	a->client = client_id(c);
	a->job = client_job(c);
	strncpy(a->name, client_name(c), sizeof a->name - 1);
	k->page_bytes += room_pages(a->page.len);
	*out = a;
	return 0;
}

__extension__ typedef unsigned __int128 wide;	/* exact at any size */

static uint64_t
cap_of(const struct dataset *d, uint32_t share)
{
	if (share == 0)
		return MINIO_NO_CAP;
	return (uint64_t)((wide)d->index->total_bytes * share /
	    CACHE_SHARE_ONE);
}

/* What a program that knows nothing of the cache opens may be read in part, or
 * once: one such file must not take the place of many others. */
static void
set_large(const struct keeper *k, struct dataset *d)
{
	uint64_t room = d->minio.cap_bytes < k->budget_bytes ?
	    d->minio.cap_bytes : k->budget_bytes;

	/* relaxed: a limit, which speaks for nothing else */
	atomic_store_explicit(&d->index->large_bytes, room / LARGE_PART,
	    memory_order_relaxed);
}

/* The first user decides; another wish is said, once. */
static void
join(struct keeper *k, struct dataset *d, const struct client *c,
    uint32_t share)
{
	if (d->minio.users == 0)
		d->share = share;
	else if (share != d->share && share != d->other_share)
		log_line(hub_log(k->hub), LOG_WARN, "%s: %s asks for %u.%02u %% "
		    "of it, the first job for %u.%02u %%, which holds",
		    d->uri, client_name(c), share / 10000, share / 100 % 100,
		    d->share / 10000, d->share / 100 % 100);
	if (share != d->share)
		d->other_share = share;
	minio_join(&d->minio, cap_of(d, d->share));
	set_large(k, d);
	d->last_used_ns = clock_now_ns();
	dataset_changed(d);
}

static void
answer_opened(struct keeper *k, const struct dataset *d,
    const struct attachment *a, struct client *c, uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_OPENED, serial);
	wire_put_u32(&w, d->id);
	wire_put_fd(&w, d->seg.fd);
	wire_put_fd(&w, store_view(k->store));
	wire_put_fd(&w, a->page.fd);
	must(wire_write_end(&w));
	client_answer(c, &f);
}

int
dataset_attach(struct keeper *k, struct dataset *d, struct client *c,
    uint32_t serial, uint32_t share, struct ds_err *err)
{
	struct attachment *a;
	int rc = new_attachment(k, &a, c, err);

	if (rc < 0)
		return rc;
	join(k, d, c, share);
	a->next = d->attached;
	d->attached = a;
	answer_opened(k, d, a, c, serial);
	return 0;
}

int
dataset_copy_page(struct dataset *d, struct attachment *a, struct ds_err *err)
{
	struct page_copy before = a->copy;
	int rc = page_copy(a->page.base, &a->copy, err);

	if (rc == 0)
		page_add_fetches(&d->sum, &before, &a->copy);
	return rc;
}

void
dataset_detach(struct keeper *k, struct dataset *d, struct attachment **at)
{
	struct attachment *a = *at;

	*at = a->next;
	(void)dataset_copy_page(d, a, NULL);	/* or what was copied last */
	page_add_counts(&d->sum, &a->copy);
	stat_keep(k, d, a);
	k->page_bytes -= room_pages(a->page.len);
	segment_detach(&a->page);
	free(a);
	minio_leave(&d->minio);
	d->last_used_ns = clock_now_ns();
}

void
dataset_free(struct dataset **dp)
{
	struct dataset *d = *dp;

	*dp = NULL;
	must_be(d, DATASET_MAGIC);
	must(d->attached == NULL && d->pins == 0);
	segment_detach(&d->seg);
	free(d->given);
	free(d->uri);
	d->magic = 0;
	free(d);
}
