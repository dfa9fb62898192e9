/* SPDX-License-Identifier: Apache-2.0
 *
 * label_list.c: a list of samples and their labels.  Runs in clients.
 */

#include <config.h>

#include "loader/label_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "loader/lines.h"

#define BOM		"\xef\xbb\xbf"

/*--- one line ------------------------------------------------------------*/

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What no line of a list has, or NULL. */
static const char *
find_fault(const char *text, size_t len, uint64_t number)
{
	if (memchr(text, '\0', len) != NULL)
		return "holds a NUL byte: a list is a text, a path and a "
		    "label a line";
	if (number == 1 && strncmp(text, BOM, sizeof BOM - 1) == 0)
		return "begins with a byte order mark: save the list without";
	if (len > 0 && text[len - 1] == '\r')
		return "ends as DOS ends lines, in CR and LF: save the list "
		    "with LF alone (dos2unix)";
	return NULL;
}

static int
parse_label(const char *text, int32_t *label, struct ds_err *err)
{
	int64_t n = 0;

	for (const char *p = text; *p != '\0'; p++) {
		if (*p < '0' || *p > '9')
			return err_fail(err, -EBADMSG, "'%.64s' is no label: "
			    "a whole number from 0 on stands behind the last "
			    "blank", text);
		if (n <= LABEL_MAX)
			n = 10 * n + (*p - '0');
	}
	if (n > LABEL_MAX)
		return err_fail(err, -EBADMSG, "a label is %ld at most",
		    (long)LABEL_MAX);
	*label = (int32_t)n;
	return 0;
}

/* Cuts the text into path and label. */
static int
split(char *text, size_t len, char **path, int32_t *label, struct ds_err *err)
{
	char *end = text + len, *behind;

	while (end > text && !is_blank(end[-1]))
		end--;
	behind = end;
	while (end > text && is_blank(end[-1]))
		end--;
	if (behind == text || *behind == '\0')
		return err_fail(err, -EBADMSG, "no label: write a path, a "
		    "blank and a whole number");
	while (strncmp(text, "./", 2) == 0)
		text += 2;
	if (end <= text)
		return err_fail(err, -EBADMSG, "no path before the label");
	*end = '\0';
	*path = text;
	return parse_label(behind, label, err);
}

static int
read_line(char *text, size_t len, uint64_t number, label_list_f *each,
    void *arg, struct ds_err *err)
{
	const char *fault = find_fault(text, len, number);
	int32_t label = 0;
	char *path = NULL;
	int rc;

	if (fault != NULL)
		return err_fail(err, -EBADMSG, "%s", fault);
	if (len == 0 || text[0] == '#')
		return 0;
	rc = split(text, len, &path, &label, err);
	return rc < 0 ? rc : each(arg, path, label, err);
}

/*--- the file ------------------------------------------------------------*/

static int
fail_at(struct ds_err *err, int rc, const char *name, uint64_t number,
    const char *why)
{
	return err_fail(err, rc, "%s: line %llu: %s", name,
	    (unsigned long long)number, why);
}

static int
read_lines(struct lines *l, const char *name, label_list_f *each, void *arg,
    struct ds_err *err)
{
	struct ds_err why;
	size_t len = 0;
	char *text = NULL;
	int rc;

	while ((rc = lines_next(l, &text, &len)) == 1) {
		rc = read_line(text, len, l->number, each, arg, &why);
		if (rc < 0)
			return fail_at(err, rc, name, l->number, why.text);
	}
	if (rc == -E2BIG)
		return fail_at(err, -EBADMSG, name, l->number,
		    "too long to be a path and a label");
	if (rc < 0) {
		errno = -rc;
		return err_errno(err, "%s", name);
	}
	return 0;
}

int
label_list_read_fd(int fd, const char *name, label_list_f *each, void *arg,
    struct ds_err *err)
{
	struct lines l;
	struct stat st;
	int rc;

	if (fstat(fd, &st) != 0)
		return err_errno(err, "list of labels %s", name);
	if (!S_ISREG(st.st_mode))
		return err_fail(err, -EINVAL, "list of labels %s: not a "
		    "regular file", name);
	if ((uint64_t)st.st_size > LABEL_LIST_BYTES_MAX)
		return err_fail(err, -EFBIG, "list of labels %s: larger than "
		    "%llu GiB", name,
		    (unsigned long long)(LABEL_LIST_BYTES_MAX >> 30));
	if (lines_init(&l, fd, LABEL_LINE_MAX) < 0)
		return err_fail(err, -ENOMEM, "list of labels %s: no memory",
		    name);
	rc = read_lines(&l, name, each, arg, err);
	lines_fini(&l);
	return rc;
}

/* Without waiting for the writer of a FIFO. */
int
label_list_read(const char *file, label_list_f *each, void *arg,
    struct ds_err *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	if (fd < 0)
		return err_errno(err, "list of labels %s", file);
	rc = label_list_read_fd(fd, file, each, arg, err);
	io_close(&fd);
	return rc;
}
