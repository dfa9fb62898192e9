/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_run.c: one run of `destall gen`.  Runs in the command only.
 *
 * The main thread waits for two descriptors: that of the pool, and one for the
 * signals that ask to stop.  These are blocked in all threads while there is
 * something to finish; after the first, the next one kills as usual.
 */

#include <config.h>

#include "tool/gen_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"
#include "base/progress.h"
#include "tool/gen_pool.h"
#include "tool/gen_set.h"
#include "tool/gen_tar.h"
#include "tool/gen_threads.h"

#define REDRAW_MS	100

/*--- signals -------------------------------------------------------------*/

struct stopper {
	sigset_t	before;		/* the mask to go back to */
	int		fd;
	struct sigaction too_large;	/* what SIGXFSZ did */
};

/* Those that ask a program to end, unless our parent had us ignore them, as
 * nohup does. */
static void
choose_signals(sigset_t *set)
{
	static const int asks[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;

	sigemptyset(set);
	for (unsigned i = 0; i < sizeof asks / sizeof asks[0]; i++) {
		if (sigaction(asks[i], NULL, &now) == 0 &&
		    now.sa_handler != SIG_IGN)
			sigaddset(set, asks[i]);
	}
}

static int
open_stopper(struct stopper *s, struct ds_err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;

	choose_signals(&set);
	must(pthread_sigmask(SIG_BLOCK, &set, &s->before) == 0);
	/* A limit on the size of files shall be an error, not the end. */
	must(sigaction(SIGXFSZ, &ignore, &s->too_large) == 0);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0)
		return err_errno(err, "cannot make a signalfd");
	return 0;
}

/* The signal that came, or 0. */
static int
read_stopper(struct stopper *s)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof info) != (ssize_t)sizeof info)
		return 0;
	return (int)info.ssi_signo;
}

static void
close_stopper(struct stopper *s)
{
	io_close(&s->fd);
	must(sigaction(SIGXFSZ, &s->too_large, NULL) == 0);
	must(pthread_sigmask(SIG_SETMASK, &s->before, NULL) == 0);
}

void
gen_run_die(int signal_number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal_number);
	(void)signal(signal_number, SIG_DFL);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(signal_number);
}

/*--- the work ------------------------------------------------------------*/

/* Until the pool has ended; the signal that asked for it, or 0. */
static int
watch_pool(struct gen_pool *pool, struct stopper *s, uint64_t found,
    uint64_t count)
{
	struct pollfd fds[2] = {
		{ .fd = gen_pool_fd(pool), .events = POLLIN },
		{ .fd = s->fd, .events = POLLIN },
	};
	struct progress progress;
	int stopped_by = 0;

	progress_start(&progress, "gen", "images", found, count);
	while (!gen_pool_is_over(pool)) {
		(void)poll(fds, 2, REDRAW_MS);
		if (stopped_by == 0 && (stopped_by = read_stopper(s)) != 0) {
			gen_pool_stop(pool);
			must(pthread_sigmask(SIG_SETMASK, &s->before,
			    NULL) == 0);
			fds[1].fd = -1;
		}
		progress_at(&progress, found + gen_pool_made(pool));
	}
	progress_end(&progress);
	return stopped_by;
}

static int
run_pool(struct gen_task *task, struct gen_outcome *out, struct ds_err *err)
{
	uint64_t missing = task->count - out->found;
	struct gen_pool *pool;
	struct stopper stopper;
	int rc;

	if (task->threads > missing)
		task->threads = (unsigned)missing;
	out->threads = task->threads;
	rc = open_stopper(&stopper, err);
	if (rc == 0)
		rc = gen_pool_start(&pool, task, err);
	if (rc == 0) {
		out->signal = watch_pool(pool, &stopper, out->found,
		    task->count);
		out->made = gen_pool_made(pool);
		rc = gen_pool_join(&pool, &out->sizes, err);
	}
	close_stopper(&stopper);
	return rc;
}

static int
run_files(struct gen_task *task, struct gen_outcome *out, struct ds_err *err)
{
	uint8_t *found = calloc(task->count, 1);
	int rc;

	if (found == NULL)
		return err_fail(err, -ENOMEM, "no memory for the list of "
		    "images");
	rc = gen_set_scan(task->set, task->count, found, &out->sizes, err);
	out->found = out->sizes.count;
	task->found = found;
	if (rc == 0 && out->found < task->count)
		rc = run_pool(task, out, err);
	out->there = out->found + out->made;
	free(found);
	return rc;
}

/* The last shard stays open for more until it is known that the next member
 * does not fit. */
static int
resume_shards(struct gen_tar *tar, const struct gen_plan *plan,
    struct ds_err *err)
{
	uint64_t size;
	int rc;

	if (tar->shard == 0)
		return 0;
	rc = gen_pool_measure(plan, tar->next, &size, err);
	if (rc == 0)
		gen_tar_resume(tar, size);
	return rc;
}

static int
write_shards(struct gen_task *task, struct gen_outcome *out,
    struct ds_err *err)
{
	struct gen_tar *tar = task->tar;
	int rc;

	rc = resume_shards(tar, task->plan, err);
	if (rc < 0)
		return rc;
	out->found = task->first = tar->next;
	rc = run_pool(task, out, err);
	if (rc == 0 && tar->next == task->count)
		rc = gen_tar_finish(tar, err);
	gen_tar_abandon(tar);
	return rc;
}

static int
run_shards(struct gen_task *task, struct gen_outcome *out, struct ds_err *err)
{
	struct gen_tar tar;
	struct ds_err later;
	int rc;

	task->tar = &tar;
	rc = gen_tar_scan(&tar, task->set, task->count, &out->sizes, err);
	if (rc < 0)
		return rc;
	out->found = out->there = tar.finished;
	if (tar.next < task->count) {
		rc = write_shards(task, out, err);
		/* Counted from what is there: a begun shard is not. */
		hist_init(&out->sizes);
		if (gen_tar_scan(&tar, task->set, task->count, &out->sizes,
		    rc < 0 ? &later : err) < 0 && rc == 0)
			rc = err->code;
		out->there = tar.finished;
	}
	out->shards = tar.shard;
	return rc;
}

int
gen_run(const struct gen_plan *plan, const char *path, uint64_t count,
    unsigned threads, struct gen_outcome *out, struct ds_err *err)
{
	uint64_t start_ns = clock_now_ns();
	struct gen_set set;
	struct gen_task task = {
		.plan = plan, .set = &set, .count = count,
		.threads = threads > 0 ? threads :
		    gen_threads_choose("/", gen_threads_memory(plan)),
	};
	int rc;

	*out = (struct gen_outcome){ .threads = task.threads };
	hist_init(&out->sizes);
	rc = gen_set_open(&set, path, plan, err);
	if (rc < 0)
		return rc;
	rc = plan->shard_bytes > 0 ? run_shards(&task, out, err) :
	    run_files(&task, out, err);
	gen_set_close(&set);
	out->elapsed_ns = clock_now_ns() - start_ns;
	return rc;
}
