/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.c: getting an item: by its word from the cache, or by a lease from
 * storage into the cache, or from storage alone.  Runs in clients, in any of
 * their threads.
 *
 *  1. Whatever hub and cache do, a get ends with the right bytes or with the
 *     reason why storage could not give them.
 *  2. A lease is answered by one PUBLISH or GIVE_UP, after its descriptor was
 *     closed: the hub lets nobody see what somebody can still write.
 *  3. What the job is given after a miss is memory of its own, never that of
 *     the lease.
 */

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/crc32c.h"
#include "base/io.h"
#include "cache/claim.h"

#define ERRNO_MAX	4095u

static int
fail_get(struct ds_data *d, int rc)
{
	data_count(d, COUNT_FAILURES, 1);
	return rc;
}

/*--- from storage --------------------------------------------------------*/

static int
read_timed(struct ds_data *d, uint64_t i, void *p, struct ds_err *err)
{
	const struct listing_item *key = data_key(d, i);
	const char *name = data_name(d, i);
	uint64_t begin_ns = clock_now_ns();
	int rc;

	if (name == NULL)
		return err_fail(err, -EBADMSG, "data set %s: the name of item "
		    "%llu is not sound", source_uri(d->source),
		    (unsigned long long)i);
	rc = source_read(d->source, name, key, p, err);
	if (rc < 0 || !data_is_ours(d))
		return rc;
	page_fetched(d->page, clock_now_ns() - begin_ns);
	page_count(d->page, COUNT_STORAGE_READS, 1);
	page_count(d->page, COUNT_STORAGE_BYTES, key->size);
	return 0;
}

/* Into memory of the item's own. */
static int
read_storage(struct ds_data *d, uint64_t i, struct ds_item *item,
    struct ds_err *err)
{
	uint64_t size = data_key(d, i)->size;
	void *p;
	int rc;

	if (size > SOURCE_ITEM_MAX)
		return err_fail(err, -EFBIG, "data set %s: item %llu is too "
		    "large", source_uri(d->source), (unsigned long long)i);
	p = malloc((size_t)size);
	if (p == NULL)
		return err_fail(err, -ENOMEM, "data set %s: out of memory for "
		    "an item of %llu bytes", source_uri(d->source),
		    (unsigned long long)size);
	rc = read_timed(d, i, p, err);
	if (rc < 0) {
		free(p);
		return rc;
	}
	*item = (struct ds_item){ p, (size_t)size, p };
	return 0;
}

int
fill_alone(struct ds_data *d, uint64_t i, struct ds_item *item,
    struct ds_err *err)
{
	int rc = read_storage(d, i, item, err);

	if (rc < 0)
		return fail_get(d, rc);
	data_count(d, COUNT_MISSES, 1);
	return 0;
}

/*--- with a lease --------------------------------------------------------*/

/* Would another process have been able to read it? */
static bool
is_own_fault(int rc)
{
	switch (-rc) {
	case EACCES:		/* it may have fewer rights than others */
	case EAGAIN:
	case EBADF:
	case EINTR:
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case EPERM:
		return true;
	default:
		return false;
	}
}

static void
give_up(struct ds_data *d, uint64_t i, struct ask_lease *lease, int rc)
{
	io_close(&lease->fd);
	ask_give_up(d, i, lease, is_own_fault(rc) ? 0 : (uint32_t)-rc);
}

/* A failure here is the cache's: the job has its bytes already. */
static void
hand_over(struct ds_data *d, uint64_t i, struct ask_lease *lease,
    const struct ds_item *item)
{
	int rc = crash_point("cache.read");

	if (rc == 0)
		rc = io_write_all(lease->fd, item->bytes, item->len);
	if (rc == 0)
		rc = crash_point("cache.written");
	io_close(&lease->fd);
	if (rc == 0)
		rc = crash_point("cache.closed");
	if (rc < 0) {
		ask_give_up(d, i, lease, 0);
		return;
	}
	ask_publish(d, i, lease, crc32c(0, item->bytes, item->len));
	(void)crash_point("cache.published");	/* no step is left to fail */
}

static int
fill(struct ds_data *d, uint64_t i, struct ask_lease *lease,
    struct ds_item *item, struct ds_err *err)
{
	int rc = crash_point("cache.leased");

	if (rc < 0)
		(void)err_fail(err, rc, "data set %s: cannot be read",
		    source_uri(d->source));
	else
		rc = read_storage(d, i, item, err);
	if (rc < 0) {
		give_up(d, i, lease, rc);
		return fail_get(d, rc);
	}
	hand_over(d, i, lease, item);
	data_count(d, COUNT_MISSES, 1);
	return 0;
}

/*--- with the others -----------------------------------------------------*/

static int
fail_again(struct ds_data *d, uint64_t i, struct ds_err *err)
{
	const struct index_item *it = &d->index.index->items[i];
	uint32_t e = atomic_load_explicit(&it->error, memory_order_relaxed);
	const char *name = data_name(d, i), *why;

	if (e == 0 || e > ERRNO_MAX)
		e = EIO;
	why = strerrordesc_np((int)e);
	return fail_get(d, err_fail(err, -(int)e, "%s: could not be read "
	    "before, and is not tried again in this epoch: %s",
	    name != NULL ? name : source_uri(d->source),
	    why != NULL ? why : "unknown error"));
}

int
fill_shared(struct ds_data *d, uint64_t i, struct ds_item *item,
    struct ds_err *err)
{
	uint64_t since_ns = atomic_load_explicit(&d->epoch_ns,
	    memory_order_relaxed);
	struct ask_lease lease;
	uint64_t word;

	switch (claim_item(d, i, since_ns, &word, &lease)) {
	case CLAIM_READY:
		if (item_cached(d, i, word, item))
			return 0;
		break;
	case CLAIM_LEASED:
		return fill(d, i, &lease, item, err);
	case CLAIM_FAILED:
		return fail_again(d, i, err);
	case CLAIM_ALONE:
		break;
	}
	return fill_alone(d, i, item, err);
}
