/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger.c: what a job was given, written down.  Runs in clients.
 */

#include <config.h>

#include "loader/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/err.h"
#include "base/io.h"
#include "base/must.h"
#include "loader/ledger_line.h"
#include "loader/lines.h"

#define LEDGER_MAGIC	0x1ed9e5a1u
#define BUFFER		(64u << 10)

struct ledger {
	unsigned	magic;
	int		fd;
	dev_t		dev;		/* and its inode: the program that we */
	ino_t		ino;		/* are a guest in may close it, and */
					/* have another under its number */
	bool		is_file;	/* a regular one: it can be cut */
	int		failed;		/* the first -errno */
	uint64_t	ranks;		/* that share the order */
	char		*path;
	size_t		used;
	char		buf[BUFFER];
};

static int
fail_call(const struct ledger *l, int rc, struct ds_err *err)
{
	errno = -rc;
	return err_errno(err, "ledger %s", l->path);
}

static bool
is_ours(const struct ledger *l)
{
	struct stat st;

	return fstat(l->fd, &st) == 0 && st.st_dev == l->dev &&
	    st.st_ino == l->ino;
}

/*--- opening -------------------------------------------------------------*/

/* A lock that the file system has none of is done without. */
static int
lock_file(struct ledger *l, struct ds_err *err)
{
	if (flock(l->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	return err_fail(err, -EBUSY, "ledger %s: another job writes it, "
	    "or a child of the one that did: every job has its own", l->path);
}

static int
begin_file(struct ledger *l, bool append, off_t size, struct ds_err *err)
{
	int rc = lock_file(l, err);

	if (rc == 0 && size > 0 && !append)
		rc = err_fail(err, -EEXIST, "ledger %s: it has lines "
		    "already: only a job that resumes adds to it", l->path);
	return rc;
}

/* Writing is never in the way of a pipe's reader, but waits for it. */
static int
open_file(struct ledger *l, bool append, struct ds_err *err)
{
	struct stat st;
	int flags, rc;

	l->fd = open(l->path, (append ? O_RDWR : O_WRONLY) | O_CREAT |
	    O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	if (l->fd < 0)
		return fail_call(l, -errno, err);
	l->fd = io_out_of_the_way(l->fd);
	flags = fcntl(l->fd, F_GETFL);
	if (fstat(l->fd, &st) != 0 || flags < 0 ||
	    fcntl(l->fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
		rc = fail_call(l, -errno, err);
		io_close(&l->fd);	/* not known yet: is_ours() */
		return rc;
	}
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	l->is_file = S_ISREG(st.st_mode);
	return l->is_file ? begin_file(l, append, st.st_size, err) : 0;
}

int
ledger_open(struct ledger **out, const char *path, bool append,
    uint64_t ranks, struct ds_err *err)
{
	struct ledger *l = calloc(1, sizeof *l);
	int rc;

	if (l == NULL)
		return err_fail(err, -ENOMEM, "ledger %s: no memory", path);
	l->magic = LEDGER_MAGIC;
	l->fd = -1;
	l->ranks = ranks;
	l->path = strdup(path);
	if (l->path == NULL)
		rc = err_fail(err, -ENOMEM, "ledger %s: no memory", path);
	else
		rc = open_file(l, append, err);
	if (rc < 0) {
		(void)ledger_close(&l, NULL);
		return rc;
	}
	*out = l;
	return 0;
}

int
ledger_close(struct ledger **lp, struct ds_err *err)
{
	struct ledger *l = *lp;
	int rc = 0;

	if (l == NULL)
		return 0;
	must_be(l, LEDGER_MAGIC);
	*lp = NULL;
	/* Some file systems say only now that there was no room. */
	if (l->fd >= 0 && is_ours(l) && close(l->fd) != 0 && errno != EINTR)
		rc = fail_call(l, -errno, err);
	free(l->path);
	l->magic = 0;
	free(l);
	return rc;
}

/*--- going on ------------------------------------------------------------*/

/* Can a line have been torn here, within its three numbers or behind them?
 * What somebody else wrote is not cut. */
static bool
is_begun(const char *text, size_t len)
{
	const char *end = text + len;

	for (int i = 0; i < 3; i++) {
		size_t digits = strspn(text, "0123456789");

		text += digits;
		if (text == end)
			return true;
		if (digits == 0 || *text++ != ' ')
			return false;
	}
	return true;
}

static void
set_last(struct ledger_end *end, const struct ledger_line *line)
{
	end->has_last = true;
	end->epoch = line->epoch;
	end->position = line->position;
	memcpy(end->sample, line->sample, line->sample_len);
	end->sample[line->sample_len] = '\0';
}

/* A place in a stream. */
struct from {
	const struct plan *plan;
	const struct plan_place *at;
};

/* By the order of delivery, which is that of the positions unless the epoch was
 * joined late. */
static bool
is_behind(const struct ledger_line *line, const struct from *from)
{
	const struct plan_place *at = from->at;

	return line->epoch > at->epoch || (line->epoch == at->epoch &&
	    plan_behind(from->plan, at, line->position) >= at->turn);
}

/* Is a line of a place or behind it?  A torn one is: it is delivered again. */
static int
judge_line(struct ledger *l, const struct lines *lines, const char *text,
    size_t len, const struct from *from, struct ledger_end *end,
    struct ds_err *err)
{
	struct ledger_line line;
	const char *fault;

	if (lines->torn && is_begun(text, len))
		return true;
	fault = ledger_line_parse(&line, text, len);
	if (fault != NULL)
		return err_fail(err, -EBADMSG, "ledger %s: line %llu: %s",
		    l->path, (unsigned long long)lines->number, fault);
	if (is_behind(&line, from))
		return true;
	set_last(end, &line);
	return false;
}

static int
find_end(struct ledger *l, struct lines *lines, const struct from *from,
    struct ledger_end *end, struct ds_err *err)
{
	int rc, behind, was_behind = false;
	size_t len = 0;
	char *text = NULL;

	while ((rc = lines_next(lines, &text, &len)) == 1) {
		behind = judge_line(l, lines, text, len, from, end, err);
		if (behind < 0)
			return behind;
		if (was_behind && !behind)
			return err_fail(err, -EBADMSG, "ledger %s: line %llu "
			    "is of a place before that of line %llu: is it "
			    "another job's?", l->path,
			    (unsigned long long)lines->number,
			    (unsigned long long)lines->number - 1);
		if (!behind)
			end->at = (int64_t)lines->next_offset;
		was_behind = behind;
	}
	if (rc == -E2BIG)
		return err_fail(err, -EBADMSG, "ledger %s: line %llu is too "
		    "long", l->path, (unsigned long long)lines->number);
	return rc < 0 ? fail_call(l, rc, err) : 0;
}

int
ledger_find(struct ledger *l, const struct plan *p,
    const struct plan_place *at, struct ledger_end *end, struct ds_err *err)
{
	struct from from = { p, at };
	struct lines lines;
	int rc;

	must_be(l, LEDGER_MAGIC);
	end->at = 0;
	end->has_last = false;
	if (!l->is_file)
		return 0;
	if (lseek(l->fd, 0, SEEK_SET) < 0)
		return fail_call(l, -errno, err);
	if (lines_init(&lines, l->fd, LEDGER_LINE_MAX) < 0)
		return err_fail(err, -ENOMEM, "ledger %s: no memory", l->path);
	rc = find_end(l, &lines, &from, end, err);
	lines_fini(&lines);
	return rc;
}

bool
ledger_ends_with(const struct ledger_end *end, const char *name, uint64_t item)
{
	char text[LEDGER_LINE_MAX];
	struct ledger_line line = { .epoch = 0 };
	size_t len = ledger_line_put(text, &line, name, item);

	return ledger_line_parse(&line, text, len - 1) == NULL &&
	    strlen(end->sample) == line.sample_len &&
	    memcmp(end->sample, line.sample, line.sample_len) == 0;
}

int
ledger_cut(struct ledger *l, const struct ledger_end *end, struct ds_err *err)
{
	must_be(l, LEDGER_MAGIC);
	if (l->is_file && ftruncate(l->fd, (off_t)end->at) != 0)
		return fail_call(l, -errno, err);
	return 0;
}

/*--- writing -------------------------------------------------------------*/

static int
flush(struct ledger *l)
{
	int rc = is_ours(l) ? io_write_quiet(l->fd, l->buf, l->used) : -EBADF;

	l->used = 0;
	return rc;
}

/* Only whole lines are ever handed over. */
static int
put_line(struct ledger *l, const struct ledger_line *line, const char *name,
    uint64_t item)
{
	int rc = 0;

	if (BUFFER - l->used < LEDGER_LINE_MAX)
		rc = flush(l);
	if (rc == 0)
		l->used += ledger_line_put(l->buf + l->used, line, name, item);
	return rc;
}

static int
put_item(struct ledger *l, const struct ledger_line *line,
    const struct ds_data *data, uint64_t item)
{
	struct ds_info info = { .name = NULL };

	if (ds_data_info(data, item, &info) < 0)
		info.name = NULL;
	return put_line(l, line, info.name, item);
}

static int
put_batch(struct ledger *l, const struct ds_batch *b,
    const struct ds_data *data, const struct ledger_skip *skips, size_t nr)
{
	const char *samples = b->samples;
	uint32_t i = 0;
	size_t k = 0;
	int rc = 0;

	while (rc == 0 && (i < b->count || k < nr)) {
		bool skip = i == b->count ||
		    (k < nr && skips[k].before <= i);
		struct ledger_line line = {
			.epoch = b->epoch, .batch = b->number, .skipped = skip,
			.position = (skip ? skips[k].position :
			    b->positions[i]) / l->ranks,
			.crc = skip ? 0 : crc32c(0, samples +
			    i * b->sample_bytes, b->sample_bytes),
		};

		rc = put_item(l, &line, data, skip ? skips[k].item :
		    b->items[i]);
		if (skip)
			k++;
		else
			i++;
	}
	return rc < 0 ? rc : flush(l);
}

int
ledger_batch(struct ledger *l, const struct ds_batch *batch,
    const struct ds_data *data, const struct ledger_skip *skips,
    size_t nr_skips, struct ds_err *err)
{
	must_be(l, LEDGER_MAGIC);
	if (l->failed == 0)
		l->failed = put_batch(l, batch, data, skips, nr_skips);
	return ledger_failed(l, err);
}

int
ledger_put(struct ledger *l, const struct ledger_line *line, const char *name,
    uint64_t item, struct ds_err *err)
{
	must_be(l, LEDGER_MAGIC);
	if (l->failed == 0)
		l->failed = put_line(l, line, name, item);
	return ledger_failed(l, err);
}

int
ledger_flush(struct ledger *l, int64_t *size, struct ds_err *err)
{
	struct stat st;

	must_be(l, LEDGER_MAGIC);
	if (l->failed == 0)
		l->failed = flush(l);
	if (l->failed == 0 && fstat(l->fd, &st) != 0)
		l->failed = -errno;
	if (l->failed == 0)
		*size = (int64_t)st.st_size;
	return ledger_failed(l, err);
}

int
ledger_failed(const struct ledger *l, struct ds_err *err)
{
	must_be(l, LEDGER_MAGIC);
	if (l->failed == 0)
		return 0;
	return err_hint(err, fail_call(l, l->failed, err), "what the job is "
	    "given is not written down any more");
}
