/* SPDX-License-Identifier: Apache-2.0
 *
 * outfile.c: a small file that appears complete or not at all.
 * Runs in the command only.
 */

#include <config.h>

#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/parse.h"

/* Writes and makes sure: a full disk may show only when all is on it. */
static int
write_out(int fd, const char *text)
{
	int rc = io_write_all(fd, text, strlen(text));

	/* What cannot be synced (a pipe, a device) has taken the bytes. */
	if (rc == 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
		rc = -errno;
	return rc;
}

/* What is no file is written to, and what cannot be replaced. */
static int
write_into(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	int rc;

	if (fd < 0)
		return -errno;
	rc = write_out(fd, text);
	io_close(&fd);
	return rc;
}

/* A name in the folder of the target that nobody else has. */
static char *
name_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash == NULL ? 0 : (int)(slash + 1 - path);
	uint64_t number;
	char *part;

	if (getrandom(&number, sizeof number, 0) != sizeof number ||
	    asprintf(&part, "%.*s.destall-part-%016" PRIx64, folder, path,
	    number) < 0)
		return NULL;
	return part;
}

/* Into a file beside the target, then renamed over it; the mode is the old
 * one's or by the umask. */
static int
replace_file(const char *path, const char *text, const struct stat *old)
{
	char *part = name_part(path);
	int fd, rc = 0;

	if (part == NULL)
		return -ENOMEM;
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		rc = -errno;
		goto free_part;
	}
	if (old != NULL && fchmod(fd, old->st_mode & 0777) != 0)
		rc = -errno;
	if (rc == 0)
		rc = write_out(fd, text);
	if (rc == 0 && rename(part, path) != 0)
		rc = -errno;
	io_close(&fd);
	if (rc < 0)
		unlink(part);
free_part:
	free(part);
	return rc;
}

/* A file that is there is replaced only where it may be written, and written
 * in place where its folder does not allow more (or it is a mount itself). */
static int
rewrite_file(const char *path, const char *text, const struct stat *old)
{
	char *target;
	int rc;

	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
		return -errno;
	/* The target of a link is replaced, not the link. */
	target = realpath(path, NULL);
	if (target == NULL)
		return -errno;
	rc = replace_file(target, text, old);
	if (rc == -EACCES || rc == -EBUSY || rc == -EROFS)
		rc = write_into(target, text);
	free(target);
	return rc;
}

static int
write_file(const char *path, const char *text)
{
	struct stat st;
	int rc;

	if (stat(path, &st) == 0)
		return S_ISREG(st.st_mode) ? rewrite_file(path, text, &st) :
		    write_into(path, text);
	rc = -errno;
	/* A link to nothing is refused. */
	if (rc == -ENOENT && lstat(path, &st) != 0)
		rc = replace_file(path, text, NULL);
	return rc;
}

/* The descriptor that a path such as /dev/stdout stands for, or -1.  To open
 * it anew would write over what was written to it before. */
static int
descriptor_of(const char *path)
{
	uint64_t fd;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	if (strncmp(path, "/dev/fd/", 8) == 0 &&
	    parse_count(path + 8, 0, INT_MAX, &fd, NULL) == 0)
		return (int)fd;
	return -1;
}

int
outfile_write(const char *path, const char *text, struct ds_err *err)
{
	int fd = descriptor_of(path);
	int rc = fd >= 0 ? write_out(fd, text) : write_file(path, text);

	errno = -rc;
	return rc < 0 ? err_errno(err, "cannot write %s", path) : 0;
}

/*--- before the work ------------------------------------------------------*/

/* May a file be made, or replaced, in the folder of this path? */
static int
check_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int rc;

	if (asprintf(&folder, "%.*s.", slash == NULL ? 0 :
	    (int)(slash - path + 1), path) < 0)
		return -ENOMEM;
	rc = faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0 ?
	    -errno : 0;
	free(folder);
	return rc;
}

/* A file is replaced, where a link leads to it; what is no file is written
 * to. */
static int
try_output(const char *path)
{
	struct stat st;
	char *target;
	int rc;

	if (stat(path, &st) != 0) {
		rc = -errno;
		return rc == -ENOENT && lstat(path, &st) != 0 ?
		    check_folder(path) : rc;
	}
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	target = realpath(path, NULL);
	if (target == NULL)
		return -errno;
	rc = check_folder(target);
	free(target);
	return rc;
}

int
outfile_check(const char *path, struct ds_err *err)
{
	int rc = try_output(path);

	errno = -rc;
	return rc < 0 ? err_errno(err, "cannot write %s", path) : 0;
}
