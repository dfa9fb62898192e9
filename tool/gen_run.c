/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_run.c: one run of `destall gen`.  Runs in the command only.
 *
 * The main thread looks at what is there, then waits for two descriptors: that
 * of the pool, and that of the signals that ask to stop.
 */

#include <config.h>

#include "tool/gen_run.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/progress.h"
#include "base/stop.h"
#include "tool/gen_pool.h"
#include "tool/gen_scan.h"
#include "tool/gen_set.h"
#include "tool/gen_tar.h"
#include "tool/gen_threads.h"

#define REDRAW_MS	100

struct run {
	const struct gen_request *ask;
	struct gen_outcome *out;
	struct gen_set	set;
	struct gen_task	task;
	struct stop	stop;
	struct progress	progress;
	bool		is_done;	/* all is made, it is only counted */
};

/*--- looking -------------------------------------------------------------*/

static bool
look_up(void *arg, uint64_t nr)
{
	struct run *r = arg;

	progress_at(&r->progress, nr);
	return stop_look(&r->stop) == 0 || r->is_done;
}

/* What is there, into the outcome; 1 if a signal came. */
static int
look(struct run *r, struct gen_found *f, struct gen_tar *tar,
    struct ds_err *err)
{
	int rc;

	f->seen = look_up;
	f->arg = r;
	progress_start(&r->progress, "gen: looking", "images", 0,
	    r->ask->count);
	rc = tar != NULL ? gen_tar_scan(tar, &r->set, f, err) :
	    gen_scan(&r->set, f, err);
	progress_end(&r->progress);
	r->out->is_counted = rc == 0;
	r->out->there = f->sizes.count;
	r->out->in_set = f->in_set;
	r->out->sizes = f->sizes;
	return rc;
}

/*--- the work ------------------------------------------------------------*/

/* Until the pool has ended. */
static void
watch_pool(struct run *r, struct gen_pool *pool)
{
	struct pollfd fds[2] = {
		{ .fd = gen_pool_fd(pool), .events = POLLIN },
		{ .fd = r->stop.fd, .events = POLLIN },
	};
	unsigned in_work;

	progress_start(&r->progress, "gen", "images", r->out->found,
	    r->ask->count);
	while (!gen_pool_is_over(pool)) {
		(void)poll(fds, 2, REDRAW_MS);
		if (stop_look(&r->stop) != 0) {
			in_work = gen_pool_stop(pool);
			fds[1].fd = -1;
			progress_end(&r->progress);
			if (in_work > 0)
				r->ask->stopping(in_work);
		}
		if (r->stop.signal == 0)
			progress_at(&r->progress, r->out->found +
			    gen_pool_made(pool));
	}
	progress_end(&r->progress);
}

static int
run_pool(struct run *r, struct ds_err *err)
{
	uint64_t missing = r->ask->count - r->out->found;
	struct gen_pool *pool;
	int rc;

	if (r->task.threads > missing)
		r->task.threads = (unsigned)missing;
	r->out->threads = r->task.threads;
	rc = gen_pool_start(&pool, &r->task, err);
	if (rc < 0)
		return rc;
	watch_pool(r, pool);
	r->out->made = gen_pool_made(pool);
	return gen_pool_join(&pool, &r->out->sizes, err);
}

static int
run_files(struct run *r, struct ds_err *err)
{
	struct gen_outcome *out = r->out;
	struct gen_found f;
	int rc;

	rc = gen_found_init(&f, r->ask->count, true, err);
	if (rc == 0)
		rc = look(r, &f, NULL, err);
	out->found = out->there;
	if (rc == 0 && out->found < r->ask->count) {
		r->task.found = f.bits;
		rc = run_pool(r, err);
	}
	out->there += out->made;
	out->in_set += out->made;
	gen_found_fini(&f);
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
write_shards(struct run *r, struct ds_err *err)
{
	struct gen_tar *tar = r->task.tar;
	int rc;

	rc = resume_shards(tar, r->ask->plan, err);
	if (rc < 0)
		return rc;
	r->out->found = r->task.first = tar->next;
	rc = run_pool(r, err);
	if (rc == 0 && tar->next == r->ask->count)
		rc = gen_tar_finish(tar, err);
	r->is_done = rc == 0 && tar->next == r->ask->count;
	gen_tar_abandon(tar);
	return rc;
}

/* Counted from what is there: a begun shard is not. */
static int
count_shards(struct run *r, struct ds_err *err)
{
	struct gen_found f;
	int rc;

	rc = gen_found_init(&f, r->ask->count, false, err);
	if (rc == 0)
		rc = look(r, &f, r->task.tar, err);
	r->out->shards = r->task.tar->shard;
	return rc;
}

static int
run_shards(struct run *r, struct ds_err *err)
{
	struct gen_outcome *out = r->out;
	struct ds_err later;
	struct gen_tar tar;
	int rc, again;

	r->task.tar = &tar;
	rc = count_shards(r, err);
	out->found = out->there;
	if (rc != 0 || tar.next >= r->ask->count)
		return rc;
	rc = write_shards(r, err);
	again = count_shards(r, rc < 0 ? &later : err);
	if (rc < 0 || again != 0)
		return rc < 0 ? rc : again;
	if (out->there < r->ask->count && r->stop.signal == 0)
		return err_fail(err, -ESTALE, "shards in %s were moved or "
		    "removed while gen was at work: run the same command "
		    "again", r->ask->path);
	return 0;
}

/* A folder that is not where it was explains other failures. */
static int
check_end(struct run *r, int rc, struct ds_err *err)
{
	struct ds_err gone;

	if (rc < 0 && rc != -ENOENT && rc != -ESTALE)
		return rc;
	if (gen_set_check(&r->set, &gone) == 0)
		return rc;
	*err = gone;
	return gone.code;
}

int
gen_run(const struct gen_request *ask, struct gen_outcome *out,
    struct ds_err *err)
{
	uint64_t start_ns = clock_now_ns();
	struct run r = { .ask = ask, .out = out };
	int rc;

	*out = (struct gen_outcome){ .threads = ask->threads > 0 ?
	    ask->threads :
	    gen_threads_choose("/", gen_threads_memory(ask->plan)) };
	hist_init(&out->sizes);
	r.task = (struct gen_task){ .plan = ask->plan, .set = &r.set,
	    .count = ask->count, .threads = out->threads };
	rc = gen_set_open(&r.set, ask->path, ask->plan, err);
	if (rc < 0)
		return rc;
	rc = stop_open(&r.stop, err);
	if (rc == 0)
		rc = ask->plan->shard_bytes > 0 ? run_shards(&r, err) :
		    run_files(&r, err);
	out->signal = stop_close(&r.stop);
	rc = check_end(&r, rc, err);
	gen_set_close(&r.set);
	/* Who asked us to stop wants no more than what is done already. */
	if (out->is_counted && out->there == ask->count)
		out->signal = 0;
	out->elapsed_ns = clock_now_ns() - start_ns;
	return rc < 0 ? rc : 0;
}
