/* SPDX-License-Identifier: Apache-2.0
 *
 * opens.c: files that a program opens which is profiled.  Runs in any program that
 * the object is preloaded in.
 */

#include <config.h>

#include "preload/opens.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "probe/resident.h"
#include "probe/session.h"

bool opens_may_be_on;

static struct {
	pthread_mutex_t	lock;		/* tried only: a file more or less */
	pid_t		pid;		/* whose session it is, or 0 */
	struct session	session;
	bool		is_on;
	unsigned	nr;
} opens = { .lock = PTHREAD_MUTEX_INITIALIZER };

void
opens_start(void)
{
	opens_may_be_on = getenv(SCHEDULE_ENV) != NULL &&
	    getauxval(AT_SECURE) == 0;
}

/* A forked child has a journal of its own. */
static bool
attach(void)
{
	pid_t pid = getpid();

	if (opens.pid == pid)
		return opens.is_on;
	if (opens.pid != 0 && opens.is_on)
		session_close(&opens.session);
	opens.pid = pid;
	opens.nr = 0;
	opens.is_on = session_open(&opens.session, NULL) == 1;
	if (opens.is_on && (opens.session.flags & SCHEDULE_OPENS) == 0) {
		session_close(&opens.session);
		opens.is_on = false;
		opens_may_be_on = false;	/* nor in children */
	}
	return opens.is_on;
}

void
opens_tell(int fd, const struct stat *st, const char *path)
{
	struct journal_record r = { .kind = JOURNAL_OPEN };
	struct resident now;

	/* Another thread has it, or had it when this child was forked. */
	if (pthread_mutex_trylock(&opens.lock) != 0)
		return;
	if (attach() && opens.nr < OPENS_MOST) {
		opens.nr++;
		resident_look(fd, st, &now);
		r.word[0] = (uint64_t)st->st_size;
		r.word[1] = now.pages;
		r.word[2] = now.in_memory;
		(void)session_tell(&opens.session, &r, path);
	}
	(void)pthread_mutex_unlock(&opens.lock);
}
