/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_wire.c: any bytes as a packet with descriptors, received over a socket
 * as the hub would, and its body read by a script that is input too.
 *
 *     bytes: number of descriptors, length of the script, script, packet
 */

#include <config.h>

#include <errno.h>
#include <sys/socket.h>

#include "base/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/harness/packet.h"

#define FDS_SENT	8u

const char fuzz_name[] = "wire";

static int sender, receiver;

static void
open_once(void)
{
	int fds[2];

	if (receiver > 0)
		return;
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
	sender = fds[0];
	receiver = fds[1];
}

/* Is it what it says it is?  By the layout on the wire, not by wire_check(). */
static int
is_frame(const uint8_t *p, size_t len)
{
	uint32_t magic, body;
	uint16_t protocol;

	if (len < 16 || len > 16 + WIRE_BODY_MAX)
		return 0;
	memcpy(&magic, p, 4);
	memcpy(&protocol, p + 4, 2);
	memcpy(&body, p + 8, 4);
	return magic == WIRE_MAGIC && protocol == WIRE_PROTOCOL &&
	    body == len - 16;
}

/* The reader against a plain index into the body. */
static void
walk(const struct wire_frame *f, const uint8_t *script, size_t nr_steps)
{
	size_t at = 0, len, want;
	int spoilt = 0;
	struct wire_reader r;
	const uint8_t *p;
	uint32_t n32;
	uint64_t n64;

	wire_read(&r, f);
	for (size_t i = 0; i < nr_steps; i++) {
		size_t left = f->head.len - at;

		switch (script[i] % 3) {
		case 0:
			n32 = wire_get_u32(&r);
			spoilt |= left < 4;
			must(spoilt ? n32 == 0 :
			    memcmp(&n32, f->body + at, 4) == 0);
			at += spoilt ? 0 : 4;
			break;
		case 1:
			n64 = wire_get_u64(&r);
			spoilt |= left < 8;
			must(spoilt ? n64 == 0 :
			    memcmp(&n64, f->body + at, 8) == 0);
			at += spoilt ? 0 : 8;
			break;
		default:
			p = wire_get_bytes(&r, &len);
			n32 = UINT32_MAX;
			if (left >= 4)
				memcpy(&n32, f->body + at, 4);
			want = n32;
			spoilt |= left < 4 || want > left - 4;
			must(spoilt ? p == NULL && len == 0 :
			    p == f->body + at + 4 && len == want);
			at += spoilt ? 0 : 4 + want;
		}
		must(wire_read_end(&r) == (!spoilt && at == f->head.len));
	}
}

/* What the script writes, it reads. */
static void
round_trip(const uint8_t *script, size_t nr_steps)
{
	static struct wire_frame f, g;
	struct wire_writer w;
	struct wire_reader r;
	size_t len;

	wire_write(&w, &f, 1, 2);
	for (size_t i = 0; i < nr_steps; i++) {
		if (script[i] % 3 == 0)
			wire_put_u32(&w, script[i]);
		else if (script[i] % 3 == 1)
			wire_put_u64(&w, script[i]);
		else
			wire_put_bytes(&w, script, i);
	}
	must(f.head.len <= WIRE_BODY_MAX);
	if (!wire_write_end(&w))
		return;
	must(wire_send(sender, &f, NULL) == 0);
	must(wire_recv(receiver, &g, NULL) == 1);
	must(g.head.type == 1 && g.head.serial == 2 && g.nr_fds == 0);
	wire_read(&r, &g);
	for (size_t i = 0; i < nr_steps; i++) {
		if (script[i] % 3 == 0)
			must(wire_get_u32(&r) == script[i]);
		else if (script[i] % 3 == 1)
			must(wire_get_u64(&r) == script[i]);
		else {
			const void *p = wire_get_bytes(&r, &len);

			must(len == i && memcmp(p, script, i) == 0);
		}
	}
	must(wire_read_end(&r));
}

static void
receive(uint8_t *packet, size_t len, unsigned nr_fds, const uint8_t *script,
    size_t nr_steps)
{
	static struct wire_frame f;
	struct ds_err err;
	int before = fuzz_next_fd(), good = is_frame(packet, len);
	int rc = wire_check(packet, len, &err);

	must(rc == (good ? 0 : -EBADMSG));
	if (rc < 0)
		fuzz_check_error(&err, rc);
	must(packet_send(sender, packet, len, fuzz_null(), nr_fds) ==
	    (ssize_t)len);
	rc = wire_recv(receiver, &f, &err);
	if (len == 0 && nr_fds <= WIRE_FDS_MAX)
		must(rc == 0);
	else
		must(rc == (good && nr_fds <= WIRE_FDS_MAX ? 1 : -EBADMSG));
	if (rc < 0)
		fuzz_check_error(&err, rc);
	must(f.nr_fds == (rc == 1 ? nr_fds : 0));
	if (rc == 1) {
		must(memcmp(&f, packet, len) == 0);
		walk(&f, script, nr_steps);
	}
	wire_close_fds(&f);
	must(fuzz_next_fd() == before);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	size_t nr_steps;
	uint8_t *packet;

	open_once();
	if (len < 2)
		return 0;
	nr_steps = bytes[1] < len - 2 ? bytes[1] : len - 2;
	packet = fuzz_copy(bytes + 2 + nr_steps, len - 2 - nr_steps);
	receive(packet, len - 2 - nr_steps, bytes[0] % (FDS_SENT + 1),
	    bytes + 2, nr_steps);
	round_trip(bytes + 2, nr_steps);
	free(packet);
	return 0;
}
