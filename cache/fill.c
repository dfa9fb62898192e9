/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.c: getting an item: by its word from the cache, or by a lease from
 * storage into the cache, or from storage alone.  Runs in clients, in any of
 * their threads.
 *
 *  1. Whatever hub and cache do, a get ends with the right bytes or with the
 *     reason why storage could not give them.
 *  2. It waits for others patience_ns in all, and never for a hub that is
 *     gone: who waits asks again every ASK_NS.
 *  3. A lease is answered by one PUBLISH or GIVE_UP, after its descriptor was
 *     closed: the hub lets nobody see what somebody can still write.
 *  4. What the job is given after a miss is memory of its own, never that of
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
#include "cache/ask.h"
#include "cache/data.h"

#define ASK_NS		(NS_PER_S / 4)
#define LOOKS_MAX	8u	/* "look again" that led nowhere */
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

/*--- looking, asking, waiting --------------------------------------------*/

enum next { DONE, ASK, ALONE };	/* or -errno */

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

static bool
failed_since(const struct index_item *it, uint64_t since_ns)
{
	return atomic_load_explicit(&it->failed_ns, memory_order_relaxed) >=
	    since_ns;
}

static int
look(struct ds_data *d, uint64_t i, uint64_t since_ns, struct ds_item *item,
    struct ds_err *err)
{
	const struct index *x = d->index.index;
	/* acquire: pairs with the hub's release (index.h, rule 1) */
	uint64_t word = atomic_load_explicit(&x->items[i].word,
	    memory_order_acquire);

	switch (item_state(word)) {
	case ITEM_READY:
		return item_cached(d, i, word, item) ? DONE : ALONE;
	case ITEM_FAILED:
		return failed_since(&x->items[i], since_ns) ?
		    fail_again(d, i, err) : ASK;
	case ITEM_LEASED:
		return ASK;
	case ITEM_EMPTY:
		/* relaxed: at worst the hub says so */
		return atomic_load_explicit(&x->closed, memory_order_relaxed) ?
		    ALONE : ASK;
	default:
		return ALONE;
	}
}

static uint32_t
load_wake(const struct index *x)
{
	/* acquire: pairs with the release of index_wake() */
	return atomic_load_explicit(&x->wake, memory_order_acquire);
}

/* Until the item is no longer leased, or it is time to ask again. */
static void
wait_for(const struct index *x, uint64_t i, uint32_t seen, uint64_t until_ns)
{
	while (index_wait(x, seen, until_ns) == 0) {
		seen = load_wake(x);
		if (item_state(atomic_load_explicit(&x->items[i].word,
		    memory_order_acquire)) != ITEM_LEASED)
			return;
	}
}

static uint64_t
earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

int
fill_shared(struct ds_data *d, uint64_t i, struct ds_item *item,
    struct ds_err *err)
{
	const struct index *x = d->index.index;
	uint64_t since_ns = atomic_load_explicit(&d->epoch_ns,
	    memory_order_relaxed);
	uint64_t deadline_ns = 0, now_ns;
	struct ask_lease lease;
	unsigned looks = 0;
	uint32_t seen;
	int rc;

	for (;;) {
		seen = load_wake(x);	/* before the word: index.h, rule 4 */
		rc = look(d, i, since_ns, item, err);
		if (rc != ASK)
			return rc == ALONE ? fill_alone(d, i, item, err) : rc;
		now_ns = clock_now_ns();
		if (deadline_ns == 0)
			deadline_ns = now_ns + d->patience_ns;
		else if (now_ns >= deadline_ns)
			return fill_alone(d, i, item, err);
		switch (ask_lease(d, i, since_ns, &lease)) {
		case ASK_LEASED:
			return fill(d, i, &lease, item, err);
		case ASK_BUSY:
			wait_for(x, i, seen, earlier(deadline_ns,
			    now_ns + ASK_NS));
			break;
		case ASK_LOOK:
			if (++looks < LOOKS_MAX)
				break;
			return fill_alone(d, i, item, err);
		case ASK_ALONE:
			return fill_alone(d, i, item, err);
		}
	}
}
