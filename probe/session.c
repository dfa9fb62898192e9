/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c: a process of a job that is profiled.  Runs in jobs.
 */

#include <config.h>

#include "probe/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/io.h"
#include "base/must.h"

#define NAMES_MOST	100u	/* journals of one number: after exec */
#define POLL_NS		2000000	/* between two looks at the schedule */

/*--- files that are ours -------------------------------------------------*/

static bool
is_ours(const struct session_file *f, struct stat *st)
{
	return f->fd >= 0 && fstat(f->fd, st) == 0 && st->st_dev == f->dev &&
	    st->st_ino == f->ino;
}

static void
close_ours(struct session_file *f)
{
	struct stat st;

	if (is_ours(f, &st))
		io_close(&f->fd);
	f->fd = -1;
}

static void
keep(struct session_file *f, int fd, const struct stat *st)
{
	*f = (struct session_file){ io_out_of_the_way(fd), st->st_dev,
	    st->st_ino };
}

/*--- opening -------------------------------------------------------------*/

static int
check_schedule(const struct schedule *map, const char *folder,
    struct ds_err *err)
{
	if (map->magic != SCHEDULE_MAGIC)
		return err_fail(err, -EBADMSG, "%s/%s: not a schedule", folder,
		    SCHEDULE_FILE);
	if (map->layout != SCHEDULE_LAYOUT)
		return err_fail(err, -EPROTO, "%s/%s: of another version: "
		    "layout %u, not %u", folder, SCHEDULE_FILE, map->layout,
		    SCHEDULE_LAYOUT);
	return 0;
}

static int
map_schedule(struct session *s, int fd, const char *folder,
    struct ds_err *err)
{
	void *map;
	int rc;

	map = mmap(NULL, sizeof *s->map, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_errno(err, "%s/%s: cannot map it", folder,
		    SCHEDULE_FILE);
	rc = check_schedule(map, folder, err);
	if (rc < 0) {
		(void)munmap(map, sizeof *s->map);
		return rc;
	}
	s->map = map;
	s->flags = s->map->flags;
	return 0;
}

static int
open_schedule(struct session *s, int dir, const char *folder,
    struct ds_err *err)
{
	struct stat st;
	int fd, rc;

	fd = openat(dir, SCHEDULE_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
	    O_NOCTTY);
	if (fd < 0)
		return err_errno(err, "%s/%s", folder, SCHEDULE_FILE);
	if (fstat(fd, &st) != 0)
		rc = err_errno(err, "%s/%s", folder, SCHEDULE_FILE);
	else if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof *s->map)
		rc = err_fail(err, -EBADMSG, "%s/%s: not a schedule", folder,
		    SCHEDULE_FILE);
	else
		rc = map_schedule(s, fd, folder, err);
	if (rc < 0)
		io_close(&fd);
	else
		keep(&s->schedule, fd, &st);
	return rc;
}

/* A program that became another by exec has the number of the one before. */
static int
open_journal(struct session *s, int dir, const char *folder,
    struct ds_err *err)
{
	char name[64];
	struct stat st;
	int fd = -1;

	for (unsigned n = 0; n < NAMES_MOST && fd < 0; n++) {
		if (n == 0)
			(void)snprintf(name, sizeof name, "%ld%s",
			    (long)s->pid, JOURNAL_SUFFIX);
		else
			(void)snprintf(name, sizeof name, "%ld-%u%s",
			    (long)s->pid, n, JOURNAL_SUFFIX);
		fd = openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL |
		    O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0)
		return err_errno(err, "%s/%s", folder, name);
	if (fstat(fd, &st) != 0) {
		int rc = err_errno(err, "%s/%s", folder, name);

		io_close(&fd);
		return rc;
	}
	keep(&s->journal, fd, &st);
	return 0;
}

int
session_open(struct session *s, struct ds_err *err)
{
	const char *folder = env_get(SCHEDULE_ENV);
	int dir, rc;

	*s = (struct session){ .pid = getpid(), .schedule = { .fd = -1 },
	    .journal = { .fd = -1 } };
	if (folder == NULL || folder[0] == '\0' || getauxval(AT_SECURE) != 0)
		return 0;
	dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(err, "%s=%s", SCHEDULE_ENV, folder);
	rc = open_schedule(s, dir, folder, err);
	if (rc == 0)
		rc = open_journal(s, dir, folder, err);
	io_close(&dir);
	if (rc < 0)
		session_close(s);
	return rc < 0 ? rc : 1;
}

void
session_close(struct session *s)
{
	if (s->map != NULL)
		(void)munmap((void *)(uintptr_t)s->map, sizeof *s->map);
	s->map = NULL;
	close_ours(&s->schedule);
	close_ours(&s->journal);
}

/*--- telling -------------------------------------------------------------*/

bool
session_tell(struct session *s, const struct journal_record *r,
    const char *text)
{
	char bytes[JOURNAL_RECORD + JOURNAL_TEXT_MAX] = { 0 };
	size_t len = text != NULL ? strnlen(text, JOURNAL_TEXT_MAX) : 0;
	struct journal_record head = *r;
	struct stat st;

	static_assert(JOURNAL_TEXT_MAX % JOURNAL_RECORD == 0, "whole records");
	if (s->is_broken || s->pid != getpid())
		return false;
	head.text = (uint16_t)len;
	memcpy(bytes, &head, sizeof head);
	if (len > 0)
		memcpy(bytes + sizeof head, text, len);
	len = sizeof head +
	    (len + JOURNAL_RECORD - 1) / JOURNAL_RECORD * JOURNAL_RECORD;
	s->is_broken = !is_ours(&s->journal, &st) ||
	    io_write_quiet(s->journal.fd, bytes, len) < 0;
	return !s->is_broken;
}

/*--- following -----------------------------------------------------------*/

/* Whole, still: what was cut off a mapping would end the job. */
static bool
is_sound(const struct session *s)
{
	struct stat st;

	return s->map != NULL && s->pid == getpid() &&
	    is_ours(&s->schedule, &st) &&
	    st.st_size >= (off_t)sizeof *s->map;
}

/* F_OFD_GETLK, because by F_GETLK a lock of our own process would not show. */
static bool
is_alone(const struct session *s)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(s->schedule.fd, F_OFD_GETLK, &lock) != 0 ||
	    lock.l_type == F_UNLCK;
}

bool
session_leaves(const struct session *s)
{
	/* relaxed: it speaks for nothing else */
	return is_sound(s) && atomic_load_explicit(&s->map->leave,
	    memory_order_relaxed) != LEAVE_NOT;
}

bool
session_may_go(const struct session *s)
{
	/* relaxed: as above */
	return !is_sound(s) || atomic_load_explicit(&s->map->leave,
	    memory_order_relaxed) == LEAVE_MAY;
}

/* Each word once: another could have changed between a check and a use. */
static enum session_news
copy_block(const struct block *from, struct session_block *b)
{
	uint32_t kind = __atomic_load_n(&from->kind, __ATOMIC_RELAXED);

	if (kind <= BLOCK_NONE || kind >= BLOCK_KINDS)
		return SESSION_BAD;
	*b = (struct session_block){
		.kind = (enum block_kind)kind,
		.batches = __atomic_load_n(&from->batches, __ATOMIC_RELAXED),
		.workers = __atomic_load_n(&from->workers, __ATOMIC_RELAXED),
	};
	return SESSION_BLOCK;
}

enum session_news
session_look(const struct session *s, uint64_t i, struct session_block *b)
{
	uint32_t id;

	if (!is_sound(s) || is_alone(s))
		return SESSION_GONE;
	if (session_leaves(s))
		return SESSION_LEAVE;
	if (i >= SCHEDULE_BLOCKS)
		return SESSION_BAD;
	/* acquire: pairs with the command's release of a block */
	id = atomic_load_explicit(&s->map->block[i].id, memory_order_acquire);
	if (id == 0)
		return SESSION_NOTHING;
	return id == i + 1 ? copy_block(&s->map->block[i], b) : SESSION_BAD;
}

enum session_news
session_wait(const struct session *s, uint64_t i, uint64_t deadline_ns,
    struct session_block *b)
{
	const struct timespec moment = { .tv_nsec = POLL_NS };
	enum session_news news;

	while ((news = session_look(s, i, b)) == SESSION_NOTHING &&
	    clock_now_ns() < deadline_ns)
		(void)nanosleep(&moment, NULL);
	return news;
}
