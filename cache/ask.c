/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.c: what a data set's user says to the hub.  Runs in clients, in any of
 * their threads.
 */

#include <config.h>

#include "cache/ask.h"

#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/must.h"
#include "base/wire.h"
#include "cache/messages.h"

#define LARGE	(UINT64_C(256) << 20)	/* bytes of an item */

enum { FD_INDEX, FD_VIEW, FD_PAGE, NR_SET_FDS };	/* of MSG_OPENED */

static int
refuse_answer(struct wire_frame *f, struct ds_err *err)
{
	wire_close_fds(f);
	return err_fail(err, -EBADMSG,
	    "the hub gave an answer that cannot be read");
}

/*--- opening -------------------------------------------------------------*/

static int
take_set(struct wire_frame *f, struct ask_set *s, struct ds_err *err)
{
	struct wire_reader r;

	wire_read(&r, f);
	s->set = wire_get_u32(&r);
	if (!wire_read_end(&r) || f->nr_fds != NR_SET_FDS)
		return refuse_answer(f, err);
	s->index = f->fds[FD_INDEX];
	s->view = f->fds[FD_VIEW];
	s->page = f->fds[FD_PAGE];
	f->nr_fds = 0;
	return ASK_OPENED;
}

int
ask_open(struct link *l, const char *uri, uint64_t stamp, uint32_t share,
    int listing, struct ask_set *s, struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;
	int rc;

	if (strlen(uri) > CACHE_URI_MAX)
		return err_fail(err, -ENAMETOOLONG, "data set %s: its name is "
		    "longer than %u bytes, and cannot be cached", uri,
		    CACHE_URI_MAX);
	wire_write(&w, &f, listing < 0 ? MSG_OPEN : MSG_LISTING, 0);
	wire_put_bytes(&w, uri, strlen(uri));
	wire_put_u64(&w, stamp);
	wire_put_u32(&w, share);
	if (listing >= 0)
		wire_put_fd(&w, listing);
	must(wire_write_end(&w));
	/* What was listed already is given at once. */
	rc = listing < 0 ? link_call(l, &f, LINK_ANY, err) :
	    link_call_long(l, &f, LINK_ANY, err);
	if (rc < 0)
		return rc;
	if (f.head.type == MSG_OPENED)
		return take_set(&f, s, err);
	if (f.head.type == MSG_LIST && listing < 0 && f.nr_fds == 0)
		return ASK_LIST;
	return refuse_answer(&f, err);
}

void
ask_close(struct link *l, uint32_t set)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_CLOSE, 0);
	wire_put_u32(&w, set);
	must(wire_write_end(&w));
	(void)link_tell(l, &f, NULL);
}

/*--- items ---------------------------------------------------------------*/

static void
write_item(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    const struct ds_data *d, uint64_t i)
{
	wire_write(w, f, type, 0);
	wire_put_u32(w, d->set);
	wire_put_u64(w, i);
}

static enum ask_answer
take_lease(struct wire_frame *f, struct ask_lease *lease)
{
	struct wire_reader r;

	wire_read(&r, f);
	lease->generation = wire_get_u32(&r);
	if (!wire_read_end(&r) || f->nr_fds != 1) {
		wire_close_fds(f);
		return ASK_ALONE;
	}
	lease->fd = f->fds[0];
	f->nr_fds = 0;
	return ASK_LEASED;
}

static enum ask_answer
take_reason(struct wire_frame *f)
{
	struct wire_reader r;
	uint32_t why;

	wire_close_fds(f);
	wire_read(&r, f);
	why = wire_get_u32(&r);
	if (!wire_read_end(&r))
		return ASK_ALONE;
	return why == CACHE_BUSY ? ASK_BUSY :
	    why == CACHE_LOOK ? ASK_LOOK : ASK_ALONE;
}

enum ask_answer
ask_lease(struct ds_data *d, uint64_t i, uint64_t since_ns,
    struct ask_lease *lease)
{
	struct wire_frame f;
	struct wire_writer w;
	int rc;

	if (!link_alive(d->link))
		return ASK_ALONE;
	write_item(&w, &f, MSG_LEASE, d, i);
	wire_put_u64(&w, since_ns);
	must(wire_write_end(&w));
	/* Memory for a large item is found in many pieces. */
	rc = data_key(d, i)->size > LARGE ?
	    link_call_long(d->link, &f, LINK_ANY, NULL) :
	    link_call(d->link, &f, LINK_ANY, NULL);
	if (rc < 0)
		return ASK_ALONE;
	if (f.head.type == MSG_LEASED)
		return take_lease(&f, lease);
	if (f.head.type == MSG_NOT_LEASED)
		return take_reason(&f);
	wire_close_fds(&f);
	return ASK_ALONE;
}

/* The generation, and a number where the message has one. */
static void
tell(struct ds_data *d, uint16_t type, uint64_t i, uint32_t generation,
    const uint32_t *number)
{
	struct wire_frame f;
	struct wire_writer w;

	write_item(&w, &f, type, d, i);
	wire_put_u32(&w, generation);
	if (number != NULL)
		wire_put_u32(&w, *number);
	must(wire_write_end(&w));
	(void)link_tell(d->link, &f, NULL);
}

void
ask_publish(struct ds_data *d, uint64_t i, const struct ask_lease *lease,
    uint32_t crc32c)
{
	tell(d, MSG_PUBLISH, i, lease->generation, &crc32c);
}

void
ask_give_up(struct ds_data *d, uint64_t i, const struct ask_lease *lease,
    uint32_t error)
{
	tell(d, MSG_GIVE_UP, i, lease->generation, &error);
}

void
ask_report(struct ds_data *d, uint64_t i, uint32_t generation)
{
	tell(d, MSG_REPORT, i, generation, NULL);
}
