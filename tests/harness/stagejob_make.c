/* SPDX-License-Identifier: Apache-2.0
 *
 * stagejob_make.c: what makes the units of a stagejob: worker processes, or a
 * thread of its own.
 */

#include <config.h>

#include "tests/harness/stagejob.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness/payload.h"

#define LEASE_MS	20u

/*--- a unit --------------------------------------------------------------*/

void
make_nap(uint64_t us)
{
	struct timespec t = { .tv_sec = (time_t)(us / 1000000),
		.tv_nsec = (long)(us % 1000000 * 1000) };

	while (us > 0 && nanosleep(&t, &t) != 0 && errno == EINTR)
		continue;
}

void
make_fill(char *bytes, uint64_t epoch, uint64_t unit)
{
	uint64_t now;

	make_nap(options.make_us);
	payload_fill(bytes + STAMP, options.bytes - STAMP, epoch, unit);
	now = clock_now_ns();
	memcpy(bytes, &now, sizeof now);
}

bool
make_is_right(const char *bytes, size_t len, uint64_t epoch, uint64_t unit)
{
	return len == options.bytes &&
	    payload_is(bytes + STAMP, len - STAMP, epoch, unit);
}

/*--- the stream ----------------------------------------------------------*/

static bool
set(struct ds_stage *s, const char *name, uint64_t n, struct ds_err *err)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRIu64, n);
	return ds_stage_set(s, name, text, err) == 0;
}

static bool
set_up(struct ds_stage *s, struct ds_err *err)
{
	return ds_stage_set(s, "stream", options.stream, err) == 0 &&
	    set(s, "seed", 0, err) && set(s, "unit", 1, err) &&
	    set(s, "samples", options.units, err) &&
	    set(s, "bytes", options.bytes, err) &&
	    set(s, "makers", options.workers > 0 ? options.workers : 1, err) &&
	    ds_stage_set(s, "order", options.order == ORDER_LISTED ?
	    "listed" : "random", err) == 0;
}

bool
make_open(struct ds_hub **hub, struct ds_stage **stage, struct ds_err *err)
{
	if (ds_connect(hub, DS_NO_START, err) < 0)
		return false;
	if (ds_stage_open(stage, *hub, err) == 0) {
		if (set_up(*stage, err))
			return true;
		ds_stage_close(stage);
	}
	ds_disconnect(hub);
	return false;
}

/* One unit if there is one; false: the hub is gone. */
static bool
make_one(struct ds_pass *pass, uint64_t epoch, _Atomic uint64_t *nr)
{
	struct ds_lease l;
	struct ds_err err;
	int rc;

	rc = ds_pass_lease(pass, LEASE_MS, &l, &err);
	if (rc <= 0)
		return rc == 0;
	make_fill(l.bytes, epoch, l.unit);
	if (ds_pass_publish(pass, &l, options.bytes,
	    payload_hash(epoch, l.unit), 0, &err) == 0)
		atomic_fetch_add(nr, 1);
	return true;
}

/*--- workers -------------------------------------------------------------*/

static struct shared {
	_Atomic uint64_t epoch;
	_Atomic uint64_t made;
} *shared;
static pid_t workers[WORKERS_MAX];

static bool
is_over(pid_t parent)
{
	static uint64_t since_ns;

	if (atomic_load(&shared->epoch) == OVER)
		return true;
	if (getppid() == parent)
		return false;
	if (since_ns == 0)
		since_ns = clock_now_ns();
	return clock_now_ns() - since_ns >= options.orphan_ms * NS_PER_MS;
}

static void
work_in(struct ds_stage *stage, uint64_t epoch, pid_t parent)
{
	struct ds_pass *pass = NULL;
	struct ds_err err;

	if (ds_pass_open(&pass, stage, epoch, DS_ANY, NULL, &err) < 0) {
		make_nap(1000);
		return;
	}
	while (atomic_load(&shared->epoch) == epoch && !is_over(parent) &&
	    make_one(pass, epoch, &shared->made))
		continue;
	ds_pass_close(&pass);
}

/* A hub that is gone may come again. */
static _Noreturn void
be_worker(pid_t parent)
{
	struct ds_stage *stage;
	struct ds_hub *hub;
	struct ds_err err;

	while (!is_over(parent)) {
		if (!make_open(&hub, &stage, &err)) {
			make_nap(1000);
			continue;
		}
		work_in(stage, atomic_load(&shared->epoch), parent);
		ds_stage_close(&stage);
		ds_disconnect(&hub);
	}
	_exit(0);
}

void
make_start_workers(void)
{
	pid_t self = getpid();

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("cannot map memory", NULL);
	for (uint64_t i = 0; i < options.workers; i++) {
		workers[i] = fork();
		if (workers[i] < 0)
			die("cannot fork", NULL);
		if (workers[i] == 0)
			be_worker(self);
	}
}

void
make_tell_epoch(uint64_t epoch)
{
	atomic_store(&shared->epoch, epoch);
}

void
make_wait_workers(void)
{
	make_tell_epoch(OVER);
	for (uint64_t i = 0; i < options.workers; i++)
		(void)waitpid(workers[i], NULL, 0);
}

/*--- a thread ------------------------------------------------------------*/

static struct {
	pthread_t	thread;
	bool		is_running;
	_Atomic bool	stop;
	struct ds_pass	*pass;
	uint64_t	epoch;
} own;

static void *
run(void *arg)
{
	(void)arg;
	while (!atomic_load(&own.stop) &&
	    make_one(own.pass, own.epoch, &shared->made))
		continue;
	return NULL;
}

void
make_start_thread(struct ds_pass *pass, uint64_t epoch)
{
	if (options.workers > 0)
		return;
	own.pass = pass;
	own.epoch = epoch;
	atomic_store(&own.stop, false);
	if (pthread_create(&own.thread, NULL, run, NULL) != 0)
		die("cannot start a thread", NULL);
	own.is_running = true;
}

void
make_stop_thread(void)
{
	if (!own.is_running)
		return;
	atomic_store(&own.stop, true);
	(void)pthread_join(own.thread, NULL);
	own.is_running = false;
}

uint64_t
make_nr(void)
{
	return atomic_load(&shared->made);
}
