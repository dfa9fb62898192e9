/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_read.c: the demo's reader, with and without destall.  Runs in the
 * command; the reader is processes of its own.
 */

#include <config.h>

#include "tool/demo_read.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/io.h"
#include "base/parse.h"
#include "cache/survey.h"
#include "tool/demo_reader.h"

#define BUFFER_BYTES	((size_t)256 << 10)

struct reader {
	const struct demo_reading *r;
	struct demo_reader process;
	pid_t	shell;		/* of it */
	char	*buffer;
	struct cache_counts {
		uint64_t hits, reads;
	} before;
	struct demo_held held;
};

/*--- what it prints ------------------------------------------------------*/

struct print {
	const struct demo_law *law;
	const uint32_t	*order;
	uint32_t	at;		/* of the order */
	uint64_t	left;		/* of this item */
	uint32_t	crc;		/* of it so far */
	bool		too_much;
	struct demo_epoch *sum;
};

static void
take_bytes(struct print *p, const char *bytes, size_t len)
{
	size_t n;

	while (len > 0 && p->at < p->law->items) {
		if (p->left == 0)
			p->left = p->law->size[p->order[p->at]];
		n = len < p->left ? len : (size_t)p->left;
		p->crc = crc32c(p->crc, bytes, n);
		p->left -= n;
		bytes += n;
		len -= n;
		if (p->left > 0)
			return;
		p->sum->digest += demo_digest(p->order[p->at++], p->crc);
		p->sum->items++;
		p->crc = 0;
	}
	p->too_much |= len > 0;
}

/* All that is there.  1: the end. */
static int
drain(struct reader *d, struct print *p, struct ds_err *err)
{
	ssize_t n;

	for (;;) {
		n = read(d->process.out, d->buffer, BUFFER_BYTES);
		if (n == 0)
			return 1;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_errno(err, "demo: the reader's output");
		if (n > 0)
			take_bytes(p, d->buffer, (size_t)n);
	}
}

/* Until it tells something: a line of at most size - 1 bytes. */
static int
await_line(struct reader *d, struct print *p, char *line, size_t size,
    struct ds_err *err)
{
	struct pollfd fds[] = {
		{ .fd = d->process.told, .events = POLLIN },
		{ .fd = d->process.out, .events = POLLIN },
		{ .fd = d->r->stop->fd, .events = POLLIN },
	};
	size_t len = 0;
	int rc;

	for (;;) {
		(void)poll(fds, 3, -1);
		if (stop_look(d->r->stop) != 0)
			return err_fail(err, -EINTR, "demo: stopped");
		rc = drain(d, p, err);
		if (rc < 0)
			return rc;
		if (rc > 0)
			fds[1].fd = -1;
		progress_at(d->r->progress, *d->r->done + p->sum->items);
		if (fds[0].revents == 0)
			continue;
		if (len + 1 == size || read(d->process.told, &line[len], 1) != 1)
			return demo_reader_fail(&d->process, err);
		if (line[len] == '\n')
			break;
		len++;
	}
	line[len] = '\0';
	/* It told so after its last byte. */
	rc = drain(d, p, err);
	return rc < 0 ? rc : 0;
}

/*--- what was read -------------------------------------------------------*/

/* Of the shell and all that it has waited for. */
static uint64_t
count_storage(const struct reader *d)
{
	static const char key[] = "\nread_bytes: ";
	char path[64], text[512], *at;
	uint64_t bytes;

	(void)snprintf(path, sizeof path, "/proc/%d/io", (int)d->shell);
	if (io_read_text(AT_FDCWD, path, text, sizeof text) < 0)
		return DEMO_NOT_COUNTED;
	at = strstr(text, key);
	if (at == NULL)
		return DEMO_NOT_COUNTED;
	at += sizeof key - 1;
	at[strcspn(at, "\n")] = '\0';
	return parse_count(at, 0, INT64_MAX, &bytes, NULL) < 0 ?
	    DEMO_NOT_COUNTED : bytes;
}

static int
ask_hub(struct reader *d, struct cache_counts *now, struct ds_err *err)
{
	const uint64_t *word;
	struct survey s = { 0 };
	struct link *l;
	int rc = link_new(&l, false, err);

	if (rc < 0)
		return rc;
	rc = survey_take(&s, l, err);
	link_free(&l);
	if (rc == 0 && s.nr_sets != 1)
		rc = err_fail(err, -EBADMSG, "it tells of %zu data sets",
		    s.nr_sets);
	if (rc == 0) {
		word = s.sets[0].word;
		*now = (struct cache_counts){
			.hits = word[CACHE_STAT_HITS],
			.reads = word[CACHE_STAT_STORAGE_READS],
		};
		d->held = (struct demo_held){
			.items = word[CACHE_STAT_CACHED_ITEMS],
			.bytes = word[CACHE_STAT_CACHED_BYTES],
			.cap_bytes = word[CACHE_STAT_CAP_BYTES],
		};
	}
	survey_fini(&s);
	return rc;
}

static int
count_cache(struct reader *d, struct demo_epoch *e, struct ds_err *err)
{
	struct cache_counts now;
	struct ds_err why;
	int rc = ask_hub(d, &now, &why);

	if (rc < 0)
		return err_fail(err, rc, "demo: its hub does not answer: %s",
		    why.text);
	e->hits = now.hits - d->before.hits;
	e->reads = now.reads - d->before.reads;
	d->before = now;
	return 0;
}

/*--- an epoch ------------------------------------------------------------*/

static struct print
expect(const struct reader *d, unsigned epoch, struct demo_epoch *sum)
{
	return (struct print){
		.law = d->r->law, .order = d->r->law->order[epoch],
		.sum = sum,
	};
}

static int
find_shell(struct reader *d, struct ds_err *err)
{
	struct demo_epoch none = { 0 };
	struct print p = expect(d, 0, &none);
	uint64_t pid;
	char line[32];
	int rc = await_line(d, &p, line, sizeof line, err);

	if (rc < 0)
		return rc;
	if (parse_count(line, 1, INT32_MAX, &pid, NULL) < 0)
		return err_fail(err, -EBADMSG, "demo: '%s' is no process",
		    line);
	d->shell = (pid_t)pid;
	return 0;
}

static int
read_epoch(struct reader *d, unsigned epoch, struct demo_epoch *e,
    struct ds_err *err)
{
	uint64_t start_ns, before = count_storage(d), after;
	struct print p = expect(d, epoch, e);
	char name[32], line[2];
	int rc;

	*e = (struct demo_epoch){ .storage_bytes = DEMO_NOT_COUNTED };
	(void)snprintf(name, sizeof name, "../" DEMO_ORDER "\n", epoch + 1);
	start_ns = clock_now_ns();
	/* One that has ended says so below. */
	(void)send(d->process.in, name, strlen(name), MSG_NOSIGNAL);
	rc = await_line(d, &p, line, sizeof line, err);
	if (rc < 0)
		return rc;
	e->elapsed_ns = clock_now_ns() - start_ns;
	after = count_storage(d);
	if (before != DEMO_NOT_COUNTED && after != DEMO_NOT_COUNTED)
		e->storage_bytes = after - before;
	if (p.too_much)
		e->digest = 0;
	*d->r->done += e->items;
	return d->r->share != NULL ? count_cache(d, e, err) : 0;
}

static int
read_all(struct reader *d, struct demo_epoch *epochs, struct ds_err *err)
{
	const struct demo_command command = {
		.data = d->r->place->data, .share = d->r->share,
		.group = d->r->group, .mask = &d->r->stop->before,
	};
	int rc = demo_reader_start(&d->process, &command, err);

	if (rc == 0)
		rc = find_shell(d, err);
	for (unsigned e = 0; rc == 0 && e < d->r->law->epochs; e++) {
		if (e > 0 && d->r->evict)
			rc = demo_data_evict(d->r->data, err);
		if (rc == 0)
			rc = read_epoch(d, e, &epochs[e], err);
	}
	(void)demo_reader_end(&d->process, rc < 0);
	return rc;
}

int
demo_read(const struct demo_reading *r, struct demo_epoch *epochs,
    struct demo_held *held, struct ds_err *err)
{
	struct reader d = { .r = r };
	int rc;

	d.buffer = malloc(BUFFER_BYTES);
	if (d.buffer == NULL)
		return err_fail(err, -ENOMEM, "demo: no memory");
	/* What another has left in the group's page cache would look to the
	 * hub like memory that is in use. */
	rc = demo_data_evict(r->data, err);
	if (rc == 0)
		rc = read_all(&d, epochs, err);
	if (rc == 0 && r->share != NULL)
		*held = d.held;
	free(d.buffer);
	return rc;
}
