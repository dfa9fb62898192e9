/* SPDX-License-Identifier: Apache-2.0
 *
 * json.c: JSON documents, through Jansson.  Runs in the command only.
 */

#include <config.h>

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/outfile.h"
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

static int
write_stdout(const char *text, struct ds_err *err)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) != 0)
		return err_errno(err, "cannot write to standard output");
	return 0;
}

json_t *
json_must(json_t *value)
{
	if (value == NULL)
		say_no_memory();
	return value;
}

void
json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, json_must(value)) != 0)
		say_no_memory();
}

void
json_put_count(json_t *object, const char *key, uint64_t n)
{
	json_put(object, key, json_integer((json_int_t)n));
}

void
json_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, json_must(value)) != 0)
		say_no_memory();
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
		rc = outfile_write(path, text, err);
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
