/* SPDX-License-Identifier: Apache-2.0
 *
 * clients.c: the table of clients.  Runs in the hub only.
 */

#include <config.h>

#include "hub/clients.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"

#define CLIENTS_MAGIC	0x434c4e53u	/* "CLNS" */
#define CLIENT_MAGIC	0x434c4e54u	/* "CLNT" */

static void give_last_turn(void *arg, uint32_t events);

static int
open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int
clients_init(struct clients *all, struct loop *l, struct log *log,
    struct ds_err *err)
{
	int rc;

	*all = (struct clients){ .magic = CLIENTS_MAGIC, .loop = l, .log = log,
		.listener = -1, .control = -1 };
	all->last_end = &all->first_last;
	all->spare = open_spare();
	all->last = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (all->spare < 0 || all->last < 0)
		rc = err_errno(err, "hub: cannot open a descriptor");
	else
		rc = loop_watch(l, &all->on_last, all->last, EPOLLIN,
		    give_last_turn, all, err);
	if (rc < 0) {
		io_close(&all->spare);
		io_close(&all->last);
	}
	return rc;
}

void
clients_fini(struct clients *all)
{
	must_be(all, CLIENTS_MAGIC);
	for (unsigned i = 0; i < CLIENTS_SLOTS; i++) {
		if (all->slots[i] != NULL)
			clients_reap(all->slots[i]);
	}
	must(all->nr == 0 && all->nr_strangers == 0);
	clients_unlisten(all);
	loop_unwatch(&all->on_last);
	io_close(&all->last);
	io_close(&all->spare);
	all->magic = 0;
}

struct client *
clients_find(const struct clients *all, uint32_t id)
{
	struct client *c = all->slots[id % CLIENTS_SLOTS];

	return c != NULL && c->id == id && c->is_welcome ? c : NULL;
}

/*--- coming --------------------------------------------------------------*/

/* A number that was never used, whose place in the table is free; 0 when there
 * is none. */
static uint32_t
choose_id(struct clients *all)
{
	if (all->nr == CLIENTS_SLOTS)
		return 0;
	while (all->last_id < UINT32_MAX) {
		if (all->slots[++all->last_id % CLIENTS_SLOTS] == NULL)
			return all->last_id;
	}
	return 0;
}

/* Who it is; one without a place needs no pidfd. */
static int
identify(struct client *c, struct ds_err *err)
{
	int rc;

	if (c->all->nr >= CLIENTS_MAX && c->refusal == 0)
		c->refusal = -EUSERS;
	if (c->refusal < 0)
		return caller_check(c->sock, &c->caller, err);
	rc = caller_open(c->sock, &c->caller, err);
	if (rc == -EMFILE || rc == -ENFILE) {
		c->refusal = rc;
		return 0;
	}
	return rc;
}

static int
watch_client(struct client *c, struct ds_err *err)
{
	int rc;

	rc = loop_watch(c->all->loop, &c->on_sock, c->sock, EPOLLIN,
	    client_ready, c, err);
	if (rc == 0 && c->caller.pidfd >= 0)
		rc = loop_watch(c->all->loop, &c->on_pid, c->caller.pidfd,
		    EPOLLIN, client_died, c, err);
	return rc;
}

static void
free_client(struct client *c)
{
	if (c->on_sock != NULL)
		loop_unwatch(&c->on_sock);
	if (c->on_pid != NULL)
		loop_unwatch(&c->on_pid);
	io_close(&c->sock);
	io_close(&c->caller.pidfd);
	client_drop_answers(c);
	c->magic = 0;
	free(c);
}

static int
enter(struct client *c, struct ds_err *err)
{
	struct clients *all = c->all;
	int rc;

	rc = identify(c, err);
	if (rc == 0)
		rc = watch_client(c, err);
	if (rc < 0)
		return rc;
	c->id = choose_id(all);
	if (c->id == 0)
		return err_fail(err, -EUSERS, "no number is left");
	all->slots[c->id % CLIENTS_SLOTS] = c;
	all->nr++;
	all->nr_strangers++;
	return 0;
}

struct client *
clients_adopt(struct clients *all, int sock, int refusal)
{
	struct client *c = calloc(1, sizeof *c);
	struct ds_err err;

	must_be(all, CLIENTS_MAGIC);
	if (c == NULL) {
		log_line(all->log, LOG_ERROR, "a client is turned away: no memory");
		io_close(&sock);
		return NULL;
	}
	c->magic = CLIENT_MAGIC;
	c->all = all;
	c->sock = sock;
	c->refusal = refusal;
	c->since_ns = clock_now_ns();
	c->caller.pidfd = -1;
	c->queue_end = &c->queue;
	if (enter(c, &err) < 0) {
		log_line(all->log, LOG_WARN, "a client is turned away: %s",
		    err.text);
		free_client(c);
		return NULL;
	}
	return c;
}

static void
pause_listening(struct clients *all)
{
	if (!all->is_paused && all->on_listener != NULL)
		all->is_paused = loop_rewatch(all->on_listener, 0, NULL) == 0;
}

/* The spare descriptor lets one in, to be told why it cannot stay; until that
 * is done and there is a spare one again, nobody else. */
static void
refuse_one(struct clients *all)
{
	int sock;

	io_close(&all->spare);
	sock = accept4(all->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (sock >= 0)
		(void)clients_adopt(all, sock, -EMFILE);
	pause_listening(all);
}

static void
let_in(void *arg, uint32_t events)
{
	struct clients *all = arg;
	int sock;

	(void)events;
	sock = accept4(all->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (sock >= 0)
		(void)clients_adopt(all, sock, 0);
	else if (errno == EMFILE || errno == ENFILE)
		refuse_one(all);
	else if (errno == ENOBUFS || errno == ENOMEM)
		pause_listening(all);
	if (all->nr == CLIENTS_SLOTS)
		pause_listening(all);
}

int
clients_listen(struct clients *all, int listener, struct ds_err *err)
{
	must_be(all, CLIENTS_MAGIC);
	all->listener = listener;
	return loop_watch(all->loop, &all->on_listener, listener, EPOLLIN,
	    let_in, all, err);
}

void
clients_unlisten(struct clients *all)
{
	must_be(all, CLIENTS_MAGIC);
	if (all->on_listener != NULL)
		loop_unwatch(&all->on_listener);
	all->is_paused = false;
}

static void
resume_listening(struct clients *all)
{
	if (!all->is_paused || all->nr == CLIENTS_SLOTS)
		return;
	if (all->spare < 0)
		all->spare = open_spare();
	if (all->spare >= 0)
		all->is_paused = loop_rewatch(all->on_listener, EPOLLIN,
		    NULL) < 0;
}

/*--- going ---------------------------------------------------------------*/

void
clients_reap(struct client *c)
{
	struct clients *all = c->all;

	must_be(c, CLIENT_MAGIC);
	must(all->slots[c->id % CLIENTS_SLOTS] == c);
	(void)crash_point("hub.reap");	/* nothing here can fail */
	if (c->is_welcome) {
		c->is_last = true;	/* answers go nowhere any more */
		log_line(all->log, LOG_DEBUG, "client %u, %s, is gone", c->id,
		    c->caller.name);
		all->gone(all->arg, c);
	} else {
		all->nr_strangers--;
	}
	all->slots[c->id % CLIENTS_SLOTS] = NULL;
	all->nr--;
	free_client(c);
	resume_listening(all);
}

static void
give_last_turn(void *arg, uint32_t events)
{
	struct clients *all = arg;
	struct client *c = all->first_last;
	eventfd_t one;

	(void)events;
	if (eventfd_read(all->last, &one) != 0)
		return;			/* there will be another turn */
	must_be(c, CLIENT_MAGIC);
	all->first_last = c->next_last;
	if (all->first_last == NULL)
		all->last_end = &all->first_last;
	client_last_turn(c);
}

/* One that connects and says nothing, or does not read its refusal. */
static void
reap_silent(struct clients *all, uint64_t now_ns)
{
	for (unsigned i = 0; i < CLIENTS_SLOTS; i++) {
		struct client *c = all->slots[i];

		if (c == NULL || c->is_welcome || c->is_last ||
		    now_ns - c->since_ns < CLIENTS_HELLO_NS)
			continue;
		log_line(all->log, LOG_WARN, "client %s is turned away: "
		    "it did not say hello", c->caller.name);
		clients_reap(c);
	}
}

void
clients_tick(struct clients *all, uint64_t now_ns)
{
	must_be(all, CLIENTS_MAGIC);
	if (all->nr_strangers > 0)
		reap_silent(all, now_ns);
	resume_listening(all);
}
