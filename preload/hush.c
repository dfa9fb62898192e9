/* SPDX-License-Identifier: Apache-2.0
 *
 * hush.c: a signal that our own writing would raise in the program.  Runs in
 * any program that the object is preloaded in, in any of its threads.
 */

#include <config.h>

#include "preload/hush.h"

#include <errno.h>
#include <time.h>

static void
choose(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGXFSZ);
}

void
hush_begin(struct hush *h)
{
	sigset_t set;

	choose(&set);
	h->is_on = pthread_sigmask(SIG_BLOCK, &set, &h->before) == 0;
	h->was_waiting = sigpending(&set) != 0 ||
	    sigismember(&set, SIGXFSZ) == 1;
}

/* The kernel sends it to the thread that wrote. */
void
hush_end(const struct hush *h)
{
	static const struct timespec at_once;
	sigset_t set;

	if (!h->is_on)
		return;
	choose(&set);
	while (!h->was_waiting && sigtimedwait(&set, NULL, &at_once) < 0 &&
	    errno == EINTR)
		;
	(void)pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}
