/* SPDX-License-Identifier: Apache-2.0
 *
 * hub_life.c: how a hub begins and ends.  Runs in the hub only.
 *
 *  1. Everything but the folder is touched only while the lock is held.
 *  2. Clients can connect when everything else is ready, and no longer when
 *     the end has begun.
 *  3. At the end clients are gone first, then the helper's work, then the
 *     modules, and the lock last.
 */

#include <config.h>

#include "hub/hub.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"
#include "base/text.h"
#include "hub/harden.h"
#include "hub/hub_state.h"
#include "hub/lock.h"

#define TICK_NS	(100 * NS_PER_MS)

/*--- the beginning -------------------------------------------------------*/

static int
take_place(struct hub *h, struct ds_err *err)
{
	int rc;

	rc = harden_begin(err);
	if (rc == 0)
		rc = rundir_find(&h->place, err);
	if (rc < 0)
		return rc;
	h->dir = rundir_open(&h->place, err);
	if (h->dir < 0)
		return h->dir;
	h->lock = lock_take(h->dir, h->place.dir, err);
	if (h->lock < 0)
		return h->lock;
	rc = crash_point("hub.locked");
	return rc < 0 ? err_fail(err, rc, "hub: failed as told") : 0;
}

static void
take_signal(void *arg, uint32_t events)
{
	struct hub *h = arg;
	struct signalfd_siginfo info;

	(void)events;
	if (io_read_all(h->signals, &info, sizeof info) != (ssize_t)sizeof info)
		hub_leave(h, "a signal");
	else
		hub_leave(h, info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
}

static int
watch_signals(struct hub *h, struct ds_err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return err_errno(err, "hub: cannot block signals");
	h->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (h->signals < 0)
		return err_errno(err, "hub: cannot make a signalfd");
	return loop_watch(h->loop, &h->on_signals, h->signals, EPOLLIN,
	    take_signal, h, err);
}

/* Of two hubs no client ever mixes the memory. */
static int
choose_generation(uint64_t *generation, struct ds_err *err)
{
	ssize_t n;

	do {
		n = getrandom(generation, sizeof *generation, 0);
		if (n < 0 && errno != EINTR)
			return err_errno(err, "hub: no random numbers");
	} while (n != (ssize_t)sizeof *generation || *generation == 0);
	return 0;
}

static int
make_control(struct hub *h, struct ds_err *err)
{
	struct control *c;
	int rc;

	rc = choose_generation(&h->generation, err);
	if (rc == 0)
		rc = segment_create(&h->control, &control_kind, sizeof *c,
		    h->generation, err);
	if (rc < 0)
		return rc;
	c = h->control.base;
	h->control_head = c->head;
	h->started_ns = clock_now_ns();
	c->pid = (uint64_t)getpid();
	c->started_ns = h->started_ns;
	return 0;
}

static int
make_clients(struct hub *h, struct ds_err *err)
{
	int rc = clients_init(&h->clients, h->loop, h->log, err);

	if (rc < 0)
		return rc;
	h->has_clients = true;
	h->clients.generation = h->generation;
	h->clients.control = h->control.fd;
	h->clients.frame = hub_take_frame;
	h->clients.gone = hub_client_gone;
	h->clients.arg = h;
	return 0;
}

static int
start_modules(struct hub *h, struct ds_err *err)
{
	int rc;

	for (unsigned i = 0; h->modules[i] != NULL; i++) {
		must(i < HUB_MODULES_MAX);
		rc = h->modules[i]->start(&h->states[i], h, err);
		if (rc < 0)
			return rc;
		h->nr_started++;
	}
	return 0;
}

static int
open_door(struct hub *h, struct ds_err *err)
{
	int rc;

	rc = harden_end(err);
	if (rc == 0)
		rc = door_open(&h->door, h->dir, &h->place, err);
	if (rc == 0)
		rc = clients_listen(&h->clients, h->door.fd, err);
	if (rc < 0)
		return rc;
	rc = crash_point("hub.listening");
	return rc < 0 ? err_fail(err, rc, "hub: failed as told") : 0;
}

static void
log_bug(void *arg, const char *text)
{
	log_line(arg, LOG_ERROR, "%s", text);
}

static int
begin(struct hub *h, struct ds_err *err)
{
	int rc;

	rc = take_place(h, err);
	if (rc == 0)
		rc = log_new(&h->log, h->dir, h->options->log, err);
	if (rc == 0)
		must_tell(log_bug, h->log);
	if (rc == 0)
		rc = loop_new(&h->loop, err);
	if (rc == 0)
		rc = watch_signals(h, err);
	if (rc == 0)
		rc = helper_new(&h->helper, h->loop, err);
	if (rc == 0)
		machine_find(&h->machine);
	if (rc == 0)
		rc = make_control(h, err);
	if (rc == 0)
		rc = make_clients(h, err);
	if (rc == 0)
		rc = start_modules(h, err);
	if (rc == 0)
		rc = open_door(h, err);
	return rc;
}

/*--- the end -------------------------------------------------------------*/

static void
end(struct hub *h)
{
	if (h->has_clients)
		clients_unlisten(&h->clients);
	door_close(&h->door);
	(void)crash_point("hub.leaving");	/* there is no way back */
	for (unsigned i = 0; i < h->nr_started; i++) {
		if (h->modules[i]->leave != NULL)
			h->modules[i]->leave(h->states[i]);
	}
	if (h->has_clients)
		clients_fini(&h->clients);
	if (h->helper != NULL)
		helper_free(&h->helper);
	while (h->nr_started > 0) {
		h->nr_started--;
		if (h->modules[h->nr_started]->stop != NULL)
			h->modules[h->nr_started]->stop(h->states[h->nr_started]);
	}
	segment_detach(&h->control);
	if (h->on_signals != NULL)
		loop_unwatch(&h->on_signals);
	io_close(&h->signals);
	if (h->loop != NULL)
		loop_free(&h->loop);
	if (h->log != NULL) {
		must_tell(NULL, NULL);
		log_free(&h->log);
	}
	io_close(&h->lock);
	io_close(&h->dir);
}

/*--- between -------------------------------------------------------------*/

/* Memory is charged to the group that the hub was born in: it may be a job's. */
static void
log_group(struct hub *h)
{
	char figure[TEXT_FIGURE];
	struct cgroup_memory m;
	struct cgroup g;
	struct ds_err err;

	if (cgroup_find(&g, "/", "memory", &err) < 0 ||
	    cgroup_memory(&g, &m, &err) < 0)
		log_line(h->log, LOG_INFO, "memory group: %s", err.text);
	else
		log_line(h->log, LOG_INFO, "memory group: %s, limit %s", g.dir,
		    m.limit_bytes == CGROUP_NO_LIMIT ? "none" :
		    text_size(figure, m.limit_bytes));
}

static void
log_start(struct hub *h)
{
	char cache[TEXT_FIGURE], stage[TEXT_FIGURE], idle[TEXT_FIGURE], holding[TEXT_FIGURE];
	const struct hub_options *o = h->options;

	log_line(h->log, LOG_INFO, "destall %s: hub %016" PRIx64 ", process %d, "
	    "at %s", PACKAGE_VERSION, h->generation, (int)getpid(),
	    h->place.socket);
	log_group(h);
	log_line(h->log, LOG_INFO, "cache: %s; leaves after %s without "
	    "clients, %s while it holds data", o->cache_bytes == 0 ?
	    "half of what is free" : text_size(cache, o->cache_bytes),
	    text_duration(idle, o->idle_ns),
	    text_duration(holding, o->idle_holding_ns));
	log_line(h->log, LOG_INFO, "stage: %s", o->stage_bytes == 0 ?
	    "an eighth of that, four batches at least" :
	    text_size(stage, o->stage_bytes));
}

static void
say_ready(int ready_fd)
{
	if (ready_fd < 0)
		return;
	(void)io_write_all(ready_fd, "ok\n", 3);	/* may be dead by now */
	io_close(&ready_fd);
}

static int
live(struct hub *h, int ready_fd, struct ds_err *err)
{
	int rc;

	log_start(h);
	h->busy_ns = h->looked_ns = clock_now_ns();
	loop_every(h->loop, TICK_NS, hub_tick, h);
	say_ready(ready_fd);
	rc = loop_run(h->loop, err);
	log_line(h->log, rc < 0 ? LOG_ERROR : LOG_INFO, "the hub leaves: %s",
	    rc < 0 ? err->text : h->why);
	return rc;
}

int
hub_run_with(const struct hub_module *const *modules,
    const struct hub_options *o, int ready_fd, struct ds_err *err)
{
	struct hub *h = calloc(1, sizeof *h);
	struct ds_err own;
	int rc;

	if (h == NULL)
		return err_fail(err, -ENOMEM, "hub: no memory");
	if (err == NULL)
		err = &own;
	h->magic = HUB_MAGIC;
	h->options = o;
	h->modules = modules;
	h->dir = h->lock = h->signals = h->door.fd = -1;
	rc = begin(h, err);
	if (rc == 0)
		rc = live(h, ready_fd, err);
	end(h);
	h->magic = 0;
	free(h);
	return rc;
}

int
hub_run(const struct hub_options *o, int ready_fd, struct ds_err *err)
{
	return hub_run_with(hub_modules, o, ready_fd, err);
}
