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

#include "hub/clients.h"
#include "hub/proto.h"
#include "tests/fuzz/fuzz.h"
#include "tests/harness/packet.h"
#include "tests/harness/turnhub.h"

#define FDS_MAX	5u

const char fuzz_name[] = "hub";

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

/*--- its client ----------------------------------------------------------*/

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

	while (turnhub_recv(sock, &f) == 1) {
		if (f.head.type == MSG_WELCOME)
			nr_welcome++;
		wire_close_fds(&f);
	}
}

static void
take_turn(int sock)
{
	turnhub_take_turn();
	read_answers(sock);
}

static void
say_hello(int sock)
{
	struct wire_frame f;

	turnhub_write_hello(&f, 1, 1);
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
		(void)packet_send(sock, packet, want, fuzz_null(), nr_fds);
		free(packet);
		bytes += want;
		len -= want;
		take_turn(sock);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	int sock, before;

	turnhub_open(modules, fuzz_null());
	hub.nr_started = 1;
	before = fuzz_next_fd();
	nr_gone = nr_welcome = 0;
	sock = turnhub_adopt();
	if (len > 0 && bytes[0] % 2 == 1)
		say_hello(sock);
	if (len > 0)
		play(sock, bytes + 1, len - 1);
	close(sock);
	for (unsigned i = 0; i < CLIENTS_SLOTS; i++) {
		if (hub.clients.slots[i] != NULL)
			clients_reap(hub.clients.slots[i]);
	}
	must(hub.clients.first_last == NULL);	/* it reads its answers */
	must(hub.clients.nr == 0 && hub.clients.nr_strangers == 0);
	must(nr_welcome <= 1 && nr_gone == nr_welcome);
	must(fuzz_next_fd() == before);
	return 0;
}
