/* SPDX-License-Identifier: Apache-2.0
 *
 * turnhub.c: a hub without a loop.
 */

#include <config.h>

#include "tests/harness/turnhub.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/must.h"
#include "hub/proto.h"

struct hub hub;

void
turnhub_open(const struct hub_module *const *modules, int null)
{
	if (hub.magic == HUB_MAGIC)
		return;
	hub.magic = HUB_MAGIC;
	hub.modules = modules;
	must(loop_new(&hub.loop, NULL) == 0);
	must(log_new(&hub.log, null, LOG_ERROR, NULL) == 0);	/* no file */
	must(clients_init(&hub.clients, hub.loop, hub.log, NULL) == 0);
	hub.clients.control = null;
	hub.clients.generation = 1;
	hub.clients.frame = hub_take_frame;
	hub.clients.gone = hub_client_gone;
	hub.clients.arg = &hub;
}

int
turnhub_adopt(void)
{
	int ends[2];

	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0, ends) == 0);
	must(clients_adopt(&hub.clients, ends[0], 0) != NULL);
	return ends[1];
}

void
turnhub_write_hello(struct wire_frame *f, uint32_t serial, uint64_t job)
{
	struct wire_writer w;

	wire_write(&w, f, MSG_HELLO, serial);
	wire_put_bytes(&w, PACKAGE_VERSION, strlen(PACKAGE_VERSION));
	wire_put_u64(&w, job);
	must(wire_write_end(&w));
}

void
turnhub_take_turn(void)
{
	for (unsigned i = 0; i < CLIENTS_SLOTS && hub.clients.nr > 0; i++) {
		struct client *c = hub.clients.slots[i];

		if (c != NULL && !c->is_last)
			client_ready(c, EPOLLIN);
	}
}

int
turnhub_recv(int sock, struct wire_frame *f)
{
	struct ds_err err;
	int rc = wire_recv(sock, f, &err);

	must(rc == 1 || rc == 0 || rc == -EAGAIN || rc == -ECONNRESET);
	return rc == -ECONNRESET ? 0 : rc;
}
