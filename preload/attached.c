/* SPDX-License-Identifier: Apache-2.0
 *
 * attached.c: the data sets of this process.  Runs in any program that the
 * object is preloaded in, in any of its threads.
 */

#include <config.h>

#include "preload/attached.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cache/source_root.h"
#include "hub/api.h"
#include "preload/hush.h"
#include "preload/word.h"

#define RETRY_NS	(10 * NS_PER_S)	/* after a failure, at least */
#define LISTED_NS	(250 * NS_PER_MS) /* while another lists the files */
#define RETRY_SHARE	60u		/* of the time may be lost in trying */
#define AGAIN_NS	NS_PER_S	/* for one who keeps closing descriptors */
#define AGAIN_FREE	16u		/* times without that pause */
#define LOCK_NS		(2 * NS_PER_S)	/* another may be listing files */
#define POLL_NS		100000

static _Atomic(struct attached *) current;
static _Atomic uint64_t put_off_ns;	/* no attaching before; 0: at once */
static _Atomic int lock_owner;		/* a pid, or 0 */
static _Atomic unsigned nr_lost;

/*--- whose memory this is ------------------------------------------------*/

/* On a page of its own, which is empty in a forked child; NULL where there can
 * be none. */
static _Atomic int *home;

void
attached_start(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, size, MADV_WIPEONFORK) != 0) {
		(void)munmap(page, size);
		return;
	}
	home = page;
	/* relaxed: there is one thread */
	atomic_store_explicit(home, getpid(), memory_order_relaxed);
}

/* A child of vfork(2) has its parent's memory and other descriptors: what it
 * attached would be of no use to its parent, who would find it. */
static bool
is_guest(void)
{
	int owner = 0, me = getpid();

	/* relaxed: whoever of a forked child's comes first writes the same */
	return home != NULL && !atomic_compare_exchange_strong_explicit(home,
	    &owner, me, memory_order_relaxed, memory_order_relaxed) &&
	    owner != me;
}

/*--- the lock ------------------------------------------------------------*/

static bool
lock(void)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t deadline_ns = clock_now_ns() + LOCK_NS;
	int me = getpid(), was;

	do {
		was = 0;
		/* acquire: pairs with the release in unlock() */
		if (atomic_compare_exchange_strong_explicit(&lock_owner, &was,
		    me, memory_order_acquire, memory_order_relaxed))
			return true;
		/* Held by a thread that a fork left behind? */
		if (was != me && atomic_compare_exchange_strong_explicit(
		    &lock_owner, &was, me, memory_order_acquire,
		    memory_order_relaxed))
			return true;
		nanosleep(&pause, NULL);
	} while (clock_now_ns() < deadline_ns);
	return false;
}

static void
unlock(void)
{
	/* release: pairs with the acquire in lock() */
	atomic_store_explicit(&lock_owner, 0, memory_order_release);
}

/*--- attaching -----------------------------------------------------------*/

static bool
has_root(const struct attached *a, const char *canonical)
{
	for (unsigned n = 0; n < a->nr; n++) {
		if (strcmp(source_uri(a->data[n]->source), canonical) == 0)
			return true;
	}
	return false;
}

/* Late, only what we had before: then a hub was lost that had it listed. */
static bool
may_list(const char *canonical)
{
	const struct attached *old = attached_peek();

	return !filter_is_late() || (old != NULL && has_root(old, canonical));
}

static int
attach_root(struct attached *a, const char *root, struct ds_err *err)
{
	char canonical[PATH_MAX];
	struct ds_data *d;
	int rc;

	if (realpath(root, canonical) == NULL)
		return err_errno(err, "data set %s", root);
	if (has_root(a, canonical))
		return 0;
	rc = may_list(canonical) ?
	    data_open_current(&d, hub_api_link(a->hub), canonical, err) :
	    data_open_listed(&d, hub_api_link(a->hub), canonical, err);
	if (rc < 0)
		return rc;
	if (d->index.index == NULL) {
		*err = d->no_cache;
		ds_data_close(&d);
		return err->code;
	}
	/* Files are read through the program's own descriptors. */
	source_root_close(d->source);
	a->data[a->nr++] = d;
	return 0;
}

/* Who had a hub goes on with what that one has cached. */
static void
say_plain(const struct ds_err *err)
{
	word_say("%s: files %sare read as without destall", err->text,
	    attached_peek() != NULL ? "that are not cached yet " : "");
}

static void
attach_roots(struct attached *a)
{
	struct ds_err err;
	int rc;

	a->nr_roots = filter_nr();
	for (unsigned n = 0; n < a->nr_roots; n++) {
		rc = attach_root(a, filter_root(n), &err);
		if (rc == -EAGAIN && filter_is_late())
			a->waits = true;
		else if (rc < 0)
			say_plain(&err);
	}
}

static struct attached *
make(bool *waits)
{
	struct attached *a = calloc(1, sizeof *a);
	struct ds_err err;

	*waits = false;
	if (a == NULL)
		return NULL;
	if (ds_connect(&a->hub, DS_NO_START, &err) < 0) {
		say_plain(&err);
		free(a);
		return NULL;
	}
	attach_roots(a);
	*waits = a->waits;
	if (a->nr == 0) {
		ds_disconnect(&a->hub);
		free(a);
		return NULL;
	}
	a->made_ns = clock_now_ns();
	return a;
}

static bool
is_mine(const struct attached *a)
{
	return link_mine(hub_api_link(a->hub));
}

/*--- the old ones --------------------------------------------------------*/

/* Nobody new finds what was retired.  So once nobody is inside, at any moment
 * after it was taken from the list, nobody has it any more. */
static _Atomic unsigned nr_inside;
static _Atomic(struct attached *) retired;

static void
retire(struct attached *a)
{
	struct attached *rest;

	if (is_mine(a))
		link_end(hub_api_link(a->hub), "another took its place");
	rest = atomic_load_explicit(&retired, memory_order_relaxed);
	do {
		a->next = rest;
		/* release: pairs with the acquire in attached_leave() */
	} while (!atomic_compare_exchange_weak_explicit(&retired, &rest, a,
	    memory_order_release, memory_order_relaxed));
}

static bool
has_view(const struct attached *a, int fd)
{
	for (unsigned n = 0; a != NULL && n < a->nr; n++) {
		if (a->data[n]->view.fd == fd)
			return true;
	}
	return false;
}

/* A program that closed our descriptors made room for those that came after, of
 * the same folder under the same number: they are not closed with the old. */
static void
release(struct attached *a)
{
	const struct attached *now = attached_peek();

	for (unsigned n = 0; n < a->nr; n++) {
		if (has_view(now, a->data[n]->view.fd))
			a->data[n]->view.fd = -1;
		ds_data_close(&a->data[n]);
	}
	ds_disconnect(&a->hub);
	free(a);
}

/* In a forked child those count, too, who were inside at the fork and are not
 * here: then what it inherited is not given back. */
void
attached_enter(void)
{
	/* seq_cst: it is counted before it looks */
	atomic_fetch_add(&nr_inside, 1);
}

void
attached_leave(void)
{
	struct attached *old = NULL, *next;

	/* relaxed: a hint that there is something to do */
	if (atomic_load_explicit(&retired, memory_order_relaxed) != NULL)
		old = atomic_exchange_explicit(&retired, NULL,
		    memory_order_acquire);
	/* seq_cst: after the exchange, and after all looks of the others */
	if (atomic_fetch_sub(&nr_inside, 1) == 1) {
		for (; old != NULL; old = next) {
			next = old->next;
			release(old);
		}
		return;
	}
	for (; old != NULL; old = next) {
		next = old->next;
		retire(old);
	}
}

/*--- and when ------------------------------------------------------------*/

/* A hub that stands still costs as long as any answer is waited for, each time
 * that it is asked. */
static void
put_off(uint64_t took_ns, uint64_t least_ns)
{
	uint64_t pause_ns = took_ns * RETRY_SHARE;

	/* relaxed: a hint, nothing hangs on when it is seen */
	atomic_store_explicit(&put_off_ns, clock_now_ns() +
	    (pause_ns > least_ns ? pause_ns : least_ns), memory_order_relaxed);
}

static bool
is_put_off(void)
{
	uint64_t until_ns = atomic_load_explicit(&put_off_ns,
	    memory_order_relaxed);

	return until_ns != 0 && clock_now_ns() < until_ns;
}

static struct attached *
replace(struct attached *old)
{
	uint64_t begin_ns = clock_now_ns();
	struct attached *a;
	struct hush hush;
	bool waits;

	hush_begin(&hush);	/* there may be files to be listed */
	a = make(&waits);
	hush_end(&hush);
	if (waits)
		put_off(0, LISTED_NS);
	else if (a == NULL)
		put_off(clock_now_ns() - begin_ns, RETRY_NS);
	if (a == NULL)
		return old;
	/* release: pairs with the acquires of those who look */
	atomic_store_explicit(&current, a, memory_order_release);
	if (old != NULL)
		retire(old);
	return a;
}

static struct attached *
attach(struct attached *old)
{
	struct attached *a;

	if (is_put_off() || is_guest())
		return old;
	if (!lock()) {
		put_off(LOCK_NS, RETRY_NS);
		return old;
	}
	a = attached_peek();
	if (a == old && !is_put_off())
		a = replace(old);
	unlock();
	return a;
}

/*--- for the others ------------------------------------------------------*/

struct attached *
attached_peek(void)
{
	/* acquire: pairs with the release in replace() */
	return atomic_load_explicit(&current, memory_order_acquire);
}

/* There are roots that it does not have, or may have by now. */
static bool
is_behind(const struct attached *a)
{
	return a->nr_roots != filter_nr() || (a->waits && !is_put_off());
}

struct attached *
attached_get(void)
{
	struct attached *a = attached_peek();

	/* relaxed: a hint, nothing hangs on when it is seen */
	if (a != NULL && is_mine(a) && !is_behind(a) &&
	    !atomic_load_explicit(&a->lost, memory_order_relaxed))
		return a;
	return attach(a);
}

void
attached_lost(struct attached *a)
{
	/* relaxed: a count, and a hint */
	if (atomic_fetch_add_explicit(&nr_lost, 1, memory_order_relaxed) <
	    AGAIN_FREE || clock_now_ns() - a->made_ns >= AGAIN_NS)
		atomic_store_explicit(&a->lost, true, memory_order_relaxed);
}

void
attached_hub_gone(struct attached *a, uint64_t took_ns)
{
	if (!is_mine(a) || is_put_off())
		return;
	if (took_ns < LINK_DEADLINE_NS) {
		(void)attach(a);
		return;
	}
	word_say("the hub does not answer: files that are not cached yet are "
	    "read as without destall");
	put_off(took_ns, RETRY_NS);	/* nor will it now */
}
