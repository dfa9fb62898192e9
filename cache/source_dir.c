/* SPDX-License-Identifier: Apache-2.0
 *
 * source_dir.c: the files of a folder and the folders in it, as items.
 * Runs in clients.
 *
 *  1. The walk never follows a link into a folder, and is never deeper than
 *     SOURCE_MAX_DEPTH: it ends.  It holds one descriptor for each level.
 *  2. w->name is the name of the place where the walk stands, from the root;
 *     levels[depth - 1].len bytes of it are the folder's, its slash included.
 *  3. What vanishes while we look was never there.
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cache/source.h"
#include "cache/source_file.h"

#define FOLDER_FLAGS	(O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)

struct level {
	DIR	*dir;
	size_t	len;		/* of its name */
};

struct walk {
	struct source	*s;
	struct listing_maker *maker;
	unsigned	depth;		/* levels that are open */
	struct level	levels[SOURCE_MAX_DEPTH + 1];
	char		name[LISTING_NAME_MAX + 1];
};

static int
open_root(struct source *s, struct ds_err *err)
{
	s->root = open(s->path, FOLDER_FLAGS);
	if (s->root < 0 && errno == ENOTDIR)
		return err_fail(err, -ENOTDIR, "data set %s: not a folder: "
		    "shards are named as tar:PATH", s->path);
	if (s->root < 0)
		return err_errno(err, "data set %s", s->path);
	return 0;
}

static bool
is_gone(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP ||
	    error == ESTALE;
}

/* A failure at w->name: counted, forgotten, or the end of the walk. */
static int
judge(struct walk *w, int error, struct ds_err *err)
{
	if (is_gone(error))
		return 0;
	if (error == EACCES || error == EPERM) {
		w->s->notes.unreadable++;
		return 0;
	}
	return source_fail(w->s, w->name, -error, NULL, err);
}

/*--- what stands in a folder ---------------------------------------------*/

static int
add_file(struct walk *w, const struct stat *st, struct ds_err *err)
{
	struct listing_item key;

	if ((uint64_t)st->st_size > SOURCE_ITEM_MAX) {
		w->s->notes.too_large++;
		return 0;
	}
	source_key(&key, st);
	return listing_add(w->maker, w->name, strlen(w->name), &key, err);
}

static int
add_link(struct walk *w, struct ds_err *err)
{
	int fd = beneath_open(w->s->root, w->name, O_PATH), rc;
	struct stat st;

	if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
		return source_fail(w->s, w->name, fd, NULL, err);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		w->s->notes.links++;
		rc = 0;
	} else {
		rc = add_file(w, &st, err);
	}
	io_close(&fd);
	return rc;
}

/* Opens the folder w->name, which is `entry' in the folder dirfd, and stands
 * in it then. */
static int
enter(struct walk *w, int dirfd, const char *entry, struct ds_err *err)
{
	size_t len = strlen(w->name);
	DIR *dir;
	int fd;

	if (w->depth > SOURCE_MAX_DEPTH) {
		err_fail(err, -ELOOP, "%s/%s", w->s->path, w->name);
		return err_hint(err, -ELOOP, "more than %u folders deep",
		    SOURCE_MAX_DEPTH);
	}
	fd = openat(dirfd, entry, FOLDER_FLAGS | O_NOFOLLOW);
	if (fd < 0)
		return judge(w, errno, err);
	dir = fdopendir(fd);
	if (dir == NULL) {
		int rc = source_fail(w->s, w->name, -errno, NULL, err);

		io_close(&fd);
		return rc;
	}
	if (len > 0 && len < LISTING_NAME_MAX)
		w->name[len++] = '/';
	w->levels[w->depth++] = (struct level){ dir, len };
	return 0;
}

/* DT_UNKNOWN where it is not known yet; *st is filled for regular files. */
static int
find_type(int dirfd, const struct dirent *e, struct stat *st)
{
	if (e->d_type != DT_REG && e->d_type != DT_UNKNOWN)
		return e->d_type;
	if (fstatat(dirfd, e->d_name, st, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	return (int)IFTODT(st->st_mode);
}

static int
visit(struct walk *w, int dirfd, const struct dirent *e, struct ds_err *err)
{
	struct stat st;
	int type = find_type(dirfd, e, &st);

	if (type < 0)
		return judge(w, -type, err);
	switch (type) {
	case DT_REG:
		return add_file(w, &st, err);
	case DT_DIR:
		return enter(w, dirfd, e->d_name, err);
	case DT_LNK:
		return add_link(w, err);
	default:
		w->s->notes.others++;
		return 0;
	}
}

/*--- the walk ------------------------------------------------------------*/

static bool
is_self(const char *entry)
{
	return strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0;
}

static void
leave(struct walk *w)
{
	closedir(w->levels[--w->depth].dir);
}

/* The next entry of the innermost folder. */
static int
step(struct walk *w, struct ds_err *err)
{
	const struct level *at = &w->levels[w->depth - 1];
	struct dirent *e;
	size_t len;

	errno = 0;
	e = readdir(at->dir);
	w->name[at->len] = '\0';
	if (e == NULL) {
		int rc = errno == 0 ? 0 : judge(w, errno, err);

		leave(w);
		return rc;
	}
	if (is_self(e->d_name))
		return 0;
	if (e->d_name[0] == '.') {
		w->s->notes.hidden++;
		return 0;
	}
	len = strlen(e->d_name);
	if (len > LISTING_NAME_MAX - at->len) {
		w->s->notes.too_long++;
		return 0;
	}
	memcpy(w->name + at->len, e->d_name, len + 1);
	return visit(w, dirfd(at->dir), e, err);
}

static int
list_folder(struct source *s, struct listing_maker *m, struct ds_err *err)
{
	struct walk *w = calloc(1, sizeof *w);
	int rc;

	if (w == NULL)
		return err_fail(err, -ENOMEM, "data set %s: no memory", s->path);
	w->s = s;
	w->maker = m;
	rc = enter(w, s->root, ".", err);
	if (rc == 0 && w->depth == 0)
		rc = err_fail(err, -EACCES,
		    "data set %s: the folder cannot be read", s->path);
	while (rc == 0 && w->depth > 0)
		rc = step(w, err);
	while (w->depth > 0)
		leave(w);
	free(w);
	return rc;
}

const struct source_ops source_dir = {
	.open = open_root,
	.list = list_folder,
	.read = source_file_read,
};
