/* SPDX-License-Identifier: Apache-2.0
 *
 * desks.c: all desks of this process, and what a fork does to them.
 * Runs in clients, in any of their threads.
 */

#include <config.h>

#include "stage/desks.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "base/must.h"
#include "stage/stage.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct desk *first;
static bool is_watching;		/* by the lock */

void
desks_lock(void)
{
	must(pthread_mutex_lock(&lock) == 0);
}

void
desks_unlock(void)
{
	must(pthread_mutex_unlock(&lock) == 0);
}

struct desk *
desks_find(const struct link *link)
{
	struct desk *d = first;

	while (d != NULL && d->link != link)
		d = d->next;
	return d;
}

void
desks_add(struct desk *d)
{
	d->next = first;
	first = d;
}

void
desks_remove(struct desk *d)
{
	struct desk **at = &first;

	while (*at != NULL && *at != d)
		at = &(*at)->next;
	if (*at != NULL)
		*at = d->next;
	d->next = NULL;
}

/*--- forks ---------------------------------------------------------------*/

/* A child of a fork that nobody was told of may have desks of its parent,
 * their locks held for ever: they are passed over. */
static void
before_fork(void)
{
	desks_lock();
	for (struct desk *d = first; d != NULL; d = d->next) {
		if (!desk_is_mine(d))
			continue;
		desk_lock(d);
		if (d->maps != NULL)
			maps_forking(d->maps);
	}
}

static void
after_fork_in_parent(void)
{
	for (struct desk *d = first; d != NULL; d = d->next) {
		if (desk_is_mine(d))
			desk_unlock(d);
	}
	desks_unlock();
}

static void
after_fork_in_child(void)
{
	while (first != NULL) {
		struct desk *d = first;

		first = d->next;
		d->next = NULL;
		if (d->maps != NULL)
			maps_abandon(&d->maps);
		must(pthread_mutex_init(&d->lock, NULL) == 0);
	}
	must(pthread_mutex_init(&lock, NULL) == 0);
}

int
desks_watch(struct ds_err *err)
{
	int e = 0;

	desks_lock();
	if (!is_watching)
		e = pthread_atfork(before_fork, after_fork_in_parent,
		    after_fork_in_child);
	if (e == 0)
		is_watching = true;
	desks_unlock();
	return e == 0 ? 0 : err_fail(err, -e, "cannot watch for forks: no "
	    "memory");
}
