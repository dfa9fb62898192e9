/* SPDX-License-Identifier: Apache-2.0
 *
 * source_root.c: the folder beneath which a source's files are.  Runs in
 * clients, in any of their threads.
 */

#include <config.h>

#include "cache/source_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"

int
source_root_take(struct source *s, struct ds_err *err)
{
	struct stat st;

	if (fstat(s->root, &st) != 0)
		return err_errno(err, "data set %s", s->path);
	s->root = io_out_of_the_way(s->root);
	s->root_dev = st.st_dev;
	s->root_ino = st.st_ino;
	return 0;
}

static bool
is_root(const struct source *s, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_dev == s->root_dev && st.st_ino == s->root_ino;
}

/* The path, without the shard that it may name. */
static int
open_again(const struct source *s)
{
	size_t len = strlen(s->path);
	char *folder;
	int fd;

	if (s->shard != NULL)
		len -= strlen(s->shard);
	folder = strndup(s->path, len);
	if (folder == NULL)
		return -ENOMEM;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	free(folder);
	return fd;
}

int
source_root_get(const struct source *s)
{
	int fd;

	if (is_root(s, s->root))
		return s->root;
	fd = open_again(s);
	if (fd < 0 || is_root(s, fd))
		return fd;
	io_close(&fd);
	return -ESTALE;
}

void
source_root_put(const struct source *s, int *fd)
{
	if (*fd != s->root)
		io_close(fd);
	*fd = -1;
}

void
source_root_close(struct source *s)
{
	if (s->root >= 0 && is_root(s, s->root))
		io_close(&s->root);
	s->root = -1;
}
