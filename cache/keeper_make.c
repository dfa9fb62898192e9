/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_make.c: from a client's listing to a data set with an index.
 * Runs in the hub only, the checking, copying and freeing in its helper, in
 * pieces: to unmap a listing of a million items takes 20 ms.
 *
 *     check -> compare with the set we have -> allocate -> copy -> by_file
 *       (helper)                                                      |
 *     attach, or take over the old set's items, then attach <- (loop) +
 *
 *  1. One listing is worked on at a time, in the order they came.
 *  2. A listing equal to that of the set we have makes nothing new.
 *  3. A new listing of a source takes over the items that did not change;
 *     the old set lives on for those who use it, closed to admission.
 */

#include <config.h>

#include "cache/keeper_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"
#include "cache/keeper_adopt.h"

#define PIECE		8192u		/* items in a piece of work */
#define NAMES_PIECE	(1u << 20)	/* bytes of names */
#define TABLE_PIECE	2048u		/* items, each at a page of its own */

/*--- in the helper: a step does a piece, and tells when it is done --------*/

static bool
check_piece(struct make *m)
{
	uint64_t nr = m->listing.head->nr_items;
	uint64_t end = nr - m->at < PIECE ? nr : m->at + PIECE;

	m->rc = listing_check(&m->listing, m->at, end, &m->total, &m->err);
	m->at = end;
	return m->rc < 0 || end == nr;
}

static bool
compare_piece(struct make *m)
{
	const struct index *x = m->old != NULL ? m->old->index : NULL;
	uint64_t nr = m->listing.head->nr_items, end;

	m->same = x != NULL && x->nr_items == nr &&
	    x->names_bytes == m->listing.head->names_bytes;
	end = nr - m->at < PIECE ? nr : m->at + PIECE;
	for (; m->same && m->at < end; m->at++)
		m->same = memcmp(&x->items[m->at].key,
		    &m->listing.items[m->at], sizeof x->items[0].key) == 0;
	if (m->same && end == nr)
		m->same = memcmp(index_names(x), m->listing.names,
		    x->names_bytes) == 0;
	return !m->same || end == nr;
}

/* Members of shards are no files that a program could open. */
static uint64_t
count_slots(const struct listing *l)
{
	uint64_t nr = l->head->nr_items;

	return nr > 0 && l->items[0].shard_len == 0 ? index_slots(nr) : 0;
}

static bool
allocate_piece(struct make *m)
{
	uint64_t nr_slots = count_slots(&m->listing);
	struct gauge gauge;
	struct index *x;
	size_t len;

	if (m->same)
		return true;
	len = index_size(m->listing.head->nr_items, nr_slots,
	    m->listing.head->names_bytes);
	room_read(&m->room, &gauge);
	m->rc = room_check(&m->room, &gauge, len, &m->err);
	if (m->rc == 0)
		m->rc = segment_create(&m->seg, &index_kind, len, m->generation,
		    &m->err);
	if (m->rc < 0)
		return true;
	x = m->seg.base;
	x->nr_items = m->listing.head->nr_items;
	x->nr_slots = nr_slots;
	x->names_bytes = m->listing.head->names_bytes;
	x->total_bytes = m->listing.head->total_bytes;
	x->set = m->id;
	return true;
}

static bool
copy_items_piece(struct make *m)
{
	struct index *x = m->seg.base;
	uint64_t end;

	if (m->same)
		return true;
	end = x->nr_items - m->at < PIECE ? x->nr_items : m->at + PIECE;
	for (; m->at < end; m->at++)
		x->items[m->at].key = m->listing.items[m->at];
	return end == x->nr_items;
}

static bool
copy_names_piece(struct make *m)
{
	struct index *x = m->seg.base;
	uint64_t left;
	size_t n;

	if (m->same)
		return true;
	left = x->names_bytes - m->at;
	n = left < NAMES_PIECE ? left : NAMES_PIECE;
	memcpy(index_names(x) + m->at, m->listing.names + m->at, n);
	m->at += n;
	return n == left;
}

static bool
put_files_piece(struct make *m)
{
	struct index *x = m->seg.base;
	uint64_t end;

	if (m->same || x->nr_slots == 0)
		return true;
	end = x->nr_items - m->at < TABLE_PIECE ? x->nr_items :
	    m->at + TABLE_PIECE;
	for (; m->at < end; m->at++)
		index_put_file(x, m->at);
	return end == x->nr_items;
}

static bool (*const steps[])(struct make *) = {
	check_piece, compare_piece, allocate_piece, copy_items_piece,
	copy_names_piece, put_files_piece,
};
#define NR_STEPS	(sizeof steps / sizeof steps[0])

static bool
work_piece(struct helper_job *job)
{
	struct make *m = (struct make *)job;

	if (m->step == 0 && m->listing.head == NULL) {
		segment_detach(&m->seg);	/* of an earlier try */
		m->rc = crash_point("hub.listing");
		if (m->rc == 0)
			m->rc = listing_map(&m->listing, m->fd, &m->err);
		if (m->rc < 0)
			return false;
	}
	if (steps[m->step](m)) {
		m->step++;
		m->at = 0;
	}
	if (m->rc == 0 && m->step < NR_STEPS)
		return true;
	listing_unmap(&m->listing);
	return false;
}

static bool
release(struct helper_job *job)
{
	struct make *m = (struct make *)job;

	listing_unmap(&m->listing);
	segment_detach(&m->seg);
	io_close(&m->fd);
	return false;
}

/*--- in the loop ---------------------------------------------------------*/

static void
free_make(struct helper_job *job)
{
	struct make *m = (struct make *)job;

	(void)release(job);	/* if the helper did not get to it */
	free(m->uri);
	free(m);
}

static void
end_make(struct make *m)
{
	if (m->old != NULL)
		m->old->pins--;
	m->job.work = release;
	m->job.done = free_make;
	helper_submit(hub_helper(m->keeper->hub), &m->job);
}

static void made(struct helper_job *job);

static void
begin(struct keeper *k, struct make *m)
{
	m->old = dataset_find(k, m->uri, strlen(m->uri));
	if (m->old != NULL)
		m->old->pins++;
	m->id = ++k->next_set;
	m->generation = hub_generation(k->hub);
	m->room = keeper_room(k);
	m->step = 0;
	m->at = 0;
	m->total = 0;
	m->rc = 0;
	m->job.work = work_piece;
	m->job.done = made;
	m->waiting = false;
	helper_submit(hub_helper(k->hub), &m->job);
}

/* The first in the line is done with. */
static void
end_first(struct keeper *k)
{
	struct make *m = k->makes;

	k->makes = m->next;
	end_make(m);
	drop_superseded(k);
	if (k->makes != NULL)
		begin(k, k->makes);
}

void
make_answer(struct make *m, struct dataset *d)
{
	struct keeper *k = m->keeper;
	struct client *c = hub_client(k->hub, m->asker.client);
	struct ds_err err;
	int rc;

	d->stamp = m->stamp;
	d->whole = true;	/* now others may open it */
	if (c != NULL) {
		rc = dataset_attach(k, d, c, m->asker.serial, m->share, &err);
		if (rc < 0)
			client_refuse(c, m->asker.serial, rc, err.text);
	}
	end_first(k);
}

static void
refuse(struct make *m)
{
	struct client *c = hub_client(m->keeper->hub, m->asker.client);

	if (c != NULL)
		client_refuse(c, m->asker.serial, m->rc, m->err.text);
	end_first(m->keeper);
}

static struct dataset *
new_dataset(struct make *m)
{
	struct keeper *k = m->keeper;
	struct dataset *d = calloc(1, sizeof *d);

	if (d == NULL)
		return NULL;
	d->magic = DATASET_MAGIC;
	d->id = m->id;
	d->uri = m->uri;
	m->uri = NULL;
	d->seg = m->seg;
	d->index = d->seg.base;
	memset(&m->seg, 0, sizeof m->seg);
	m->seg.fd = -1;
	d->minio.cap_bytes = MINIO_NO_CAP;
	page_copy_init(&d->sum);
	d->last_used_ns = clock_now_ns();
	k->index_bytes += d->seg.len;
	return d;
}

/* No room for the index: when a set that nobody uses has gone, once more. */
static bool
is_to_wait(struct make *m)
{
	if (m->rc != -ENOSPC && m->rc != -ENOMEM)
		return false;
	if (m->old != NULL)
		m->old->pins--;
	m->old = NULL;
	m->waiting = drop_unused(m->keeper);
	return m->waiting;
}

static void
made(struct helper_job *job)
{
	struct make *m = (struct make *)job;
	struct keeper *k = m->keeper;
	struct dataset *d;

	if (m->rc == 0 && m->step < NR_STEPS)
		m->rc = err_fail(&m->err, -ESHUTDOWN, "the hub is leaving");
	if (m->rc == 0 && m->same) {
		make_answer(m, m->old);
		return;
	}
	if (m->rc == 0 && k->nr_sets >= KEEPER_SETS_MAX)
		m->rc = err_fail(&m->err, -ENOSPC, "cache: %u data sets are "
		    "open", k->nr_sets);
	if (m->rc < 0) {
		if (!is_to_wait(m))
			refuse(m);
		return;
	}
	d = new_dataset(m);
	if (d == NULL) {
		m->rc = err_fail(&m->err, -ENOMEM, "the hub has no memory");
		refuse(m);
		return;
	}
	d->next = k->sets;
	k->sets = d;
	k->nr_sets++;
	log_line(hub_log(k->hub), LOG_INFO, "%s: %llu items of %llu bytes",
	    d->uri, (unsigned long long)d->index->nr_items,
	    (unsigned long long)d->index->total_bytes);
	if (m->old == NULL || adopt_begin(m, d) < 0)
		make_answer(m, d);
}

void
make_resume(struct keeper *k)
{
	struct make *m = k->makes;

	if (m == NULL || !m->waiting)
		return;
	begin(k, m);
}

/*--- messages ------------------------------------------------------------*/

struct wish {
	const char *uri;
	size_t	len;
	uint64_t stamp;
	uint32_t share;
};

static int
read_wish(const struct wire_frame *f, struct wish *wish)
{
	struct wire_reader r;

	wire_read(&r, f);
	wish->uri = wire_get_bytes(&r, &wish->len);
	wish->stamp = wire_get_u64(&r);
	wish->share = wire_get_u32(&r);
	if (!wire_read_end(&r) || wish->len == 0 ||
	    wish->len > CACHE_URI_MAX || wish->share > CACHE_SHARE_ONE ||
	    memchr(wish->uri, '\0', wish->len) != NULL)
		return -EBADMSG;
	return 0;
}

/* By its stamp, or as it is; not while it takes over items. */
static struct dataset *
find_listed(struct keeper *k, const struct wish *wish)
{
	struct dataset *d = wish->stamp == 0 ? NULL :
	    dataset_find(k, wish->uri, wish->len);

	if (d == NULL || !d->whole)
		return NULL;
	return wish->stamp == CACHE_STAMP_ANY || d->stamp == wish->stamp ?
	    d : NULL;
}

int
make_open(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct wire_frame answer;
	struct wire_writer w;
	struct dataset *d;
	struct wish wish;

	if (read_wish(f, &wish) < 0)
		return -EBADMSG;
	d = find_listed(k, &wish);
	if (d != NULL)
		return dataset_attach(k, d, c, f->head.serial, wish.share, err);
	wire_write(&w, &answer, MSG_LIST, f->head.serial);
	client_answer(c, &answer);
	return 0;
}

int
make_listing(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct make *m, **mp;
	struct wish wish;

	if (read_wish(f, &wish) < 0 || f->nr_fds != 1 ||
	    wish.stamp == CACHE_STAMP_ANY)
		return -EBADMSG;
	for (m = k->makes; m != NULL; m = m->next) {
		if (m->asker.client == client_id(c))
			return err_fail(err, -EBUSY, "cache: another listing "
			    "of this process is being worked on");
	}
	m = calloc(1, sizeof *m);
	if (m == NULL)
		return err_fail(err, -ENOMEM, "the hub has no memory");
	m->uri = strndup(wish.uri, wish.len);
	if (m->uri == NULL) {
		free(m);
		return err_fail(err, -ENOMEM, "the hub has no memory");
	}
	m->fd = f->fds[0];
	f->nr_fds = 0;
	m->seg.fd = -1;
	m->keeper = k;
	m->stamp = wish.stamp;
	m->share = wish.share;
	m->asker = (struct asker){ client_id(c), f->head.serial };
	for (mp = &k->makes; *mp != NULL; mp = &(*mp)->next)
		continue;
	*mp = m;
	if (k->makes == m)
		begin(k, m);
	return 0;
}

void
make_forget(struct keeper *k, uint32_t client)
{
	struct make *m, **mp;

	if (k->makes == NULL)
		return;
	for (mp = &k->makes->next; (m = *mp) != NULL;) {
		if (m->asker.client == client) {
			*mp = m->next;
			end_make(m);
		} else {
			mp = &m->next;
		}
	}
}

void
make_stop(struct keeper *k)
{
	struct make *m;

	while ((m = k->makes) != NULL) {	/* those that waited */
		k->makes = m->next;
		if (m->old != NULL)
			m->old->pins--;
		free_make(&m->job);
	}
}
