/* SPDX-License-Identifier: Apache-2.0
 *
 * runstore_file.c: the file of the run store, before SQLite sees it: where it is,
 * what it is, and putting a damaged one aside.  Runs in the command only.
 *
 *  1. No descriptor of the file is open here while SQLite has it open: closing
 *     one would drop SQLite's locks.
 *  2. Two commands that find one damaged file rename it once: whoever comes
 *     second finds another file under its name.
 */

#include <config.h>

#include "reports/runstore_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/say.h"

#define NAME		"destall/runs.sqlite"
#define HEAD_SIZE	100u		/* of a SQLite file */
#define HEAD_MAGIC	"SQLite format 3"
#define HEAD_PAGE	16u		/* its size, two bytes; 1 is 65,536 */
#define HEAD_ID		68u		/* application_id, the highest byte first */
#define ASIDE_MAX	10000u

static char *
join(const char *path, const char *suffix)
{
	size_t len = strlen(path), size = strlen(suffix) + 1;
	char *joined = malloc(len + size);

	if (joined == NULL)
		say_no_memory();
	memcpy(joined, path, len);
	memcpy(joined + len, suffix, size);
	return joined;
}

static const char *
value_of(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

/*--- where ----------------------------------------------------------------*/

int
store_file_place(char **path, struct ds_err *err)
{
	const char *given = value_of(RUNSTORE_ENV);
	const char *data = value_of("XDG_DATA_HOME");
	const char *home = value_of("HOME");

	if (given != NULL)
		*path = join(given, "");
	else if (data != NULL && *data == '/')	/* others are to be ignored */
		*path = join(data, "/" NAME);
	else if (home != NULL)
		*path = join(home, "/.local/share/" NAME);
	else
		return err_fail(err, -EINVAL, "no place for the run store: "
		    "neither " RUNSTORE_ENV " nor HOME is set");
	return 0;
}

int
store_file_make_folders(const char *path, struct ds_err *err)
{
	char *folder = join(path, ""), *p = strchr(folder + 1, '/');
	int rc = 0;

	for (; rc == 0 && p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(folder, 0700) != 0 && errno != EEXIST &&
		    access(folder, F_OK) != 0)
			rc = err_errno(err, "cannot make the run store's "
			    "folder %s", folder);
		*p = '/';
	}
	free(folder);
	return rc;
}

int
store_file_make(const char *path, struct ds_err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 && errno != EEXIST)
		return err_errno(err, "cannot make the run store %s", path);
	io_close(&fd);
	return 0;
}

/*--- what -----------------------------------------------------------------*/

static uint64_t
page_size(const unsigned char bytes[2])
{
	uint64_t size = (uint64_t)bytes[0] << 8 | bytes[1];

	return size <= 1 ? 65536 : size;
}

/* Is it SQLite's, whose does it say that it is, has it whole pages? */
static void
read_head(struct store_file *f, int fd, uint64_t size)
{
	unsigned char head[HEAD_SIZE];
	uint32_t id = 0;

	f->has_head = pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
	    memcmp(head, HEAD_MAGIC, sizeof HEAD_MAGIC) == 0;
	for (unsigned i = 0; f->has_head && i < 4; i++)
		id = id << 8 | head[HEAD_ID + i];
	f->is_ours = f->has_head && id == RUNSTORE_APPLICATION;
	/* With a log, the end of the file may be in that. */
	if (f->has_head && !f->has_log)
		f->is_cut = size % page_size(head + HEAD_PAGE) != 0;
}

static bool
has_log(const char *path)
{
	char *log = join(path, RUNSTORE_LOG);
	struct stat st;
	bool has = stat(log, &st) == 0 && st.st_size > 0;

	free(log);
	return has;
}

int
store_file_look(struct store_file *f, const char *path, struct ds_err *err)
{
	/* Not to wait for the other end of a FIFO. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC);
	struct stat st = { 0 };
	int rc = 0;

	if (fd < 0 && errno == ELOOP)
		return err_fail(err, -ELOOP, "the run store %s is a symbolic "
		    "link: set " RUNSTORE_ENV " to the file it leads to", path);
	if (fd < 0)
		return err_errno(err, "the run store %s", path);
	if (fstat(fd, &st) != 0)
		rc = err_errno(err, "the run store %s", path);
	else if (!S_ISREG(st.st_mode))
		rc = err_fail(err, -EINVAL, "the run store %s is not a file: "
		    "set " RUNSTORE_ENV " to one", path);
	*f = (struct store_file){ .device = st.st_dev, .inode = st.st_ino,
	    .is_empty = st.st_size == 0, .has_log = has_log(path) };
	if (rc == 0)
		read_head(f, fd, (uint64_t)st.st_size);
	io_close(&fd);
	return rc;
}

int
store_file_read(const char *path, struct ds_err *err)
{
	char buffer[4096];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : 1;

	while (n > 0)
		n = io_read_all(fd, buffer, sizeof buffer);
	io_close(&fd);
	errno = (int)-n;
	return n < 0 ? err_errno(err, "the run store %s", path) : 0;
}

/*--- aside ----------------------------------------------------------------*/

static bool
is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static char *
name_aside(const char *path, unsigned number, const char *suffix)
{
	char *name;

	if (asprintf(&name, "%s.damaged-%u%s", path, number, suffix) < 0)
		say_no_memory();
	return name;
}

/* The first number that neither a file nor a log has. */
static unsigned
choose_number(const char *path)
{
	for (unsigned n = 1; n < ASIDE_MAX; n++) {
		char *file = name_aside(path, n, "");
		char *log = name_aside(path, n, RUNSTORE_LOG);
		bool taken = is_there(file) || is_there(log);

		free(file);
		free(log);
		if (!taken)
			return n;
	}
	return 0;
}

static int
rename_part(const char *path, unsigned number, const char *suffix,
    struct ds_err *err)
{
	char *from = join(path, suffix), *to = name_aside(path, number, suffix);
	int rc = 0;

	if (rename(from, to) != 0)
		rc = err_errno(err, "the run store %s is damaged, and cannot "
		    "be renamed", from);
	free(from);
	free(to);
	return rc;
}

/* Others that rename wait; where folders cannot be locked they do not. */
static int
lock_folder(const char *path)
{
	char *folder = join(path, ""), *slash = strrchr(folder, '/');
	int fd;

	if (slash != NULL)
		slash[slash == folder] = '\0';
	fd = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);
	if (fd >= 0)
		(void)flock(fd, LOCK_EX);
	free(folder);
	return fd;
}

static int
rename_parts(struct store_aside *a, const char *path, bool log_only,
    struct ds_err *err)
{
	char *shared = join(path, "-shm");
	int rc = 0;

	if (a->number == 0)
		a->number = choose_number(path);
	if (a->number == 0)
		rc = err_fail(err, -EEXIST, "the run store %s is damaged, and "
		    "so were %u before: remove them", path, ASIDE_MAX - 1);
	else if (log_only)
		rc = rename_part(path, a->number, RUNSTORE_LOG, err);
	else
		rc = rename_part(path, a->number, "", err);
	/* It speaks of the log, which is gone. */
	if (rc == 0)
		(void)unlink(shared);
	free(shared);
	return rc;
}

int
store_file_put_aside(struct store_aside *a, const struct store_file *f,
    const char *path, struct ds_err *err)
{
	bool log_only = f->has_log && !a->log;
	int fd = lock_folder(path), rc = 0;
	struct stat st;

	if (stat(path, &st) == 0 && st.st_dev == f->device &&
	    st.st_ino == f->inode && (!log_only || has_log(path))) {
		rc = rename_parts(a, path, log_only, err);
		if (rc == 0)
			*(log_only ? &a->log : &a->file) = true;
	}
	io_close(&fd);
	return rc;
}

void
store_file_note(const struct store_aside *a, const char *path,
    struct ds_err *note)
{
	if (a->file)
		(void)err_fail(note, -EUCLEAN, "the run store %s was damaged: "
		    "it is now %s.damaged-%u, and a new one is begun", path,
		    path, a->number);
	else if (a->log)
		(void)err_fail(note, -EUCLEAN, "the log of the run store %s "
		    "did not fit it: it is now %s.damaged-%u" RUNSTORE_LOG,
		    path, path, a->number);
}
