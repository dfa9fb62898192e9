/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_hub.c: any bytes as the packets of one client, each handled by the hub
 * as in a turn of its loop: hello first, or not.
 *
 *     bytes: whether it has said a right hello before, then packets; of each
 *     its length in two bytes, the lower first, the number of descriptors,
 *     and the packet.  In a packet that is a frame
 *     by its length the head's magic, protocol and length are put right, so
 *     that what is tried is what the hub does with frames.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hub/clients.h"
#include "hub/hub_state.h"
#include "hub/proto.h"
#include "tests/fuzz/fuzz.h"

#define FDS_MAX	5u

const char fuzz_name[] = "hub";

static struct hub hub;
static int null;
static unsigned nr_gone, nr_welcome;

/*--- a module that believes nothing --------------------------------------*/

static int
start(void **state, struct hub *h, struct ds_err *err)
{
	(void)state;
	(void)h;
	(void)err;
	return 0;
}

static int
take(void *state, struct client *c, struct wire_frame *f, struct ds_err *err)
{
	(void)state;
	must(clients_find(&hub.clients, client_id(c)) == c);
	switch (f->head.len % 3) {
	case 0:
		client_answer(c, f);
		return 0;
	case 1:
		return err_fail(err, -ENOSPC, "no room");
	default:
		return err_fail(err, -EBADMSG, "malformed");
	}
}

static void
count_gone(void *state, struct client *c)
{
	(void)state;
	(void)c;
	nr_gone++;
}

static const struct hub_module module = {
	.name = "fuzz", .first = MSG_CACHE_FIRST, .last = MSG_CACHE_LAST,
	.start = start, .frame = take, .gone = count_gone,
};

static const struct hub_module *const modules[] = { &module, NULL };

/*--- the hub, as far as clients see it -----------------------------------*/

static void
open_once(void)
{
	if (null > 0)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	must(null > 0);
	hub.magic = HUB_MAGIC;
	hub.modules = modules;
	hub.nr_started = 1;
	must(loop_new(&hub.loop, NULL) == 0);
	must(log_new(&hub.log, null, LOG_ERROR, NULL) == 0);	/* no file */
	must(clients_init(&hub.clients, hub.loop, hub.log, NULL) == 0);
	hub.clients.control = null;
	hub.clients.generation = 1;
	hub.clients.frame = hub_take_frame;
	hub.clients.gone = hub_client_gone;
	hub.clients.arg = &hub;
}

static void
send_packet(int sock, const void *packet, size_t len, unsigned nr_fds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *)(uintptr_t)packet, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nr_fds > 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		for (unsigned i = 0; i < nr_fds; i++)
			memcpy(CMSG_DATA(&control.head) + i * sizeof(int),
			    &null, sizeof null);
	}
	(void)sendmsg(sock, &msg, MSG_NOSIGNAL);
}

static void
put_right(uint8_t *packet, size_t len)
{
	struct wire_head h;

	if (len < sizeof h)
		return;
	memcpy(&h, packet, sizeof h);
	h.magic = WIRE_MAGIC;
	h.protocol = WIRE_PROTOCOL;
	h.len = (uint32_t)(len - sizeof h);
	memcpy(packet, &h, sizeof h);
}

/* Whatever it is answered is a frame of the hub. */
static void
read_answers(int sock)
{
	struct wire_frame f;
	struct ds_err err;
	int rc;

	while ((rc = wire_recv(sock, &f, &err)) == 1) {
		if (f.head.type == MSG_WELCOME)
			nr_welcome++;
		wire_close_fds(&f);
	}
	must(rc == 0 || rc == -EAGAIN || rc == -ECONNRESET);
}

static void
take_turn(int sock)
{
	for (unsigned i = 0; i < CLIENTS_SLOTS; i++) {
		struct client *c = hub.clients.slots[i];

		if (c != NULL && !c->is_last)
			client_ready(c, EPOLLIN);
	}
	read_answers(sock);
}

static void
say_hello(int sock)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_HELLO, 1);
	wire_put_bytes(&w, PACKAGE_VERSION, strlen(PACKAGE_VERSION));
	wire_put_u64(&w, 1);
	must(wire_send(sock, &f, NULL) == 0);
	take_turn(sock);
	must(nr_welcome == 1);
}

static void
play(int sock, const uint8_t *bytes, size_t len)
{
	while (len >= 3 && hub.clients.nr > 0) {
		size_t want = bytes[0] | (size_t)bytes[1] << 8;
		unsigned nr_fds = bytes[2] % (FDS_MAX + 1);
		uint8_t *packet;

		bytes += 3;
		len -= 3;
		want = want < len ? want : len;
		packet = fuzz_copy(bytes, want);
		put_right(packet, want);
		send_packet(sock, packet, want, nr_fds);
		free(packet);
		bytes += want;
		len -= want;
		take_turn(sock);
	}
}

static int
next_fd(void)
{
	int fd = dup(null);

	must(fd >= 0);
	close(fd);
	return fd;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	int ends[2], before;

	open_once();
	before = next_fd();
	nr_gone = nr_welcome = 0;
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    0, ends) == 0);
	must(clients_adopt(&hub.clients, ends[0], 0) != NULL);
	if (len > 0 && bytes[0] % 2 == 1)
		say_hello(ends[1]);
	if (len > 0)
		play(ends[1], bytes + 1, len - 1);
	close(ends[1]);
	for (unsigned i = 0; i < CLIENTS_SLOTS; i++) {
		if (hub.clients.slots[i] != NULL)
			clients_reap(hub.clients.slots[i]);
	}
	must(hub.clients.first_last == NULL);	/* it reads its answers */
	must(hub.clients.nr == 0 && hub.clients.nr_strangers == 0);
	must(nr_welcome <= 1 && nr_gone == nr_welcome);
	must(next_fd() == before);
	return 0;
}
