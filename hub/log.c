/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c: the hub's log.  Runs in the hub only.
 *
 *  1. No line waits: of a standard error that is not read the line is left
 *     out, and the file is a regular one.
 */

#include <config.h>

#include "hub/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"
#include "base/text.h"
#include "hub/rundir.h"

#define LOG_MAGIC	0x484c4f47u	/* "HLOG" */
#define FILE_MAX	((off_t)1 << 20)
#define LINES_A_SECOND	100u
#define LINE_SIZE	1024u
#define OLD_NAME	RUNDIR_LOG ".1"

struct log {
	unsigned	magic;
	enum log_level	most;
	int		dir;
	int		fd;		/* -1 while it cannot be opened */
	uint64_t	second_ns;	/* when the current second began */
	unsigned	nr_lines;	/* in it */
	unsigned	nr_left_out;
};

static const char *const levels[] = { "error", "warn", "info", "debug" };

/* A regular file of ours, or none: nothing that could make us wait. */
static void
open_file(struct log *l)
{
	struct stat st;

	l->fd = openat(l->dir, RUNDIR_LOG, O_WRONLY | O_CREAT | O_APPEND |
	    O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (l->fd >= 0 && (fstat(l->fd, &st) != 0 || !S_ISREG(st.st_mode)))
		io_close(&l->fd);
}

int
log_new(struct log **out, int dir, enum log_level most, struct ds_err *err)
{
	struct log *l = calloc(1, sizeof *l);
	int rc;

	if (l == NULL)
		return err_fail(err, -ENOMEM, "hub: no memory");
	*l = (struct log){ .magic = LOG_MAGIC, .most = most, .fd = -1 };
	l->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	if (l->dir < 0) {
		rc = err_errno(err, "hub: cannot open the log");
		free(l);
		return rc;
	}
	open_file(l);
	l->second_ns = clock_now_ns();
	*out = l;
	return 0;
}

/*--- a line --------------------------------------------------------------*/

static void
make_room(struct log *l, size_t len)
{
	struct stat st;

	if (l->fd < 0 || fstat(l->fd, &st) != 0 ||
	    st.st_size + (off_t)len <= FILE_MAX)
		return;
	io_close(&l->fd);
	if (renameat(l->dir, RUNDIR_LOG, l->dir, OLD_NAME) == 0)
		open_file(l);
}

static void
write_stderr(const char *line, size_t len)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) != 0)
		(void)io_write_all(STDERR_FILENO, line, len);
}

static void
write_line(struct log *l, enum log_level level, const char *sentence)
{
	char line[LINE_SIZE + 64], when[32];
	time_t now = time(NULL);
	struct tm tm;
	int n;

	if (gmtime_r(&now, &tm) == NULL ||
	    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		when[0] = '\0';
	n = snprintf(line, sizeof line, "%s %s: %s\n", when, levels[level],
	    sentence);
	must(n > 0 && (size_t)n < sizeof line);
	make_room(l, (size_t)n);
	if (l->fd >= 0)
		(void)io_write_all(l->fd, line, (size_t)n);
	write_stderr(line, (size_t)n);
}

static void
confess(struct log *l)
{
	char text[64];

	if (l->nr_left_out == 0)
		return;
	(void)snprintf(text, sizeof text, "%u lines were left out here",
	    l->nr_left_out);
	l->nr_left_out = 0;
	write_line(l, LOG_WARN, text);
}

/* May another line be written in this second? */
static bool
has_leave(struct log *l)
{
	uint64_t now = clock_now_ns();

	if (now - l->second_ns >= NS_PER_S) {
		if (l->fd < 0)
			open_file(l);
		confess(l);
		l->second_ns = now;
		l->nr_lines = 0;
	}
	if (l->nr_lines < LINES_A_SECOND) {
		l->nr_lines++;
		return true;
	}
	l->nr_left_out++;
	return false;
}

void
log_line(struct log *l, enum log_level level, const char *fmt, ...)
{
	char raw[LINE_SIZE], clean[LINE_SIZE];
	va_list ap;

	must_be(l, LOG_MAGIC);
	if (level > l->most || !has_leave(l))
		return;
	va_start(ap, fmt);
	if (vsnprintf(raw, sizeof raw, fmt, ap) < 0)
		raw[0] = '\0';
	va_end(ap);
	text_clean(clean, sizeof clean, raw);
	write_line(l, level, clean);
}

void
log_free(struct log **lp)
{
	struct log *l = *lp;

	*lp = NULL;
	must_be(l, LOG_MAGIC);
	confess(l);
	io_close(&l->fd);
	io_close(&l->dir);
	l->magic = 0;
	free(l);
}

int
log_parse_level(const char *text, enum log_level *level, struct ds_err *err)
{
	if (strcmp(text, "quiet") == 0) {
		*level = LOG_ERROR;
		return 0;
	}
	for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++) {
		if (strcmp(text, levels[i]) == 0) {
			*level = (enum log_level)i;
			return 0;
		}
	}
	return err_fail(err, -EINVAL,
	    "'%s' is not quiet, error, warn, info or debug", text);
}
