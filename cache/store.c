/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c: where the bytes of cached items lie.  Runs in the hub only.
 */

#include <config.h>

#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"
#include "cache/store_folder.h"
#include "cache/store_tmpfs.h"
#include "cache/view.h"

#define DRAFT_MODE	S_IRUSR
#define ITEM_MODE	(S_IRUSR | STORE_MARK)
#define STORE_MAGIC	0x53544f52u	/* "STOR" */

struct store {
	unsigned	magic;
	bool		detached;
	int		dir;		/* where the hub makes files */
	int		view;		/* where readers open them */
	struct store_folder folder;	/* if it is not detached */
};

static struct store *
new_store(struct ds_err *err)
{
	struct store *s = calloc(1, sizeof *s);

	if (s == NULL) {
		err_fail(err, -ENOMEM, "cache: no memory");
		return NULL;
	}
	s->magic = STORE_MAGIC;
	s->dir = s->view = -1;
	return s;
}

int
store_new(struct store **out, uint64_t limit_bytes, struct ds_err *err)
{
	struct store *s = new_store(err);
	int rc;

	if (s == NULL)
		return -ENOMEM;
	rc = store_tmpfs_open(limit_bytes, &s->dir, &s->view, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	s->detached = true;
	*out = s;
	return 0;
}

int
store_new_in(struct store **out, const char *parent, struct ds_err *err)
{
	struct store *s = new_store(err);
	int rc;

	if (s == NULL)
		return -ENOMEM;
	rc = store_folder_open(&s->folder, parent, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	s->dir = s->folder.fd;
	/* Not the descriptor with the lock: a reader that outlives us would
	 * hold it. */
	s->view = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->view < 0) {
		rc = err_errno(err, "cache: cannot open %s", parent);
		store_folder_close(&s->folder);
		free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
store_free(struct store **sp)
{
	struct store *s = *sp;

	*sp = NULL;
	must_be(s, STORE_MAGIC);
	io_close(&s->view);
	if (s->detached)
		io_close(&s->dir);
	else
		store_folder_close(&s->folder);
	s->magic = 0;
	free(s);
}

int
store_view(const struct store *s)
{
	must_be(s, STORE_MAGIC);
	return s->view;
}

bool
store_is_detached(const struct store *s)
{
	must_be(s, STORE_MAGIC);
	return s->detached;
}

/*--- files ---------------------------------------------------------------*/

static void
path_of(char path[64], int fd)
{
	(void)snprintf(path, 64, "/proc/self/fd/%d", fd);
}

/* In large pieces: the kernel takes large pages where they fit. */
int
store_grow(const struct store_draft *d, uint64_t from, uint64_t len,
    struct ds_err *err)
{
	uint64_t piece = len - from < STORE_PIECE ? len - from : STORE_PIECE;
	int rc;

	must(from < len);
	do {
		rc = fallocate(d->writer, 0, (off_t)from, (off_t)piece);
	} while (rc != 0 && errno == EINTR);
	if (rc != 0)
		return err_errno(err, "cache: cannot allocate %llu bytes",
		    (unsigned long long)len);
	return from + piece < len;
}

int
store_begin(const struct store *s, uint64_t len, struct store_draft *d,
    struct ds_err *err)
{
	struct store_draft draft = { .writer = -1, .keeper = -1 };
	char path[64];
	int rc;

	must_be(s, STORE_MAGIC);
	if (len == 0 || len > INT64_MAX)
		return err_fail(err, -EINVAL, "cache: an item of %llu bytes",
		    (unsigned long long)len);
	draft.writer = openat(s->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC,
	    DRAFT_MODE);
	if (draft.writer < 0)
		return err_errno(err, "cache: cannot make a file");
	path_of(path, draft.writer);
	draft.keeper = open(path, O_RDONLY | O_CLOEXEC);
	rc = draft.keeper < 0 ? err_errno(err, "cache: cannot open a draft") :
	    store_grow(&draft, 0, len, err);
	if (rc < 0)
		store_abandon(&draft);
	else
		*d = draft;
	return rc;
}

void
store_abandon(struct store_draft *d)
{
	io_close(&d->writer);
	io_close(&d->keeper);
}

/* A write lease is given only to the last who has the file open, or mapped: not
 * even a read-only descriptor is left, which could be opened again for writing
 * through /proc.  Without a name nobody else can open it. */
static int
prove_unwritable(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
		return errno == EAGAIN ? -EBUSY : -errno;
	must(fcntl(fd, F_SETLEASE, F_UNLCK) == 0);
	return 0;
}

int
store_freeze(struct store_draft *d, struct ds_err *err)
{
	int rc;

	io_close(&d->writer);
	rc = prove_unwritable(d->keeper);
	if (rc < 0) {
		errno = -rc;
		return err_errno(err, "cache: a file is still being written");
	}
	return 0;
}

int
store_trim(const struct store_draft *d, uint64_t len, struct ds_err *err)
{
	char path[64];
	int fd, rc = 0;

	path_of(path, d->keeper);
	if (fchmod(d->keeper, 0600) != 0)
		return err_errno(err, "cache: cannot open a draft");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)len) != 0)
		rc = err_errno(err, "cache: cannot trim a draft");
	io_close(&fd);
	if (rc == 0 && fchmod(d->keeper, ITEM_MODE) != 0)
		rc = err_errno(err, "cache: cannot close a draft");
	return rc;
}

int
store_publish(const struct store *s, struct store_draft *d, const char *name,
    struct ds_err *err)
{
	char path[64];
	int rc;

	must_be(s, STORE_MAGIC);
	rc = store_freeze(d, err);
	if (rc < 0)
		return rc;
	path_of(path, d->keeper);
	if (linkat(AT_FDCWD, path, s->dir, name, AT_SYMLINK_FOLLOW) != 0)
		return err_errno(err, "cache: cannot name %s", name);
	store_abandon(d);
	return 0;
}

int
store_open(const struct store *s, const char *name, struct ds_err *err)
{
	int fd;

	must_be(s, STORE_MAGIC);
	fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(err, "cache: cannot open %s", name) : fd;
}

int
store_used(const struct store *s, uint64_t *bytes)
{
	struct statvfs st;

	must_be(s, STORE_MAGIC);
	if (!s->detached)
		return -ENOTSUP;
	if (fstatvfs(s->dir, &st) != 0)
		return -errno;
	*bytes = (uint64_t)(st.f_blocks - st.f_bfree) * st.f_frsize;
	return 0;
}

int
store_free_bytes(const struct store *s, uint64_t *bytes, struct ds_err *err)
{
	struct statvfs st;

	must_be(s, STORE_MAGIC);
	if (fstatvfs(s->dir, &st) != 0)
		return err_errno(err, "cache: cannot see what is free");
	*bytes = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}

int
store_remove(const struct store *s, const char *name, struct ds_err *err)
{
	must_be(s, STORE_MAGIC);
	if (unlinkat(s->dir, name, 0) != 0)
		return err_errno(err, "cache: cannot remove %s", name);
	return 0;
}
