/* SPDX-License-Identifier: Apache-2.0
 *
 * json.c: JSON documents, through Jansson.  Runs in the command only.
 */

#include <config.h>

#include "base/json.h"

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
#include "base/say.h"
#include "base/text.h"

#define FILE_LIMIT	((size_t)64 << 20)
#define DUMP_FLAGS	(JSON_INDENT(2) | JSON_REAL_PRECISION(12))

json_t *
json_doc_new(void)
{
	json_t *doc = json_pack("{si}", "schema_version", JSON_SCHEMA_VERSION);

	if (doc == NULL)
		say_no_memory();
	return doc;
}

json_t *
json_text(const char *bytes)
{
	size_t size = 4 * strlen(bytes) + 1;
	char *clean = malloc(size);
	json_t *value;

	if (clean == NULL)
		say_no_memory();
	text_utf8(clean, size, bytes);
	value = json_string(clean);
	if (value == NULL)
		say_no_memory();
	free(clean);
	return value;
}

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

static int
write_stdout(const char *text, struct ds_err *err)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) != 0)
		return err_errno(err, "cannot write to standard output");
	return 0;
}

int
json_doc_write(json_t *doc, const char *path, struct ds_err *err)
{
	char *body = json_dumps(doc, DUMP_FLAGS);
	char *text;
	int rc;

	if (body == NULL || asprintf(&text, "%s\n", body) < 0)
		say_no_memory();
	if (path == NULL) {
		rc = write_stdout(text, err);
	} else {
		rc = descriptor_of(path) >= 0 ?
		    write_out(descriptor_of(path), text) :
		    write_file(path, text);
		errno = -rc;
		if (rc < 0)
			err_errno(err, "cannot write %s", path);
	}
	free(text);
	free(body);
	json_decref(doc);
	return rc;
}

int
json_doc_parse(json_t **doc, const char *text, size_t len, const char *name,
    struct ds_err *err)
{
	json_error_t why;
	const json_t *version;
	json_t *d;

	d = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (d == NULL)
		return err_fail(err, -EBADMSG, "%s: line %d: %s", name,
		    why.line, why.text);
	version = json_object_get(d, "schema_version");
	if (!json_is_integer(version)) {
		json_decref(d);
		return err_fail(err, -EBADMSG,
		    "%s: no document of destall's: it has no schema_version",
		    name);
	}
	if (json_integer_value(version) != JSON_SCHEMA_VERSION) {
		err_fail(err, -EBADMSG, "%s: schema_version %lld, this build "
		    "reads %d", name, (long long)json_integer_value(version),
		    JSON_SCHEMA_VERSION);
		json_decref(d);
		return -EBADMSG;
	}
	*doc = d;
	return 0;
}

/* The whole file as text; at most FILE_LIMIT bytes of it. */
static int
read_file(const char *path, char **text, size_t *len, struct ds_err *err)
{
	struct stat st;
	ssize_t n;
	int fd, rc = 0;

	/* Not to wait for the other end of a FIFO. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_errno(err, "cannot read %s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		rc = err_fail(err, -EINVAL, "cannot read %s: not a file", path);
		goto close_fd;
	}
	if ((uint64_t)st.st_size > FILE_LIMIT) {
		rc = err_fail(err, -EFBIG, "cannot read %s: over %zu MiB", path,
		    FILE_LIMIT >> 20);
		goto close_fd;
	}
	*text = malloc((size_t)st.st_size + 1);
	if (*text == NULL) {
		rc = err_fail(err, -ENOMEM, "cannot read %s: no memory", path);
		goto close_fd;
	}
	n = io_read_all(fd, *text, (size_t)st.st_size);
	if (n < 0) {
		free(*text);
		errno = (int)-n;
		rc = err_errno(err, "cannot read %s", path);
		goto close_fd;
	}
	*len = (size_t)n;
close_fd:
	io_close(&fd);
	return rc;
}

int
json_doc_read(json_t **doc, const char *path, struct ds_err *err)
{
	char *text = NULL;
	size_t len = 0;
	int rc;

	rc = read_file(path, &text, &len, err);
	if (rc < 0)
		return rc;
	rc = json_doc_parse(doc, text, len, path, err);
	free(text);
	return rc;
}
