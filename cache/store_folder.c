/* SPDX-License-Identifier: Apache-2.0
 *
 * store_folder.c: a folder of our own on a file system that is there.
 * Runs in the hub only.
 */

#include <config.h>

#include "cache/store_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define FOLDER_FLAGS	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* The files in it; none of them is a folder. */
static void
empty_folder(int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	const struct dirent *e;

	if (d == NULL) {
		io_close(&again);
		return;
	}
	while ((e = readdir(d)) != NULL)
		(void)unlinkat(fd, e->d_name, 0);
	closedir(d);
}

static bool
is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

static void
sweep_one(int parent, const char *name)
{
	int fd = openat(parent, name, FOLDER_FLAGS);

	if (fd >= 0 && is_ours(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		empty_folder(fd);
		(void)unlinkat(parent, name, AT_REMOVEDIR);
	}
	io_close(&fd);
}

static void
sweep_parent(int parent, const char *prefix)
{
	int again = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	const struct dirent *e;

	if (d == NULL) {
		io_close(&again);
		return;
	}
	while ((e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			sweep_one(parent, e->d_name);
	}
	closedir(d);
}

/* A sweeper may take it for an old one before it is locked: then it is gone,
 * or the lock is his, and another is made. */
static int
make_locked(struct store_folder *f, const char *prefix)
{
	struct stat held, named;
	uint64_t number;

	for (int attempt = 0; attempt < 100; attempt++) {
		if (getrandom(&number, sizeof number, 0) != sizeof number)
			return -errno;
		(void)snprintf(f->name, sizeof f->name, "%s%016" PRIx64, prefix,
		    number);
		if (mkdirat(f->parent, f->name, 0700) != 0)
			return -errno;
		f->fd = openat(f->parent, f->name, FOLDER_FLAGS);
		if (f->fd >= 0 && flock(f->fd, LOCK_EX | LOCK_NB) == 0 &&
		    fstat(f->fd, &held) == 0 &&
		    fstatat(f->parent, f->name, &named,
		    AT_SYMLINK_NOFOLLOW) == 0 && held.st_ino == named.st_ino)
			return 0;
		io_close(&f->fd);
	}
	return -EBUSY;
}

int
store_folder_open(struct store_folder *f, const char *parent,
    struct ds_err *err)
{
	char prefix[32];
	int rc;

	*f = (struct store_folder){ .fd = -1 };
	f->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->parent < 0)
		return err_errno(err, "cache: cannot open %s", parent);
	(void)snprintf(prefix, sizeof prefix, "destall-store-%u-", geteuid());
	sweep_parent(f->parent, prefix);
	rc = make_locked(f, prefix);
	if (rc < 0) {
		io_close(&f->parent);
		errno = -rc;
		return err_errno(err, "cache: cannot make a folder in %s",
		    parent);
	}
	return 0;
}

void
store_folder_close(struct store_folder *f)
{
	empty_folder(f->fd);
	(void)unlinkat(f->parent, f->name, AT_REMOVEDIR);
	io_close(&f->fd);
	io_close(&f->parent);
}
