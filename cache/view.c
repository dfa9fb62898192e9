/* SPDX-License-Identifier: Apache-2.0
 *
 * view.c: the folder of the store, as a reader has it.  Runs in clients.
 */

#include <config.h>

#include "cache/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#include "base/io.h"

int
view_init(struct view *v, int fd, struct ds_err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_errno(err, "cache: cannot stat its folder");
	if (!S_ISDIR(st.st_mode))
		return err_fail(err, -EBADMSG,
		    "cache: what the hub gave as its folder is none");
	*v = (struct view){ .fd = io_out_of_the_way(fd),
	    .dev = st.st_dev, .ino = st.st_ino };
	return 0;
}

static bool
is_ours(const struct view *v)
{
	struct stat st;

	return v->fd >= 0 && fstat(v->fd, &st) == 0 && st.st_dev == v->dev &&
	    st.st_ino == v->ino && S_ISDIR(st.st_mode);
}

void
view_fini(struct view *v)
{
	if (is_ours(v))
		io_close(&v->fd);
	v->fd = -1;
}

/* In a job that runs with the preload object, too, fstat() is the object's: it
 * has found the copy by its inode, and shows the file that it is of. */
static bool
is_copy(const struct view *v, const struct index_item *it, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size != it->key.size)
		return false;
	if (st.st_dev == it->key.dev && st.st_ino == it->key.ino)
		return true;
	/* relaxed: published by the word's release store */
	return st.st_dev == v->dev && st.st_ino == atomic_load_explicit(
	    &it->copy_ino, memory_order_relaxed);
}

int
view_open(const struct view *v, const struct index_item *it, int flags)
{
	char name[STORE_NAME_MAX];
	int fd;

	if (!is_ours(v))
		return -EBADF;
	index_file_name(name, atomic_load_explicit(&it->file,
	    memory_order_relaxed));
	fd = openat(v->fd, name, flags);
	if (fd < 0)
		return -errno;
	if (is_copy(v, it, fd))
		return fd;
	io_close(&fd);
	return -ENOENT;
}
