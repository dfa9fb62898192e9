/* SPDX-License-Identifier: Apache-2.0
 *
 * wire_loop.c: round trips over a socketpair, for the benchmark tests/bench/wire.
 *
 *     wire_loop bare|wire ROUNDS
 *
 * One thread sends on one end and receives on the other, then back: what is
 * measured is the cost of the calls, not the scheduler.  `bare` sends the same
 * bytes that `wire` does, with send and recv.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/wire.h"

#define BODY 64		/* about what a lease or a publish has */

static _Noreturn void
give_up(const char *what)
{
	fprintf(stderr, "wire_loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
pass_bare(int from, int to)
{
	static char packet[sizeof(struct wire_head) + BODY];

	if (send(from, packet, sizeof packet, MSG_NOSIGNAL) < 0 ||
	    recv(to, packet, sizeof packet, 0) != (ssize_t)sizeof packet)
		give_up("bare");
}

static void
pass_wire(int from, int to)
{
	static struct wire_frame out, in;
	static const char body[BODY - sizeof(uint32_t)];
	struct wire_writer w;
	struct wire_reader r;
	size_t len;

	wire_write(&w, &out, 1, 1);
	wire_put_bytes(&w, body, sizeof body);
	if (!wire_write_end(&w) || wire_send(from, &out, NULL) < 0 ||
	    wire_recv(to, &in, NULL) != 1)
		give_up("wire");
	wire_read(&r, &in);
	if (wire_get_bytes(&r, &len) == NULL || !wire_read_end(&r) ||
	    len != sizeof body)
		give_up("wire: not what was sent");
}

int
main(int argc, char **argv)
{
	void (*pass)(int from, int to);
	unsigned long rounds;
	uint64_t start;
	int ends[2];

	if (argc != 3) {
		fprintf(stderr, "usage: wire_loop bare|wire ROUNDS\n");
		return 2;
	}
	pass = strcmp(argv[1], "wire") == 0 ? pass_wire : pass_bare;
	rounds = strtoul(argv[2], NULL, 10);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		give_up("socketpair");
	start = clock_now_ns();
	for (unsigned long i = 0; i < rounds; i++) {
		pass(ends[0], ends[1]);
		pass(ends[1], ends[0]);
	}
	printf("{\"ns_per_round_trip\": %.1f}\n",
	    (double)(clock_now_ns() - start) / (double)rounds);
	return 0;
}
