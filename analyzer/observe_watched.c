/* SPDX-License-Identifier: Apache-2.0
 *
 * observe_watched.c: a process that is observed, and its threads.
 * Runs in the command only.
 *
 *  1. A thread that was not there at the last sample was born since: all that it
 *     did belongs to this one.
 *  2. A thread that is gone is looked at once more: some observers still know
 *     what it did.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/parse.h"
#include "base/list.h"
#include "base/say.h"

#define PATH_ROOM	4096u

void
subject_init(struct subject *s, double last)
{
	*s = (struct subject){ .dir = -1 };
	for (unsigned i = 0; i < OBSERVERS; i++) {
		for (unsigned j = 0; j < METRICS_MAX; j++)
			s->last[i][j] = last;
	}
}

static void
drop_one(struct observe *o, struct subject *s, unsigned i)
{
	if (s->state[i] != NULL)
		o->watches[i].is->drop(&o->watches[i], s);
}

static void
drop(struct observe *o, struct subject *s)
{
	for (unsigned i = 0; i < OBSERVERS; i++)
		drop_one(o, s, i);
}

/*--- the process ---------------------------------------------------------*/

static int
find_folder(const struct observe *o, pid_t pid, char path[PATH_ROOM])
{
	return snprintf(path, PATH_ROOM, "%s/proc/%d", o->root, pid) <
	    (int)PATH_ROOM ? 0 : -ENAMETOOLONG;
}

static int
hold_folder(struct watched *p, const struct observe *o, pid_t pid)
{
	char path[PATH_ROOM];
	struct stat st;
	int rc = find_folder(o, pid, path);

	if (rc < 0)
		return rc;
	p->is.dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->is.dir < 0 || fstat(p->is.dir, &st) < 0)
		return -errno;
	p->ino = st.st_ino;
	return 0;
}

struct watched *
watched_new(struct observe *o, pid_t pid, struct ds_err *err)
{
	struct watched *p = calloc(1, sizeof *p);
	int rc;

	if (p == NULL)
		say_no_memory();
	subject_init(&p->is, NAN);
	p->is.pid = pid;
	rc = hold_folder(p, o, pid);
	if (rc < 0) {
		(void)err_fail(err, rc, "/proc/%d: %s", pid, strerror(-rc));
		watched_free(o, p);
		return NULL;
	}
	return p;
}

void
watched_free(struct observe *o, struct watched *p)
{
	for (size_t i = 0; i < p->nr_threads; i++) {
		drop(o, p->threads[i]);
		free(p->threads[i]);
	}
	free(p->threads);
	drop(o, &p->is);
	io_close(&p->is.dir);
	free(p);
}

void
watched_drop(struct observe *o, struct watched *p, unsigned observer)
{
	for (size_t i = 0; i < p->nr_threads; i++)
		drop_one(o, p->threads[i], observer);
	drop_one(o, &p->is, observer);
}

/* While we hold a folder of /proc no other has its number. */
static bool
is_gone(const struct observe *o, const struct watched *p)
{
	char path[PATH_ROOM];
	struct stat st;

	return find_folder(o, p->is.pid, path) < 0 || stat(path, &st) < 0 ||
	    st.st_ino != p->ino;
}

bool
watched_lacks(const struct observe *o, const struct watched *p, pid_t tid)
{
	char path[32];
	struct stat st;

	if (is_gone(o, p))
		return true;
	(void)snprintf(path, sizeof path, "task/%d", tid);
	return tid != 0 && fstatat(p->is.dir, path, &st, 0) < 0;
}

/*--- its threads ---------------------------------------------------------*/

static struct subject *
find_thread(const struct watched *p, pid_t tid)
{
	for (size_t i = 0; i < p->nr_threads; i++) {
		if (p->threads[i]->tid == tid)
			return p->threads[i];
	}
	return NULL;
}

static struct subject *
add_thread(struct watched *p, pid_t tid)
{
	struct subject *t = malloc(sizeof *t);

	if (t == NULL)
		say_no_memory();
	p->threads = list_grow(p->threads, p->nr_threads,
	    sizeof(struct subject *));
	subject_init(t, p->was_seen ? 0 : NAN);
	t->dir = p->is.dir;
	t->pid = p->is.pid;
	t->tid = tid;
	p->threads[p->nr_threads++] = t;
	return t;
}

static void
list_thread(struct observe *o, struct watched *p, const char *name)
{
	struct subject *t;
	uint64_t tid;

	if (parse_count(name, 1, INT32_MAX, &tid, NULL) < 0)
		return;
	t = find_thread(p, (pid_t)tid);
	if (t == NULL && p->nr_threads == OBSERVE_THREADS) {
		gap_add(&o->gap, "%d has more than %u threads, the others are "
		    "not observed", p->is.pid, OBSERVE_THREADS);
		return;
	}
	if (t == NULL)
		t = add_thread(p, (pid_t)tid);
	t->is_listed = true;
}

void
watched_list_threads(struct observe *o, struct watched *p)
{
	int fd = openat(p->is.dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	for (size_t i = 0; i < p->nr_threads; i++)
		p->threads[i]->is_listed = false;
	if (d == NULL) {
		if (!is_gone(o, p))
			gap_add(&o->gap, "/proc/%d/task: %s",
			    p->is.pid, strerror(errno));
		io_close(&fd);
	}
	while (d != NULL && (e = readdir(d)) != NULL)
		list_thread(o, p, e->d_name);
	if (d != NULL)
		(void)closedir(d);
	for (size_t i = 0; i < p->nr_threads; i++)
		p->threads[i]->is_gone = !p->threads[i]->is_listed;
}

void
watched_sweep(struct observe *o, struct watched *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr_threads; i++) {
		if (!p->threads[i]->is_gone) {
			p->threads[kept++] = p->threads[i];
			continue;
		}
		drop(o, p->threads[i]);
		free(p->threads[i]);
	}
	p->nr_threads = kept;
}
