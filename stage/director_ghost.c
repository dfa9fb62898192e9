/* SPDX-License-Identifier: Apache-2.0
 *
 * director_ghost.c: clients that are gone, and those of them whose process
 * lives on: ghosts.  Runs in the hub only.
 *
 * A hang-up is not a death.  A program may have closed all descriptors that it
 * did not know, or given up a hub that was stopped for a while, and still reads
 * the batches that it has taken.
 *
 *  1. From the turn of the hang-up nobody waits for it, and its leases are
 *     anybody's.
 *  2. What it may look at stays as it is until its process has ended: its
 *     places are DETACHED, and its maps count.
 *  3. So does what it may write: its slots that were WRITING stay so, in no
 *     list, until slots_client_gone() ends them.
 */

#include <config.h>

#include "stage/director.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/io.h"
#include "hub/clients.h"

struct ghost {
	struct ghost	*next;
	struct director	*director;
	uint32_t	client;
	int		pidfd;
	struct loop_watch *on_pid;
};

/*--- all that is left of a client ----------------------------------------*/

typedef void visit_f(struct director *d, struct pass *p, uint32_t place);

/* Every place of a client; a visit may end the pass. */
static void
visit_places(struct director *d, uint32_t client, visit_f *visit)
{
	struct pass *p, *next;

	for (p = d->passes; p != NULL; p = next) {
		next = p->next;
		for (uint32_t i = p->high; i-- > 0;) {
			bool is_last = p->nr_seated == 1;

			if (p->seated[i] == NULL ||
			    p->seated[i]->client != client)
				continue;
			visit(d, p, i);
			if (is_last)
				break;
		}
	}
}

static void
forget(struct director *d, uint32_t client)
{
	visit_places(d, client, director_leave_place);
	slots_client_gone(d->slots, client);
}

/*--- ghosts --------------------------------------------------------------*/

/* By rule 1; one that only made units has nothing to look at. */
static void
haunt(struct director *d, struct pass *p, uint32_t place)
{
	uint64_t now_ns = clock_now_ns();

	director_look(p, now_ns);
	director_abandon_leases(p, place);
	if (p->line.place[place].state == PLACE_MAKER) {
		director_leave_place(d, p, place);
		return;
	}
	line_revoke(&p->line, place);
	p->seated[place]->is_idle = false;
	line_detach(&p->line, place);
	director_show_place(p, place);
	director_show_members(p);
	director_settle(p, now_ns);
}

static void
end_ghost(struct ghost *g)
{
	struct ghost **at = &g->director->ghosts;

	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	loop_unwatch(&g->on_pid);
	io_close(&g->pidfd);
	forget(g->director, g->client);
	free(g);
}

static void
process_ended(void *arg, uint32_t events)
{
	(void)events;
	end_ghost(arg);
}

/* -errno: the system has no room for it. */
static int
watch_process(struct director *d, const struct client *c)
{
	struct ghost *g = calloc(1, sizeof *g);
	int rc;

	if (g == NULL)
		return -ENOMEM;
	g->director = d;
	g->client = client_id(c);
	g->pidfd = fcntl(c->caller.pidfd, F_DUPFD_CLOEXEC, 0);
	rc = g->pidfd < 0 ? -errno : loop_watch(hub_loop(d->hub), &g->on_pid,
	    g->pidfd, EPOLLIN, process_ended, g, NULL);
	if (rc < 0) {
		io_close(&g->pidfd);
		free(g);
		return rc;
	}
	g->next = d->ghosts;
	d->ghosts = g;
	return 0;
}

void
director_client_gone(struct director *d, const struct client *c)
{
	uint32_t client = client_id(c);

	if (d->is_leaving || !slots_knows(d->slots, client) ||
	    caller_is_dead(&c->caller)) {
		forget(d, client);
		return;
	}
	if (watch_process(d, c) < 0) {
		log_line(hub_log(d->hub), LOG_WARN, "client %s has hung up, "
		    "and its process cannot be watched: what it has taken may "
		    "change", client_name(c));
		forget(d, client);
		return;
	}
	visit_places(d, client, haunt);
}

void
director_end_ghosts(struct director *d)
{
	while (d->ghosts != NULL)
		end_ghost(d->ghosts);
}
