/* SPDX-License-Identifier: Apache-2.0
 *
 * hub.c: what the hub does while it lives: frames to modules, ticks, and when
 * to leave.  Runs in the hub only.
 */

#include <config.h>

#include "hub/hub.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "hub/hub_state.h"
#include "hub/proto.h"

const struct hub_options hub_defaults = {
	.idle_ns = 60 * NS_PER_S,
	.idle_holding_ns = 3600 * NS_PER_S,
	.lease_ns = 10 * NS_PER_S,
	.log = LOG_INFO,
};

/*--- for modules ---------------------------------------------------------*/

struct loop *
hub_loop(struct hub *h)
{
	return h->loop;
}

struct helper *
hub_helper(struct hub *h)
{
	return h->helper;
}

struct log *
hub_log(struct hub *h)
{
	return h->log;
}

const struct hub_options *
hub_options(const struct hub *h)
{
	return h->options;
}

uint64_t
hub_generation(const struct hub *h)
{
	return h->generation;
}

struct control *
hub_control(struct hub *h)
{
	return h->control.base;
}

struct machine *
hub_machine(struct hub *h)
{
	return &h->machine;
}

struct client *
hub_client(struct hub *h, uint32_t id)
{
	must_be(h, HUB_MAGIC);
	return clients_find(&h->clients, id);
}

/*--- frames --------------------------------------------------------------*/

void
hub_leave(struct hub *h, const char *why)
{
	if (h->why == NULL)
		h->why = why;
	loop_stop(h->loop);
}

/* Those of the hub itself have no body. */
static int
take_own(struct hub *h, struct client *c, const struct wire_frame *f,
    struct ds_err *err)
{
	if (f->head.type != MSG_PING && f->head.type != MSG_STOP)
		return err_fail(err, -EBADMSG, "a message of unknown type %u",
		    f->head.type);
	if (f->head.len != 0)
		return err_fail(err, -EBADMSG, "a message of type %u with a "
		    "body", f->head.type);
	client_done(c, f->head.serial);
	if (f->head.type == MSG_STOP) {
		log_line(h->log, LOG_INFO, "client %s asks the hub to leave",
		    client_name(c));
		hub_leave(h, "it was asked to");
	}
	return 0;
}

int
hub_take_frame(void *hub, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct hub *h = hub;

	must_be(h, HUB_MAGIC);
	for (unsigned i = 0; i < h->nr_started; i++) {
		const struct hub_module *m = h->modules[i];

		if (f->head.type >= m->first && f->head.type <= m->last)
			return m->frame(h->states[i], c, f, err);
	}
	return take_own(h, c, f, err);
}

void
hub_client_gone(void *hub, struct client *c)
{
	struct hub *h = hub;

	must_be(h, HUB_MAGIC);
	for (unsigned i = 0; i < h->nr_started; i++) {
		if (h->modules[i]->gone != NULL)
			h->modules[i]->gone(h->states[i], c);
	}
}

/*--- ticks ---------------------------------------------------------------*/

/* Relaxed: each word stands for itself (hub/control.h, 1); so are the loads of
 * those who show them. */
#define TELL(field, n) \
	atomic_store_explicit(&t->field, (n), memory_order_relaxed)

void
hub_tell(struct hub *h)
{
	const struct loop_turns *turns = loop_turns(h->loop);
	struct control *t = h->control.base;

	/* The head is ours alone to write: anything else there is broken
	 * memory, in which nothing can be trusted any more. */
	must(memcmp(&t->head, &h->control_head, sizeof t->head) == 0);
	must(t->started_ns == h->started_ns);
	TELL(nr_clients, h->clients.nr - h->clients.nr_strangers);
	TELL(nr_connects, h->clients.counts.connects);
	TELL(nr_deaths, h->clients.counts.deaths);
	TELL(nr_refused, h->clients.counts.refused);
	TELL(nr_expelled, h->clients.counts.expelled);
	TELL(turns, turns->turns);
	TELL(turns_over_1ms, turns->over);
	TELL(longest_turn_cpu_ns, turns->longest_cpu_ns);
	TELL(longest_turn_wall_ns, turns->longest_wall_ns);
}

/* Somebody who removed the folder, or put another socket there: those who are
 * connected are served, and nobody can come after them. */
static void
look_at_door(struct hub *h, uint64_t now_ns)
{
	if (h->is_lost || now_ns - h->looked_ns < NS_PER_S)
		return;
	h->looked_ns = now_ns;
	if (door_is_ours(&h->door))
		return;
	h->is_lost = true;
	log_line(h->log, LOG_WARN, "%s is no longer this hub's: it leaves "
	    "with its last client", h->place.socket);
}

static bool
holds_something(const struct hub *h)
{
	for (unsigned i = 0; i < h->nr_started; i++) {
		if (h->modules[i]->holds != NULL &&
		    h->modules[i]->holds(h->states[i]))
			return true;
	}
	return false;
}

static void
leave_if_idle(struct hub *h, uint64_t now_ns)
{
	if (h->clients.nr > 0 || helper_waiting(h->helper) > 0) {
		h->busy_ns = now_ns;
		return;
	}
	if (h->is_lost)
		hub_leave(h, "nobody can find it");
	else if (now_ns - h->busy_ns >= (holds_something(h) ?
	    h->options->idle_holding_ns : h->options->idle_ns))
		hub_leave(h, "nobody needs it");
}

void
hub_tick(void *hub)
{
	struct hub *h = hub;
	uint64_t now_ns = clock_now_ns();

	must_be(h, HUB_MAGIC);
	clients_tick(&h->clients, now_ns);
	for (unsigned i = 0; i < h->nr_started; i++) {
		if (h->modules[i]->tick != NULL)
			h->modules[i]->tick(h->states[i], now_ns);
	}
	hub_tell(h);
	look_at_door(h, now_ns);
	leave_if_idle(h, now_ns);
}
