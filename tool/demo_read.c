/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_read.c: the demo's jobs.  Runs in the command, and in the jobs it
 * forks.
 *
 * Between the command and a job is a socket: the command writes a byte to
 * begin an epoch, the job answers with what it did; the end of the connection
 * is the end of the job.
 */

#include <config.h>

#include "tool/demo_read.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/io.h"
#include "cache/survey.h"
#include "destall.h"
#include "tool/gen_rng.h"

struct report {			/* of one job and epoch */
	struct demo_epoch epoch;
	struct ds_err	err;		/* code 0: none */
};

/*--- a job ---------------------------------------------------------------*/

struct job {
	const struct demo_reading *r;
	unsigned	rank;
	struct ds_hub	*hub;
	struct ds_data	*data;
};

/* Adding makes the order of items, and who read which, of no account. */
static uint64_t
digest_item(uint32_t i, const struct ds_item *item)
{
	return gen_rng_mix((uint64_t)i << 32 |
	    crc32c(0, item->bytes, item->len));
}

static int
read_share(struct job *j, unsigned epoch, struct demo_epoch *e,
    struct ds_err *err)
{
	const struct demo_law *l = j->r->law;
	struct ds_item item;
	uint32_t i;
	int rc;

	for (uint32_t at = j->rank; at < l->items; at += j->r->jobs) {
		i = l->order[epoch][at];
		rc = ds_get(j->data, i, &item, err);
		if (rc < 0)
			return rc;
		e->gets++;
		e->digest += digest_item(i, &item);
		ds_put(j->data, &item);
	}
	return 0;
}

static void
read_epoch(struct job *j, unsigned epoch, struct report *out)
{
	struct ds_counts before, after;
	struct demo_epoch *e = &out->epoch;

	*out = (struct report){ 0 };
	ds_data_epoch(j->data);
	ds_data_counts(j->data, &before);
	if (read_share(j, epoch, e, &out->err) < 0)
		return;
	ds_data_counts(j->data, &after);
	e->hits = after.hits - before.hits;
	e->reads = after.storage_reads - before.storage_reads;
	e->read_bytes = after.storage_bytes - before.storage_bytes;
	if (j->hub != NULL && after.cached == 0)
		(void)err_fail(&out->err, -ESTALE, "the hub does not serve "
		    "the data set");
}

static int
open_job(struct job *j, struct ds_err *err)
{
	int rc = 0;

	if (j->r->share != NULL)
		rc = ds_connect(&j->hub, DS_NO_START, err);
	return rc < 0 ? rc : ds_data_open(&j->data, j->hub, j->r->uri,
	    j->r->share, err);
}

_Noreturn static void
be_job(struct job *j, int sock)
{
	struct report out = { 0 };
	unsigned epoch = 0;
	char go;

	if (open_job(j, &out.err) < 0) {
		(void)io_write_all(sock, &out, sizeof out);
		_exit(1);
	}
	while (epoch < j->r->epochs &&
	    io_read_all(sock, &go, sizeof go) == (ssize_t)sizeof go) {
		read_epoch(j, epoch++, &out);
		if (io_write_all(sock, &out, sizeof out) < 0)
			break;
	}
	(void)io_read_all(sock, &go, sizeof go);	/* its end */
	ds_data_close(&j->data);
	ds_disconnect(&j->hub);
	_exit(0);
}

/*--- all jobs ------------------------------------------------------------*/

struct crew {
	const struct demo_reading *r;
	unsigned	nr;
	pid_t		pid[DEMO_JOBS_MAX];
	struct pollfd	fds[DEMO_JOBS_MAX + 1];	/* and the signals */
};

static int
start_job(struct crew *c, struct ds_err *err)
{
	struct job j = { .r = c->r, .rank = c->nr };
	pid_t parent = getpid(), pid;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return err_errno(err, "demo: cannot make a socket");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		for (unsigned i = 0; i < c->nr; i++)
			io_close(&c->fds[i].fd);
		io_close(&pair[0]);
		be_job(&j, pair[1]);
	}
	io_close(&pair[1]);
	if (pid < 0) {
		(void)err_errno(err, "demo: cannot fork");
		io_close(&pair[0]);
		return err != NULL ? err->code : -EAGAIN;
	}
	c->pid[c->nr] = pid;
	c->fds[c->nr++] = (struct pollfd){ .fd = pair[0], .events = POLLIN };
	return 0;
}

static void
end_jobs(struct crew *c, bool now)
{
	for (unsigned i = 0; i < c->nr; i++) {
		io_close(&c->fds[i].fd);
		if (now)
			(void)kill(c->pid[i], SIGKILL);
		while (waitpid(c->pid[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
	c->nr = 0;
}

static int
take_report(struct crew *c, unsigned i, struct demo_epoch *sum,
    struct ds_err *err)
{
	struct report got;

	if (io_read_all(c->fds[i].fd, &got, sizeof got) !=
	    (ssize_t)sizeof got)
		return err_fail(err, -ECHILD, "demo: a job died");
	if (got.err.code < 0)
		return err_fail(err, got.err.code, "%s", got.err.text);
	sum->gets += got.epoch.gets;
	sum->hits += got.epoch.hits;
	sum->reads += got.epoch.reads;
	sum->read_bytes += got.epoch.read_bytes;
	sum->digest += got.epoch.digest;
	*c->r->done += got.epoch.gets;
	return 0;
}

/* Until every job has told of its epoch. */
static int
run_epoch(struct crew *c, struct demo_epoch *sum, struct ds_err *err)
{
	bool told[DEMO_JOBS_MAX] = { false };
	unsigned left = c->nr;
	int rc;

	*sum = (struct demo_epoch){ 0 };
	for (unsigned i = 0; i < c->nr; i++) {
		/* One that died says so below. */
		(void)send(c->fds[i].fd, "g", 1, MSG_NOSIGNAL);
	}
	while (left > 0) {
		(void)poll(c->fds, c->nr + 1, 100);
		if (stop_look(c->r->stop) != 0)
			return err_fail(err, -EINTR, "demo: stopped");
		for (unsigned i = 0; i < c->nr; i++) {
			if (told[i] || c->fds[i].revents == 0)
				continue;
			rc = take_report(c, i, sum, err);
			if (rc < 0)
				return rc;
			told[i] = true;
			left--;
		}
		progress_at(c->r->progress, *c->r->done);
	}
	return 0;
}

/*--- what is held --------------------------------------------------------*/

static int
ask_held(struct demo_held *held, struct ds_err *err)
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
		rc = err_fail(err, -EBADMSG, "demo: its hub tells of %zu data "
		    "sets", s.nr_sets);
	if (rc == 0) {
		word = s.sets[0].word;
		*held = (struct demo_held){
			.items = word[CACHE_STAT_CACHED_ITEMS],
			.bytes = word[CACHE_STAT_CACHED_BYTES],
			.cap_bytes = word[CACHE_STAT_CAP_BYTES],
			.storage_reads = word[CACHE_STAT_STORAGE_READS],
		};
	}
	survey_fini(&s);
	return rc;
}

int
demo_read(const struct demo_reading *r, struct demo_epoch *epochs,
    struct demo_held *held, struct ds_err *err)
{
	struct crew c = { .r = r };
	int rc = 0;

	while (rc == 0 && c.nr < r->jobs)
		rc = start_job(&c, err);
	c.fds[c.nr] = (struct pollfd){ .fd = r->stop->fd, .events = POLLIN };
	for (unsigned e = 0; rc == 0 && e < r->epochs; e++)
		rc = run_epoch(&c, &epochs[e], err);
	if (rc == 0 && r->share != NULL)
		rc = ask_held(held, err);
	end_jobs(&c, rc < 0);
	return rc;
}
