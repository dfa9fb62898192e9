/* SPDX-License-Identifier: Apache-2.0
 *
 * swap.c: a descriptor that was just opened becomes one of the cache's.
 * Runs in any program that the object is preloaded in, in any of its threads.
 */

#include <config.h>

#include "preload/swap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "cache/source_file.h"
#include "preload/attached.h"
#include "preload/bring.h"
#include "preload/filter.h"

/* What makes an open more than reading a file. */
#define NOT_OURS	(O_ACCMODE | O_CREAT | O_TRUNC | O_DIRECT | O_PATH | \
			 O_DIRECTORY | O_TMPFILE)

bool
swap_wants(int dir, const char *path, int flags)
{
	return (flags & NOT_OURS) == O_RDONLY &&
	    filter_path(dir, path) != FILTER_NO;
}

/*--- which item ----------------------------------------------------------*/

struct found {
	struct attached	*attached;
	struct ds_data	*data;
	uint64_t	item;
};

static bool
find_item(struct attached *a, const struct stat *st, struct found *f)
{
	for (unsigned n = 0; n < a->nr; n++) {
		int64_t i = index_find_file(&a->data[n]->index, st->st_dev,
		    st->st_ino);

		if (i >= 0) {
			*f = (struct found){ a, a->data[n], (uint64_t)i };
			return true;
		}
	}
	return false;
}

static bool
is_joined(const char *path, const char *root, const char *name)
{
	size_t len = strlen(root);

	return strncmp(path, root, len) == 0 && path[len] == '/' &&
	    strcmp(path + len + 1, name) == 0;
}

/* By one of the spellings of its root? */
static bool
is_named(const struct ds_data *d, const char *path, const char *name)
{
	const char *root;

	if (is_joined(path, source_uri(d->source), name))
		return true;
	for (unsigned n = 0; (root = filter_root(n)) != NULL; n++) {
		if (is_joined(path, root, name))
			return true;
	}
	return false;
}

/* Is it still where it was listed?  What a substitute stands for is found there
 * (origin.h).  Mostly the program itself has just named that place. */
static bool
is_in_place(const struct found *f, const char *path, const struct stat *st)
{
	const char *name = data_name(f->data, f->item);
	char there[PATH_MAX];
	struct stat now;
	int n;

	if (name == NULL)
		return false;
	if (is_named(f->data, path, name))
		return true;
	n = snprintf(there, sizeof there, "%s/%s",
	    source_uri(f->data->source), name);
	return n > 0 && (size_t)n < sizeof there && stat(there, &now) == 0 &&
	    now.st_dev == st->st_dev && now.st_ino == st->st_ino;
}

/* A process that has nothing to do with data sets does not attach. */
static struct attached *
attach_for(int fd, int dir, const char *path)
{
	if (attached_peek() == NULL &&
	    filter_path(dir, path) == FILTER_LOOK && !filter_look(fd, dir, path))
		return NULL;
	return attached_get();
}

/*--- the substitute ------------------------------------------------------*/

/* 0, or -errno and fd is as it was. */
static int
put_in_place(const struct found *f, int fd, int flags)
{
	const struct ds_data *d = f->data;
	int copy, rc = 0;

	copy = view_open(&d->view, &d->index.index->items[f->item],
	    flags | O_CLOEXEC);
	if (copy < 0)
		return copy;
	if (dup3(copy, fd, flags & O_CLOEXEC) < 0)
		rc = -errno;
	io_close(&copy);
	return rc;
}

static bool
is_ready(const struct found *f)
{
	/* acquire: pairs with the hub's release (index.h, rule 1) */
	return item_state(atomic_load_explicit(
	    &f->data->index.index->items[f->item].word,
	    memory_order_acquire)) == ITEM_READY;
}

/* A file of the store that cannot be had is a miss.  It may be gone because the
 * program closed our descriptors, or because the hub died, and the next one has
 * put away its store. */
static int
give_cached(struct found *f, int fd, int flags)
{
	int rc = put_in_place(f, fd, flags);

	if (rc == 0) {
		data_count(f->data, COUNT_HITS, 1);
		data_count(f->data, COUNT_HIT_BYTES,
		    f->data->index.index->items[f->item].key.size);
	} else if (rc == -EBADF || rc == -ENOENT) {
		attached_lost(f->attached);
	}
	return rc;
}

static void
give_or_count(struct found *f, int fd, const struct stat *st, int flags)
{
	if (give_cached(f, fd, flags) < 0)
		bring_missed(f->data, st);
}

static void
bring(struct found *f, int fd, const struct stat *st, int flags)
{
	uint64_t begin_ns = clock_now_ns();

	switch (bring_item(f->data, f->item, fd, st)) {
	case BRING_WAITED:
		give_or_count(f, fd, st, flags);
		break;
	case BRING_FETCHED:
		(void)put_in_place(f, fd, flags);
		break;
	case BRING_LEFT:
		if (!link_alive(f->data->link))
			attached_hub_gone(f->attached,
			    clock_now_ns() - begin_ns);
		break;
	}
}

static void
give(struct found *f, int fd, const struct stat *st, int flags)
{
	if (is_ready(f))
		give_or_count(f, fd, st, flags);
	else
		bring(f, fd, st, flags);
}

static void
swap(int fd, int dir, const char *path, int flags)
{
	struct attached *a;
	struct found f;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return;
	a = attach_for(fd, dir, path);
	if (a == NULL || !find_item(a, &st, &f))
		return;
	if (source_is_listed(&st, &f.data->index.index->items[f.item].key) &&
	    is_in_place(&f, path, &st))
		give(&f, fd, &st, flags);
	else
		data_count(f.data, COUNT_CHANGED, 1);
}

void
swap_opened(int fd, int dir, const char *path, int flags)
{
	attached_enter();
	swap(fd, dir, path, flags);
	attached_leave();
}
