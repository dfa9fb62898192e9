/* SPDX-License-Identifier: Apache-2.0
 *
 * api.c: the hub as destall.h shows it.  Runs in clients.
 */

#include <config.h>

#include "hub/api.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/must.h"

#define HUB_MAGIC	0x44534842u	/* "DSHB" */

struct ds_hub {
	unsigned	magic;
	_Atomic unsigned nr_users;
	struct link	*link;
};

/* A thread that is cancelled on the way would leave descriptors open. */
static int
connect_link(struct link **out, const char *job, bool may_start,
    struct ds_err *err)
{
	int rc, old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	rc = link_new_as(out, job, may_start, err);
	pthread_setcancelstate(old, &old);
	return rc;
}

int
ds_connect_as(struct ds_hub **out, const char *job, unsigned flags,
    struct ds_err *err)
{
	struct ds_err why = { 0 };	/* also of an attempt before the last */
	struct ds_hub *h;
	int rc;

	if ((flags & ~DS_NO_START) != 0)
		return err_fail(err, -EINVAL, "ds_connect: flags 0x%x are not "
		    "known to destall " PACKAGE_VERSION, flags);
	h = calloc(1, sizeof *h);
	if (h == NULL)
		return err_fail(err, -ENOMEM, "out of memory");
	rc = connect_link(&h->link, job, (flags & DS_NO_START) == 0, &why);
	if (rc < 0) {
		free(h);
		return err_fail(err, rc, "%s", why.text);
	}
	h->magic = HUB_MAGIC;
	atomic_init(&h->nr_users, 1);
	*out = h;
	return 0;
}

int
ds_connect(struct ds_hub **out, unsigned flags, struct ds_err *err)
{
	return ds_connect_as(out, NULL, flags, err);
}

struct link *
hub_api_link(struct ds_hub *hub)
{
	must_be(hub, HUB_MAGIC);
	return hub->link;
}

void
hub_api_keep(struct ds_hub *hub)
{
	must_be(hub, HUB_MAGIC);
	/* relaxed: whoever keeps it has it already */
	atomic_fetch_add_explicit(&hub->nr_users, 1, memory_order_relaxed);
}

void
hub_api_drop(struct ds_hub **hub)
{
	struct ds_hub *h = *hub;

	if (h == NULL)
		return;
	must_be(h, HUB_MAGIC);
	*hub = NULL;
	/* acq_rel: the last one frees after all the others' uses */
	if (atomic_fetch_sub_explicit(&h->nr_users, 1,
	    memory_order_acq_rel) > 1)
		return;
	link_free(&h->link);
	h->magic = 0;
	free(h);
}

void
ds_disconnect(struct ds_hub **hub)
{
	if (*hub == NULL)
		return;
	must_be(*hub, HUB_MAGIC);
	link_end((*hub)->link, "this program has disconnected from it");
	hub_api_drop(hub);
}
