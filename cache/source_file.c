/* SPDX-License-Identifier: Apache-2.0
 *
 * source_file.c: files beneath the root of a source.  Runs in clients, in any
 * of their threads.
 *
 *  1. No descriptor is given back of a file that lies outside the root.
 *  2. Bytes are given back only if the file was the listed one before they
 *     were read and after.
 */

#include <config.h>

#include "cache/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "cache/source_root.h"

#define TRIES_BENEATH	64	/* while others rename folders */
#define READ_MAX	((size_t)1 << 30)	/* of one call */
#define READ_FLAGS	(O_RDONLY | O_NONBLOCK | O_NOCTTY)

/*--- beneath the root ----------------------------------------------------*/

static int
open_beneath(int root, const char *name, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int tries = TRIES_BENEATH;
	long fd;

	do {
		fd = syscall(SYS_openat2, root, name, &how, sizeof how);
	} while (fd < 0 && (errno == EINTR || (errno == EAGAIN && --tries > 0)));
	return fd < 0 ? -errno : (int)fd;
}

int
beneath_open(int root, const char *name, int flags)
{
	/* Old kernels, and filters of system calls that are older than the
	 * call.  Relaxed: a hint only, nothing hangs on when it is seen. */
	static atomic_bool missing;
	int fd;

	if (!atomic_load_explicit(&missing, memory_order_relaxed)) {
		fd = open_beneath(root, name, flags);
		if (fd != -ENOSYS && fd != -EPERM)
			return fd;
		if (fd == -ENOSYS)
			atomic_store_explicit(&missing, true,
			    memory_order_relaxed);
	}
	return beneath_open_plain(root, name, flags);
}

/* One component; the descriptor of its folder is closed unless it is root. */
static int
open_step(int root, int dir, const char *part, int flags)
{
	int fd;

	do {
		fd = openat(dir, part, flags | O_NOFOLLOW | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		fd = -errno;
	if (dir != root)
		close(dir);
	return fd;
}

int
beneath_open_plain(int root, const char *name, int flags)
{
	char part[NAME_MAX + 1];
	const char *slash;
	int dir = root;

	if (listing_name_fault(name, strlen(name)) != NULL)
		return -EXDEV;
	while ((slash = strchr(name, '/')) != NULL) {
		size_t len = (size_t)(slash - name);

		if (len > NAME_MAX) {
			if (dir != root)
				close(dir);
			return -ENAMETOOLONG;
		}
		memcpy(part, name, len);
		part[len] = '\0';
		dir = open_step(root, dir, len > 0 ? part : ".",
		    O_PATH | O_DIRECTORY);
		if (dir < 0)
			return dir;
		name = slash + 1;
	}
	return open_step(root, dir, *name != '\0' ? name : ".", flags);
}

/*--- keys and failures ---------------------------------------------------*/

/* Seconds may be anything on a broken file system: wraps, does not trap. */
static int64_t
ns_of(const struct timespec *t)
{
	return (int64_t)((uint64_t)t->tv_sec * 1000000000u +
	    (uint64_t)t->tv_nsec);
}

void
source_key(struct listing_item *key, const struct stat *st)
{
	*key = (struct listing_item){
		.dev = st->st_dev, .ino = st->st_ino,
		.mtime_ns = ns_of(&st->st_mtim),
		.ctime_ns = ns_of(&st->st_ctim),
		.size = (uint64_t)st->st_size,
	};
}

bool
source_is_listed(const struct stat *st, const struct listing_item *key)
{
	struct listing_item now;

	source_key(&now, st);
	if (now.dev != key->dev || now.ino != key->ino ||
	    now.mtime_ns != key->mtime_ns || now.ctime_ns != key->ctime_ns)
		return false;
	if (key->shard_len == 0)
		return key->offset == 0 && key->size == now.size;
	return key->offset <= now.size && key->size <= now.size - key->offset;
}

int
source_fail(const struct source *s, const char *name, int rc, const char *why,
    struct ds_err *err)
{
	size_t len = strlen(s->path);

	if (s->shard != NULL)		/* is in the path as well */
		len -= strlen(s->shard) + 1;
	if (why == NULL) {
		errno = -rc;
		return err_errno(err, "%.*s/%s", (int)len, s->path, name);
	}
	err_fail(err, rc, "%.*s/%s", (int)len, s->path, name);
	return err_hint(err, rc, "%s", why);
}

/*--- reading -------------------------------------------------------------*/

int
source_file_open(const struct source *s, const char *file, struct stat *st,
    struct ds_err *err)
{
	int root, fd, rc;

	root = source_root_get(s);
	fd = root < 0 ? root : beneath_open(root, file, READ_FLAGS);
	source_root_put(s, &root);
	if (fd < 0)
		return source_fail(s, file, fd, fd == -EXDEV ?
		    "a link that leads out of the data set" : NULL, err);
	if (fstat(fd, st) != 0)
		rc = source_fail(s, file, -errno, NULL, err);
	else if (!S_ISREG(st->st_mode))
		rc = source_fail(s, file, -EINVAL, "not a regular file", err);
	else
		return fd;
	io_close(&fd);
	return rc;
}

/* All of it: 1, or 0 if the file ends before, or -errno. */
static int
read_all(int fd, const struct listing_item *key, char *bytes)
{
	size_t left = (size_t)key->size;
	off_t at = (off_t)key->offset;

	while (left > 0) {
		ssize_t n = pread(fd, bytes, left < READ_MAX ? left : READ_MAX,
		    at);

		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			continue;
		bytes += n;
		at += n;
		left -= (size_t)n;
	}
	return 1;
}

/* 1, or 0 if it changed while it was read: worth another try. */
static int
try_read(const struct source *s, const char *file,
    const struct listing_item *key, void *bytes, struct ds_err *err)
{
	struct stat st;
	int fd, rc;

	fd = source_file_open(s, file, &st, err);
	if (fd < 0)
		return fd;
	if (!source_is_listed(&st, key)) {
		rc = source_fail(s, file, -ESTALE,
		    "changed since it was listed", err);
		goto close_fd;
	}
	rc = read_all(fd, key, bytes);
	if (rc >= 0 && fstat(fd, &st) != 0)
		rc = -errno;
	if (rc < 0)
		rc = source_fail(s, file, rc, NULL, err);
	else
		rc = rc == 1 && source_is_listed(&st, key);
close_fd:
	io_close(&fd);
	return rc;
}

int
source_file_read(struct source *s, const char *name,
    const struct listing_item *key, void *bytes, struct ds_err *err)
{
	size_t len = key->shard_len > 0 ? key->shard_len : strlen(name);
	char file[LISTING_NAME_MAX + 1];
	int rc;

	if (strnlen(name, len) < len || listing_name_fault(name, len) != NULL)
		return source_fail(s, name, -EBADMSG, "not an item's name", err);
	if (key->size > SOURCE_ITEM_MAX)
		return source_fail(s, name, -EFBIG, "too large for an item", err);
	memcpy(file, name, len);
	file[len] = '\0';
	rc = try_read(s, file, key, bytes, err);
	if (rc == 0)
		rc = try_read(s, file, key, bytes, err);
	if (rc == 0)
		return source_fail(s, file, -ESTALE,
		    "changed while it was read", err);
	return rc < 0 ? rc : 0;
}
