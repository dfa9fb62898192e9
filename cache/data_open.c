/* SPDX-License-Identifier: Apache-2.0
 *
 * data_open.c: opening a data set: its source, its place at the hub, or its
 * list.  Runs in clients.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/memfd.h"
#include "cache/ask.h"
#include "cache/data.h"
#include "cache/messages.h"

/*--- what the hub gives --------------------------------------------------*/

/* Ours to write: so it has no seal against that, but its size must hold. */
static int
map_page(struct ds_data *d, int fd, struct ds_err *err)
{
	int seals = fcntl(fd, F_GET_SEALS), rc;
	struct stat st;
	void *base;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &st) != 0 ||
	    st.st_size < (off_t)sizeof *d->page)
		return err_fail(err, -EBADMSG,
		    "%s: not one of this build", page_kind.name);
	rc = memfd_map_writer(fd, (size_t)st.st_size, &base, err);
	if (rc < 0)
		return rc;
	rc = segment_check(&page_kind, base, (size_t)st.st_size, err);
	if (rc < 0) {
		munmap(base, (size_t)st.st_size);
		return rc;
	}
	d->page = base;
	d->hubs_page_len = (size_t)st.st_size;
	return 0;
}

static int
attach_index(struct ds_data *d, int *fd, struct ds_err *err)
{
	int rc = index_attach(&d->index, *fd, err);

	if (rc < 0)
		return rc;
	/* The mapping is enough: no number that the job might take over. */
	*fd = -1;
	io_close(&d->index.seg.fd);
	d->nr_items = d->index.index->nr_items;
	return 0;
}

static void
detach(struct ds_data *d)
{
	view_fini(&d->view);
	index_detach(&d->index);
	d->nr_items = 0;
}

/* All of it, or nothing; the page last, which close must know about. */
static int
attach(struct ds_data *d, struct ask_set *s, struct ds_err *err)
{
	int rc;

	rc = attach_index(d, &s->index, err);
	if (rc < 0)
		return rc;
	rc = view_init(&d->view, s->view, err);
	if (rc < 0)
		goto detach;
	s->view = -1;
	rc = keep_init(&d->keep, d->nr_items, err);
	if (rc < 0)
		goto detach;
	rc = map_page(d, s->page, err);
	if (rc == 0) {
		d->set = s->set;
		return 0;
	}
	keep_fini(&d->keep, NULL, NULL);
detach:
	detach(d);
	return rc;
}

static int
attach_or_close(struct ds_data *d, struct ask_set *s, struct ds_err *err)
{
	int rc = crash_point("data.opened");

	if (rc == 0)
		rc = attach(d, s, err);
	if (rc < 0)
		ask_close(d->link, s->set);
	io_close(&s->index);
	io_close(&s->view);
	io_close(&s->page);
	return rc;
}

/*--- asking for it -------------------------------------------------------*/

/* Descriptor of the listing. */
static int
list(struct ds_data *d, struct ds_err *err)
{
	int fd = source_list(d->source, err), rc;

	if (fd < 0)
		return fd;
	rc = crash_point("data.listing");
	if (rc < 0) {
		io_close(&fd);
		return err_fail(err, rc, "data set %s: cannot be listed",
		    source_uri(d->source));
	}
	return fd;
}

/* By a stamp, or with a listing.  Without either the hub cannot but ask for
 * the list. */
static int
ask(struct ds_data *d, uint64_t stamp, int listing, struct ask_set *s)
{
	if (stamp == 0 && listing < 0)
		return ASK_LIST;
	return ask_open(d->link, source_uri(d->source), stamp,
	    d->set_up.share, listing, s, &d->no_cache);
}

enum lists { LISTS_ANEW, LISTS_IF_NONE, LISTS_NEVER };

/* The hub's failures cost the cache, the source's fail the opening; *listing
 * is set where one was made. */
static int
open_at_hub(struct ds_data *d, enum lists lists, int *listing,
    struct ds_err *err)
{
	struct ask_set s;
	int rc = lists == LISTS_ANEW ? ASK_LIST :
	    ask(d, CACHE_STAMP_ANY, -1, &s);
	uint64_t stamp;

	if (rc == ASK_LIST && lists == LISTS_NEVER)
		return err_fail(err, -EAGAIN, "data set %s: not listed yet",
		    source_uri(d->source));
	if (rc == ASK_LIST) {
		rc = source_stamp(d->source, &stamp, err);
		if (rc < 0)
			return rc;
		rc = ask(d, stamp, -1, &s);
	}
	if (rc == ASK_LIST) {
		*listing = list(d, err);
		if (*listing < 0)
			return *listing;
		rc = ask(d, stamp, *listing, &s);
	}
	if (rc == ASK_OPENED)
		(void)attach_or_close(d, &s, &d->no_cache);
	return 0;
}

/*--- without the hub -----------------------------------------------------*/

static int
use_listing(struct ds_data *d, int *listing, struct ds_err *err)
{
	int rc;

	if (*listing < 0)
		*listing = list(d, err);
	if (*listing < 0)
		return *listing;
	d->page = calloc(1, sizeof *d->page);
	if (d->page == NULL)
		return err_fail(err, -ENOMEM, "data set %s: out of memory",
		    source_uri(d->source));
	rc = listing_map(&d->listing, *listing, err);
	if (rc == 0)
		d->nr_items = d->listing.head->nr_items;
	return rc;
}

static int
open_items(struct ds_data *d, enum lists lists, struct ds_err *err)
{
	int listing = -1, rc = 0;

	if (d->link != NULL)
		rc = open_at_hub(d, lists, &listing, err);
	if (rc == 0 && d->index.index == NULL)
		rc = lists != LISTS_NEVER ? use_listing(d, &listing, err) :
		    err_fail(err, d->no_cache.code, "%s", d->no_cache.text);
	io_close(&listing);
	return rc;
}

static int
open_data(struct ds_data **out, struct link *link, const char *uri,
    const char *budget, enum lists lists, struct ds_err *err)
{
	struct ds_data *d;
	int rc;

	d = calloc(1, sizeof *d);
	if (d == NULL)
		return err_fail(err, -ENOMEM, "data set %s: out of memory", uri);
	d->magic = DATA_MAGIC;
	d->link = link;
	d->view.fd = -1;
	d->patience_ns = DATA_PATIENCE_NS;
	atomic_init(&d->epoch_ns, clock_now_ns());
	rc = data_settings_read(&d->set_up, budget, err);
	if (rc == 0)
		rc = source_open(&d->source, uri, err);
	if (rc == 0)
		rc = open_items(d, lists, err);
	if (rc < 0) {
		ds_data_close(&d);
		return rc;
	}
	*out = d;
	return 0;
}

int
data_open_on(struct ds_data **out, struct link *link, const char *uri,
    const char *budget, struct ds_err *err)
{
	return open_data(out, link, uri, budget, LISTS_ANEW, err);
}

int
data_open_current(struct ds_data **out, struct link *link, const char *uri,
    struct ds_err *err)
{
	return open_data(out, link, uri, NULL, LISTS_IF_NONE, err);
}

int
data_open_listed(struct ds_data **out, struct link *link, const char *uri,
    struct ds_err *err)
{
	return open_data(out, link, uri, NULL, LISTS_NEVER, err);
}
