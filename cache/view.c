/* SPDX-License-Identifier: Apache-2.0
 *
 * view.c: the folder of the store, as a reader has it.  Runs in clients.
 */

#include <config.h>

#include "cache/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cache/index.h"

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

int
view_open(const struct view *v, uint64_t file, uint64_t size)
{
	char name[STORE_NAME_MAX];
	struct stat st;
	int fd;

	if (!is_ours(v))
		return -EBADF;
	index_file_name(name, file);
	fd = openat(v->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size == size)
		return fd;
	io_close(&fd);
	return -ENOENT;
}
