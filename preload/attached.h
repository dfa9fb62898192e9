/* SPDX-License-Identifier: Apache-2.0
 *
 * attached.h: the data sets of this process, found at the first open that may
 * concern one.  Runs in any program that the object is preloaded in, in any of
 * its threads.
 *
 *  1. Looking takes no lock.  What was given out stays until nobody is between
 *     attached_enter() and attached_leave() any more.
 *  2. A forked child attaches anew, because connection and client page are its
 *     parent's; until it has, it can look things up in what it inherited.
 *     A child of vfork(2) never attaches: it uses what its parent has.
 *  3. Who attaches holds a lock that names its process: one that a parent's
 *     other thread held at the fork stops nobody.
 *  4. Where the object was loaded late (start.h), what the hub has not listed is
 *     left for later, and the hub asked again every LISTED_NS: whoever loaded it
 *     has somebody else list.
 *  5. No hub is ever started from here.  Where there is none, or it is lost,
 *     one line says so, and another is looked for every RETRY_NS, or later if
 *     that takes its time: one that stands still holds a program up once.
 */

#ifndef PRELOAD_ATTACHED_H
#define PRELOAD_ATTACHED_H

#include "cache/data.h"
#include "preload/filter.h"

struct attached {
	struct attached	*next;		/* of those that were replaced */
	struct ds_hub	*hub;
	uint64_t	made_ns;
	_Atomic bool	lost;		/* its descriptors, or its store */
	bool		waits;		/* for a listing */
	unsigned	nr_roots;	/* that there were when it was made */
	unsigned	nr;
	struct ds_data	*data[FILTER_ROOTS_MAX];
};

void attached_enter(void);
void attached_leave(void);
	/* Around all else here. */

void attached_start(void);
	/* Once, while the program has one thread. */

struct attached *attached_get(void);
	/* Attaches if need be; NULL: there is nothing to attach to. */

struct attached *attached_peek(void);
	/* What is there, if it is only a parent's. */

void attached_lost(struct attached *a);
	/* Its descriptors or its store are gone: attach anew. */

void attached_hub_gone(struct attached *a, uint64_t took_ns);
	/* Its hub does not answer any more, which it took so long to learn: look
	 * for another now and then. */

#endif
