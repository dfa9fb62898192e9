/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.h: the frames that hub and clients exchange.
 * Runs in hub and clients; every byte received is hostile until checked.
 *
 * One frame is one packet of a SOCK_SEQPACKET socket: a head of fixed size, a
 * body, and perhaps descriptors.  Both ends are on one machine and compare
 * byte order and protocol in the head, so numbers travel as they lie.
 *
 *  1. A frame that is refused has no effect, and its descriptors are closed.
 *  2. Descriptors received are close-on-exec.
 *  3. An empty packet cannot be told from the end of the connection, and is
 *     taken for it.
 */

#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define WIRE_MAGIC	0x44535746u	/* "DSWF" */
#define WIRE_PROTOCOL	1u
#define WIRE_BODY_MAX	4064u
#define WIRE_FDS_MAX	4u

struct wire_head {
	uint32_t magic;
	uint16_t protocol;
	uint16_t type;		/* which message: the receiver's table knows */
	uint32_t len;		/* of the body */
	uint32_t serial;	/* chosen by the asker, repeated by the answer */
};

struct wire_frame {
	struct wire_head head;
	uint8_t		body[WIRE_BODY_MAX];
	unsigned	nr_fds;
	int		fds[WIRE_FDS_MAX];
};

int wire_send(int sock, const struct wire_frame *f, struct ds_err *err);
	/* The frame's type, serial, len, body and descriptors; the rest of the
	 * head is filled in here.  Descriptors stay the caller's.
	 * 0, -EAGAIN (a socket that does not block is full), or -errno. */

int wire_recv(int sock, struct wire_frame *f, struct ds_err *err);
	/* 1 for a frame, 0 for the end of the connection, -EAGAIN, -EBADMSG
	 * for a frame that is refused, -EMFILE for one whose descriptors this
	 * process had no room for (it is lost), or -errno.  Descriptors in f
	 * are the caller's: wire_close_fds(), or take them out and lower
	 * nr_fds. */

void wire_close_fds(struct wire_frame *f);

int wire_check(const void *packet, size_t len, struct ds_err *err);
	/* Is this packet a well-formed frame? */

/* Reading a body.  The first get that does not fit spoils the reader: it and
 * all later ones give zeros, and wire_read_end() tells. */
struct wire_reader {
	const uint8_t	*at;
	size_t		left;
	bool		spoilt;
};

void wire_read(struct wire_reader *r, const struct wire_frame *f);
uint32_t wire_get_u32(struct wire_reader *r);
uint64_t wire_get_u64(struct wire_reader *r);
const void *wire_get_bytes(struct wire_reader *r, size_t *len);
	/* Counted bytes; they lie in the frame, of any alignment.  NULL, and
	 * a length of 0, when the reader is spoilt; never for none. */
bool wire_read_end(const struct wire_reader *r);
	/* True if everything was there, and nothing more. */

/* Writing a body.  What does not fit spoils the writer in the same way. */
struct wire_writer {
	struct wire_frame *frame;
	bool		spoilt;
};

void wire_write(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    uint32_t serial);
void wire_put_u32(struct wire_writer *w, uint32_t n);
void wire_put_u64(struct wire_writer *w, uint64_t n);
void wire_put_bytes(struct wire_writer *w, const void *bytes, size_t len);
void wire_put_fd(struct wire_writer *w, int fd);
bool wire_write_end(const struct wire_writer *w);

#endif
