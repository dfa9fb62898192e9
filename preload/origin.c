/* SPDX-License-Identifier: Apache-2.0
 *
 * origin.c: what a substitute stands for.  Runs in any program that the object
 * is preloaded in, in any of its threads.
 */

#include <config.h>

#include "preload/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/io.h"
#include "cache/source_file.h"
#include "preload/attached.h"

struct origin {
	struct listing_item key;	/* a copy: the index may go */
	char	path[PATH_MAX];		/* "" if it does not fit */
};

static void
make_path(struct origin *o, const struct ds_data *d, uint64_t i)
{
	const char *name = data_name(d, i);
	int n = -1;

	if (name != NULL)
		n = snprintf(o->path, sizeof o->path, "%s/%s",
		    source_uri(d->source), name);
	if (n < 0 || (size_t)n >= sizeof o->path)
		o->path[0] = '\0';
}

static bool
find_in(struct origin *o, const struct attached *a, dev_t dev, ino_t ino)
{
	for (unsigned n = 0; a != NULL && n < a->nr; n++) {
		const struct ds_data *d = a->data[n];
		int64_t i = d->view.dev != dev ? -ENOENT :
		    index_find_copy(&d->index, ino);

		if (i >= 0) {
			o->key = d->index.index->items[i].key;
			make_path(o, d, (uint64_t)i);
			return true;
		}
	}
	return false;
}

/* The store has a device of its own, or that of /dev/shm. */
static bool
find(struct origin *o, dev_t dev, ino_t ino)
{
	bool found;

	if (major(dev) != 0)		/* not a file system of memory */
		return false;
	attached_enter();
	found = find_in(o, attached_get(), dev, ino);
	attached_leave();
	return found;
}

/*--- stat ----------------------------------------------------------------*/

static struct timespec
time_of(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000,
	    .tv_nsec = ns % 1000000000 };

	if (t.tv_nsec < 0) {
		t.tv_sec--;
		t.tv_nsec += 1000000000;
	}
	return t;
}

/* Of a file that is no longer to be found. */
static void
patch(struct stat *st, const struct origin *o)
{
	st->st_dev = o->key.dev;
	st->st_ino = o->key.ino;
	st->st_mode &= ~(mode_t)STORE_MARK;
	st->st_nlink = 0;
	st->st_mtim = time_of(o->key.mtime_ns);
	st->st_ctim = st->st_mtim;
}

void
origin_stat(struct stat *st)
{
	struct origin o;
	struct stat now;

	if (!find(&o, st->st_dev, st->st_ino))
		return;
	if (o.path[0] == '\0' || stat(o.path, &now) != 0 ||
	    now.st_dev != o.key.dev || now.st_ino != o.key.ino) {
		patch(st, &o);
		return;
	}
	*st = now;
	st->st_size = (off_t)o.key.size;	/* of what can be read here */
}

/*--- statx ---------------------------------------------------------------*/

static bool
is_same_file(const struct statx *now, const struct listing_item *key)
{
	return (now->stx_mask & STATX_INO) != 0 && now->stx_ino == key->ino &&
	    makedev(now->stx_dev_major, now->stx_dev_minor) == key->dev;
}

static void
patch_x(struct statx *stx, const struct origin *o)
{
	struct timespec mtime = time_of(o->key.mtime_ns);

	stx->stx_dev_major = major(o->key.dev);
	stx->stx_dev_minor = minor(o->key.dev);
	stx->stx_ino = o->key.ino;
	stx->stx_mode = (uint16_t)(stx->stx_mode & ~STORE_MARK);
	stx->stx_nlink = 0;
	stx->stx_mtime.tv_sec = mtime.tv_sec;
	stx->stx_mtime.tv_nsec = (uint32_t)mtime.tv_nsec;
	stx->stx_ctime = stx->stx_mtime;
}

/* A kernel may leave out what it was not asked for, and say so: then it is left
 * out here, too. */
static bool
look(const struct origin *o, unsigned mask, int flags, struct statx *now)
{
	if (o->path[0] == '\0' ||
	    statx(AT_FDCWD, o->path, flags, mask | STATX_INO, now) != 0 ||
	    !is_same_file(now, &o->key))
		return false;
	return (mask & STATX_INO) != 0 ||
	    statx(AT_FDCWD, o->path, flags, mask, now) == 0;
}

void
origin_statx(struct statx *stx, unsigned mask, int flags)
{
	struct statx now;
	struct origin o;

	if (!find(&o, makedev(stx->stx_dev_major, stx->stx_dev_minor),
	    stx->stx_ino))
		return;
	if (!look(&o, mask, flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW),
	    &now)) {
		patch_x(stx, &o);
		return;
	}
	*stx = now;
	if ((now.stx_mask & STATX_SIZE) != 0)
		stx->stx_size = o.key.size;
}

/*--- the file itself -----------------------------------------------------*/

bool
origin_is_on(int fd, dev_t dev)
{
	struct origin o;
	struct stat st;

	return fstat(fd, &st) == 0 && origin_suspect(st.st_mode) &&
	    find(&o, st.st_dev, st.st_ino) && o.key.dev == dev;
}

int
origin_reopen(int fd)
{
	struct origin o;
	struct stat st;
	int new;

	if (fstat(fd, &st) != 0 || !origin_suspect(st.st_mode) ||
	    !find(&o, st.st_dev, st.st_ino))
		return ORIGIN_NONE;
	if (o.path[0] == '\0')
		return ORIGIN_GONE;
	new = open(o.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (new >= 0 && (fstat(new, &st) != 0 ||
	    st.st_dev != o.key.dev || st.st_ino != o.key.ino))
		io_close(&new);
	return new >= 0 ? new : ORIGIN_GONE;
}

/* With its flags, but for what only matters while a file is opened; it may be a
 * pipe by now, which must not hold us up. */
static int
open_as(const struct origin *o, int flags)
{
	int fd = open(o->path, (flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 ||
	    !source_is_listed(&st, &o->key) || fcntl(fd, F_SETFL, flags) != 0))
		io_close(&fd);
	return fd;
}

void
origin_restore(int fd)
{
	struct origin o;
	struct stat st;
	int new;

	if (fstat(fd, &st) != 0 || !origin_suspect(st.st_mode) ||
	    !find(&o, st.st_dev, st.st_ino) || o.path[0] == '\0')
		return;
	new = open_as(&o, fcntl(fd, F_GETFL));
	if (new < 0)
		return;
	if (lseek(new, lseek(fd, 0, SEEK_CUR), SEEK_SET) >= 0)
		(void)dup3(new, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ?
		    O_CLOEXEC : 0);
	io_close(&new);
}
