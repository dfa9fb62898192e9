/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.h: a made-up /proc and /sys, for units that read files below a root.
 */

#ifndef TESTS_HARNESS_TREE_H
#define TESTS_HARNESS_TREE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/unit.h"

static char root[64];

static inline void
tree_new(void)
{
	strcpy(root, "/tmp/destall-tree.XXXXXX");
	assert_non_null(mkdtemp(root));
}

static inline int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline void
tree_free(void)
{
	assert_int_equal(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* A file or folder below the root, with all that is in it. */
static inline void
tree_remove(const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof path, "%s/%s", root, name);
	assert_int_equal(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* A folder below the root, with those that it needs. */
static inline void
put_folder(const char *name)
{
	char path[1024], *p;

	(void)snprintf(path, sizeof path, "%s/%s/", root, name);
	for (p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
}

/* A file below the root, with the folders it needs. */
static inline void
put_bytes(const char *name, const char *bytes, size_t len)
{
	char path[512], *slash;
	int fd;

	(void)snprintf(path, sizeof path, "%s", name);
	slash = strrchr(path, '/');
	assert_non_null(slash);
	*slash = '\0';
	put_folder(path);
	(void)snprintf(path, sizeof path, "%s/%s", root, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	io_close(&fd);
}

static inline void
put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

#endif
