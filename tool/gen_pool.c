/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_pool.c: the threads that make the images.  Runs in the command only.
 *
 * One lock guards everything that the threads share; it is held for a few
 * instructions per image, and, with shards, while an image is written.
 */

#include <config.h>

#include "tool/gen_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"
#include "tool/gen_jpeg.h"
#include "tool/gen_picture.h"
#include "tool/gen_scan.h"

#define POOL_MAGIC	0x47504f4cu	/* "GPOL" */

struct worker {
	struct gen_pool	*pool;
	unsigned	number;
	pthread_t	thread;
	pthread_cond_t	turn;	/* of the index i with i % threads == number */
};

struct gen_pool {
	unsigned	magic;
	struct gen_task	task;
	int		fd;
	struct worker	*workers;
	unsigned	nr_workers;	/* slots of turns, one for each thread */
	unsigned	nr_started;

	pthread_mutex_t	lock;		/* guards the rest */
	uint64_t	next;		/* index to take */
	uint64_t	made;
	unsigned	in_work;	/* taken, not made; not after a failure */
	unsigned	running;
	bool		stop;
	int		rc;		/* of the first failure */
	struct ds_err	err;
	struct hist	sizes;
};

/* What a thread makes images with. */
struct maker {
	struct gen_picture *picture;
	struct gen_jpeg	*jpeg;
};

static int
init_maker(struct maker *m, const struct gen_plan *plan, struct ds_err *err)
{
	unsigned width, height;
	int rc;

	*m = (struct maker){ 0 };
	gen_size_max(&plan->size, &width, &height);
	rc = gen_picture_new(&m->picture, width, height, err);
	if (rc == 0)
		rc = gen_jpeg_new(&m->jpeg, err);
	return rc;
}

static void
fini_maker(struct maker *m)
{
	gen_jpeg_free(&m->jpeg);
	gen_picture_free(&m->picture);
}

static int
make_image(struct maker *m, const struct gen_plan *plan, uint64_t index,
    const uint8_t **bytes, size_t *len, struct ds_err *err)
{
	struct gen_image image;

	gen_plan_image(plan, index, &image);
	gen_picture_make(m->picture, plan->seed, index, image.width,
	    image.height);
	return gen_jpeg_encode(m->jpeg, m->picture, (int)plan->quality, bytes,
	    len, err);
}

int
gen_pool_measure(const struct gen_plan *plan, uint64_t index, uint64_t *size,
    struct ds_err *err)
{
	const uint8_t *bytes;
	struct maker m;
	size_t len = 0;
	int rc;

	rc = init_maker(&m, plan, err);
	if (rc == 0)
		rc = make_image(&m, plan, index, &bytes, &len, err);
	fini_maker(&m);
	*size = len;
	return rc;
}

/*--- a thread ------------------------------------------------------------*/

static void
fail_pool(struct gen_pool *p, int rc, const struct ds_err *err)
{
	must(pthread_mutex_lock(&p->lock) == 0);
	if (p->rc == 0) {
		p->rc = rc;
		p->err = *err;
	}
	p->stop = true;
	for (unsigned i = 0; i < p->nr_workers; i++)
		pthread_cond_signal(&p->workers[i].turn);
	must(pthread_mutex_unlock(&p->lock) == 0);
}

static bool
take_index(struct gen_pool *p, uint64_t *index)
{
	bool taken;

	must(pthread_mutex_lock(&p->lock) == 0);
	while (p->task.found != NULL && p->next < p->task.count &&
	    gen_found_has(p->task.found, p->next))
		p->next++;
	taken = !p->stop && p->next < p->task.count;
	if (taken) {
		*index = p->next++;
		p->in_work++;
	}
	must(pthread_mutex_unlock(&p->lock) == 0);
	return taken;
}

/* Appends when all before it are there; then it is the next one's turn.  The
 * indices in work are consecutive, so that their turns differ.  1: another
 * thread failed, and there will be no turn. */
static int
append_in_turn(struct gen_pool *p, uint64_t index, const uint8_t *bytes,
    size_t len, struct ds_err *err)
{
	struct gen_tar *tar = p->task.tar;
	int rc = 1;

	must(pthread_mutex_lock(&p->lock) == 0);
	while (tar->next != index && p->rc == 0)
		must(pthread_cond_wait(&p->workers[index % p->nr_workers].turn,
		    &p->lock) == 0);
	if (p->rc == 0)
		rc = gen_tar_append(tar, bytes, len, err);
	pthread_cond_signal(&p->workers[(index + 1) % p->nr_workers].turn);
	must(pthread_mutex_unlock(&p->lock) == 0);
	return rc;
}

static int
do_image(struct worker *w, struct maker *m, uint64_t index, struct ds_err *err)
{
	struct gen_pool *p = w->pool;
	const uint8_t *bytes;
	size_t len;
	int rc;

	rc = make_image(m, p->task.plan, index, &bytes, &len, err);
	if (rc < 0)
		return rc;
	rc = p->task.tar != NULL ?
	    append_in_turn(p, index, bytes, len, err) :
	    gen_set_put(p->task.set, w->number, index, bytes, len, err);
	if (rc != 0)
		return rc;
	must(pthread_mutex_lock(&p->lock) == 0);
	p->made++;
	p->in_work--;
	hist_add(&p->sizes, len);
	must(pthread_mutex_unlock(&p->lock) == 0);
	return 0;
}

static void
leave_pool(struct gen_pool *p)
{
	uint64_t one = 1;
	bool last;

	must(pthread_mutex_lock(&p->lock) == 0);
	last = --p->running == 0;
	must(pthread_mutex_unlock(&p->lock) == 0);
	if (last)	/* who does not hear of it looks now and then */
		(void)io_write_all(p->fd, &one, sizeof one);
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	struct gen_pool *p = w->pool;
	struct ds_err err;
	struct maker m;
	uint64_t index;
	int rc;

	rc = init_maker(&m, p->task.plan, &err);
	while (rc == 0 && take_index(p, &index))
		rc = do_image(w, &m, index, &err);
	if (rc < 0)
		fail_pool(p, rc, &err);
	fini_maker(&m);
	leave_pool(p);
	return NULL;
}

/*--- the pool ------------------------------------------------------------*/

static void
free_pool(struct gen_pool *p)
{
	for (unsigned i = 0; i < p->nr_workers; i++)
		pthread_cond_destroy(&p->workers[i].turn);
	pthread_mutex_destroy(&p->lock);
	free(p->workers);
	io_close(&p->fd);
	p->magic = 0;
	free(p);
}

/* As many as the system gives, at least one. */
static int
start_threads(struct gen_pool *p, struct ds_err *err)
{
	int rc = 0;

	p->running = p->nr_workers;
	while (p->nr_started < p->nr_workers) {
		struct worker *w = &p->workers[p->nr_started];

		rc = pthread_create(&w->thread, NULL, work, w);
		if (rc != 0)
			break;
		p->nr_started++;
	}
	if (p->nr_started == 0)
		return err_fail(err, -rc, "cannot start a thread: %s: fewer "
		    "--threads may do", strerrordesc_np(rc));
	for (unsigned i = p->nr_started; i < p->nr_workers; i++)
		leave_pool(p);		/* for those that were not started */
	return 0;
}

int
gen_pool_start(struct gen_pool **out, const struct gen_task *task,
    struct ds_err *err)
{
	struct gen_pool *p = calloc(1, sizeof *p);
	int rc;

	must(task->threads > 0);
	if (p == NULL)
		return err_fail(err, -ENOMEM, "no memory for the threads");
	p->magic = POOL_MAGIC;
	p->task = *task;
	p->next = task->first;
	hist_init(&p->sizes);
	must(pthread_mutex_init(&p->lock, NULL) == 0);
	p->fd = eventfd(0, EFD_CLOEXEC);
	if (p->fd < 0) {
		rc = err_errno(err, "cannot make an eventfd");
		goto free_pool;
	}
	p->workers = calloc(task->threads, sizeof *p->workers);
	if (p->workers == NULL) {
		rc = err_fail(err, -ENOMEM, "no memory for %u threads",
		    task->threads);
		goto free_pool;
	}
	for (; p->nr_workers < task->threads; p->nr_workers++) {
		p->workers[p->nr_workers].pool = p;
		p->workers[p->nr_workers].number = p->nr_workers;
		must(pthread_cond_init(&p->workers[p->nr_workers].turn,
		    NULL) == 0);
	}
	rc = start_threads(p, err);
	if (rc < 0)
		goto free_pool;
	*out = p;
	return 0;
free_pool:
	free_pool(p);
	return rc;
}

int
gen_pool_fd(const struct gen_pool *p)
{
	must_be(p, POOL_MAGIC);
	return p->fd;
}

bool
gen_pool_is_over(struct gen_pool *p)
{
	bool over;

	must_be(p, POOL_MAGIC);
	must(pthread_mutex_lock(&p->lock) == 0);
	over = p->running == 0;
	must(pthread_mutex_unlock(&p->lock) == 0);
	return over;
}

uint64_t
gen_pool_made(struct gen_pool *p)
{
	uint64_t made;

	must_be(p, POOL_MAGIC);
	must(pthread_mutex_lock(&p->lock) == 0);
	made = p->made;
	must(pthread_mutex_unlock(&p->lock) == 0);
	return made;
}

unsigned
gen_pool_stop(struct gen_pool *p)
{
	unsigned in_work;

	must_be(p, POOL_MAGIC);
	must(pthread_mutex_lock(&p->lock) == 0);
	p->stop = true;
	in_work = p->in_work;
	must(pthread_mutex_unlock(&p->lock) == 0);
	return in_work;
}

int
gen_pool_join(struct gen_pool **pp, struct hist *sizes, struct ds_err *err)
{
	struct gen_pool *p = *pp;
	int rc;

	*pp = NULL;
	must_be(p, POOL_MAGIC);
	for (unsigned i = 0; i < p->nr_started; i++)
		must(pthread_join(p->workers[i].thread, NULL) == 0);
	hist_merge(sizes, &p->sizes);
	rc = p->rc;
	if (rc < 0)
		*err = p->err;
	free_pool(p);
	return rc;
}
