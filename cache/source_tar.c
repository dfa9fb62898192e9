/* SPDX-License-Identifier: Apache-2.0
 *
 * source_tar.c: the members of tar shards, as items.  Runs in clients.
 *
 * The URI is a folder, whose files *.tar are the shards, or one shard.  An item
 * is named SHARD/MEMBER; its key is that of the shard, with the member's place.
 *
 *  1. A shard that is not sound is an error, and so is one that changes while
 *     it is listed: part of a data set is no data set.
 *  2. s->root is the folder of the shards in both cases.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "cache/source.h"
#include "cache/source_file.h"
#include "cache/tar.h"

#define SUFFIX	".tar"
#define FIRST	64u

struct shards {
	char	**names;
	size_t	nr, max;
};

/*--- opening -------------------------------------------------------------*/

/* The folder of the one shard. */
static int
open_parent(struct source *s, struct ds_err *err)
{
	const char *slash = strrchr(s->path, '/');
	char *parent = strndup(s->path, (size_t)(slash - s->path) + 1);

	s->shard = strdup(slash + 1);
	if (parent == NULL || s->shard == NULL) {
		free(parent);
		return err_fail(err, -ENOMEM, "data set %s: no memory", s->path);
	}
	s->root = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(parent);
	return s->root < 0 ? err_errno(err, "data set %s", s->path) : 0;
}

static int
open_shards(struct source *s, struct ds_err *err)
{
	struct stat st;

	if (stat(s->path, &st) != 0)
		return err_errno(err, "data set %s", s->path);
	if (S_ISREG(st.st_mode))
		return open_parent(s, err);
	if (!S_ISDIR(st.st_mode))
		return err_fail(err, -EINVAL,
		    "data set %s: neither a shard nor a folder", s->path);
	s->root = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->root < 0 ? err_errno(err, "data set %s", s->path) : 0;
}

/*--- which shards --------------------------------------------------------*/

static bool
is_shard_name(const char *name)
{
	size_t len = strlen(name), suffix = sizeof SUFFIX - 1;

	return len > suffix && name[0] != '.' && strcmp(name + len - suffix, SUFFIX) == 0;
}

static void
free_shards(struct shards *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->names[i]);
	free(all->names);
	*all = (struct shards){ .names = NULL };
}

static int
add_shard(struct shards *all, const char *name)
{
	char **names = all->names;

	if (all->nr == all->max) {
		all->max = all->max > 0 ? 2 * all->max : FIRST;
		names = reallocarray(names, all->max, sizeof *names);
		if (names == NULL)
			return -ENOMEM;
		all->names = names;
	}
	names[all->nr] = strdup(name);
	if (names[all->nr] == NULL)
		return -ENOMEM;
	all->nr++;
	return 0;
}

static int
scan_folder(const struct source *s, struct shards *all)
{
	int fd = openat(s->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
	struct dirent *e;
	DIR *dir;

	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		rc = -errno;
		io_close(&fd);
		return rc;
	}
	rc = 0;
	while (rc == 0 && (errno = 0, e = readdir(dir)) != NULL) {
		if (is_shard_name(e->d_name))
			rc = add_shard(all, e->d_name);
	}
	if (rc == 0 && errno != 0)
		rc = -errno;
	closedir(dir);
	return rc;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int
find_shards(const struct source *s, struct shards *all, struct ds_err *err)
{
	int rc;

	*all = (struct shards){ .names = NULL };
	rc = s->shard != NULL ? add_shard(all, s->shard) : scan_folder(s, all);
	if (rc < 0) {
		free_shards(all);
		errno = -rc;
		return err_errno(err, "data set %s", s->path);
	}
	if (all->nr == 0)
		return err_fail(err, -ENOENT,
		    "data set %s: no shards (*.tar) in it", s->path);
	qsort(all->names, all->nr, sizeof *all->names, compare_names);
	return 0;
}

/*--- the stamp -----------------------------------------------------------*/

static int
mix_shard(const struct source *s, const char *name, uint64_t *hash,
    struct ds_err *err)
{
	struct listing_item key;
	struct stat st;
	int fd = beneath_open(s->root, name, O_PATH);

	if (fd < 0)
		return source_fail(s, name, fd, NULL, err);
	if (fstat(fd, &st) != 0) {
		int rc = source_fail(s, name, -errno, NULL, err);

		io_close(&fd);
		return rc;
	}
	io_close(&fd);
	source_key(&key, &st);
	*hash = hash_text(*hash, name);
	*hash = hash_bytes(*hash, &key, sizeof key);
	return 0;
}

static int
stamp_shards(struct source *s, uint64_t *stamp, struct ds_err *err)
{
	uint64_t hash = HASH_BEGIN;
	struct shards all;
	int rc;

	rc = find_shards(s, &all, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < all.nr; i++)
		rc = mix_shard(s, all.names[i], &hash, err);
	free_shards(&all);
	if (rc == 0)
		*stamp = hash != 0 ? hash : 1;
	return rc;
}

/*--- listing -------------------------------------------------------------*/

struct indexing {
	struct source	*s;
	struct listing_maker *maker;
	const char	*shard;
	struct listing_item key;	/* of the shard */
	size_t		prefix;		/* of name: "SHARD/" */
	char		name[LISTING_NAME_MAX + 1];
};

static ssize_t
read_shard(void *arg, uint64_t at, void *bytes, size_t len)
{
	const int *fd = arg;
	ssize_t n;

	do {
		n = pread(*fd, bytes, len, (off_t)at);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int
add_member(struct indexing *x, const struct tar_member *m, struct ds_err *err)
{
	struct listing_item key = x->key;

	if (m->name_len > LISTING_NAME_MAX - x->prefix) {
		x->s->notes.too_long++;
		return 0;
	}
	if (m->size > SOURCE_ITEM_MAX) {
		x->s->notes.too_large++;
		return 0;
	}
	key.offset = m->offset;
	key.size = m->size;
	key.shard_len = (uint32_t)x->prefix - 1;
	memcpy(x->name + x->prefix, m->name, m->name_len);
	return listing_add(x->maker, x->name, x->prefix + m->name_len, &key, err);
}

static int
add_members(struct indexing *x, int fd, struct ds_err *err)
{
	struct tar_member m;
	struct ds_err why;
	struct tar *t;
	int rc;

	rc = tar_open(&t, read_shard, &fd, x->key.size, &why);
	if (rc < 0)
		return source_fail(x->s, x->shard, rc, why.text, err);
	while ((rc = tar_next(t, &m, &why)) > 0) {
		rc = add_member(x, &m, err);
		if (rc < 0)
			goto close_tar;
	}
	if (rc < 0)
		rc = source_fail(x->s, x->shard, rc, why.text, err);
	x->s->notes.members += tar_skipped(t);
close_tar:
	tar_close(&t);
	return rc;
}

static bool
is_same(const struct listing_item *a, const struct stat *st)
{
	struct listing_item b;

	source_key(&b, st);
	return memcmp(a, &b, sizeof b) == 0;
}

static int
list_shard(struct indexing *x, struct ds_err *err)
{
	struct stat st;
	int fd, rc;

	fd = source_file_open(x->s, x->shard, &st, err);
	if (fd < 0)
		return fd;
	source_key(&x->key, &st);
	x->prefix = strlen(x->shard) + 1;
	memcpy(x->name, x->shard, x->prefix - 1);
	x->name[x->prefix - 1] = '/';
	rc = add_members(x, fd, err);
	if (rc == 0 && fstat(fd, &st) != 0)
		rc = source_fail(x->s, x->shard, -errno, NULL, err);
	else if (rc == 0 && !is_same(&x->key, &st))
		rc = source_fail(x->s, x->shard, -ESTALE,
		    "changed while it was listed", err);
	io_close(&fd);
	return rc;
}

static int
list_shards(struct source *s, struct listing_maker *m, struct ds_err *err)
{
	struct indexing *x;
	struct shards all;
	int rc;

	rc = find_shards(s, &all, err);
	if (rc < 0)
		return rc;
	x = calloc(1, sizeof *x);
	if (x == NULL)
		rc = err_fail(err, -ENOMEM, "data set %s: no memory", s->path);
	for (size_t i = 0; rc == 0 && i < all.nr; i++) {
		x->s = s;
		x->maker = m;
		x->shard = all.names[i];
		rc = list_shard(x, err);
	}
	free(x);
	free_shards(&all);
	return rc;
}

const struct source_ops source_tar = {
	.scheme = "tar",
	.open = open_shards,
	.stamp = stamp_shards,
	.list = list_shards,
	.read = source_file_read,
};
