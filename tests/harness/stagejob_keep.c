/* SPDX-License-Identifier: Apache-2.0
 *
 * stagejob_keep.c: what a stagejob does with what it was given: keeps it, writes
 * to it, also from another thread while it becomes private, and forks.
 */

#include <config.h>

#include "tests/harness/stagejob.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRIDE		4096u
#define WRITTEN_LAST	8u	/* kept ones that the thread writes to */
#define CHILD_LOOKS	50

struct kept {
	struct ds_taken	taken;
	uint64_t	epoch;
	uint64_t	mark;		/* what the thread wrote last; 0: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept **all;		/* by the lock, as the two below */
static size_t nr, room;
static uint64_t wrong;
static _Atomic bool stop;
static pthread_t writer;
static bool is_writing;
static pid_t children[64];
static unsigned nr_children;

/*--- the thread ----------------------------------------------------------*/

/* One word of each page, which nobody else writes to: it must be as it was left
 * here. */
static void
write_marks(struct kept *k)
{
	uint64_t before = k->mark, now = before + 1;
	char *p = k->taken.bytes;

	for (size_t at = 0; at + 8 <= k->taken.len; at += STRIDE) {
		if (before != 0 && memcmp(p + at, &before, 8) != 0)
			wrong++;
		memcpy(p + at, &now, 8);
	}
	k->mark = now;
}

static void *
run(void *arg)
{
	struct kept *k;

	(void)arg;
	for (size_t i = 0; !atomic_load(&stop); i++) {
		pthread_mutex_lock(&lock);
		k = nr == 0 ? NULL : all[nr - 1 - i % WRITTEN_LAST % nr];
		pthread_mutex_unlock(&lock);
		if (k != NULL)
			write_marks(k);
		else
			make_nap(100);
	}
	return NULL;
}

void
keep_start(void)
{
	if (!options.keep || !options.write)
		return;
	if (pthread_create(&writer, NULL, run, NULL) != 0)
		die("cannot start a thread", NULL);
	is_writing = true;
}

/*--- batches -------------------------------------------------------------*/

static void
add(struct ds_taken *t, uint64_t epoch)
{
	struct kept *k = calloc(1, sizeof *k);

	pthread_mutex_lock(&lock);
	if (nr == room) {
		room = room > 0 ? 2 * room : 64;
		all = realloc(all, room * sizeof(struct kept *));
	}
	if (k == NULL || all == NULL)
		die("no memory", NULL);
	k->taken = *t;
	k->epoch = epoch;
	all[nr++] = k;
	pthread_mutex_unlock(&lock);
}

void
keep(struct ds_stage *stage, struct ds_taken *t, uint64_t epoch)
{
	if (options.keep) {
		add(t, epoch);
		return;
	}
	if (options.write)
		memset(t->bytes, 0xa5, t->len);
	ds_stage_release(stage, t);
}

static void
wait_children(void)
{
	int status;

	while (nr_children > 0) {
		if (waitpid(children[--nr_children], &status, 0) < 0 ||
		    status != 0)
			wrong++;
	}
}

/* Whose pages were written to is known by its marks alone. */
static void
check(struct kept *k)
{
	if (k->mark != 0)
		write_marks(k);
	else if (!make_is_right(k->taken.bytes, k->taken.len, k->epoch,
	    k->taken.unit))
		wrong++;
}

uint64_t
keep_end(struct ds_stage *stage)
{
	uint64_t found;

	atomic_store(&stop, true);
	if (is_writing)
		(void)pthread_join(writer, NULL);
	is_writing = false;
	atomic_store(&stop, false);
	for (size_t i = 0; i < nr; i++) {
		check(all[i]);
		ds_stage_release(stage, &all[i]->taken);
		free(all[i]);
	}
	free(all);
	all = NULL;
	nr = room = 0;
	wait_children();
	found = wrong;
	wrong = 0;
	return found;
}

/*--- forks ---------------------------------------------------------------*/

/* The parent releases it meanwhile, and its slot gets other bytes. */
void
keep_fork(const struct ds_taken *t, uint64_t epoch)
{
	pid_t pid;

	if (nr_children == sizeof children / sizeof children[0])
		wait_children();
	pid = fork();
	if (pid < 0)
		die("cannot fork", NULL);
	if (pid > 0) {
		children[nr_children++] = pid;
		return;
	}
	for (int i = 0; i < CHILD_LOOKS; i++) {
		if (!make_is_right(t->bytes, t->len, epoch, t->unit))
			_exit(1);
		make_nap(1000);
	}
	_exit(0);
}
