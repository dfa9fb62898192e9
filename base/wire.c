/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.c: the frames that hub and clients exchange.  Runs in hub and clients.
 */

#include <config.h>

#include "base/wire.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/io.h"
#include "base/must.h"

static_assert(sizeof(struct wire_head) == 16, "the layout is on the wire");
static_assert(offsetof(struct wire_frame, body) == sizeof(struct wire_head),
    "head and body are received as one piece");

#define FDS_SIZE	(WIRE_FDS_MAX * sizeof(int))

/* Control data is aligned by being in a union with its header. */
union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(FDS_SIZE)];
};

static void
attach_fds(struct msghdr *msg, union control *control,
    const struct wire_frame *f)
{
	size_t size = f->nr_fds * sizeof(int);
	struct cmsghdr *c = &control->align;

	memset(control, 0, sizeof *control);
	msg->msg_control = control;
	msg->msg_controllen = CMSG_SPACE(size);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(c), f->fds, size);
}

int
wire_send(int sock, const struct wire_frame *f, struct ds_err *err)
{
	struct wire_head head = f->head;
	struct iovec iov[2];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	union control control;
	ssize_t n;

	must(head.len <= WIRE_BODY_MAX && f->nr_fds <= WIRE_FDS_MAX);
	head.magic = WIRE_MAGIC;
	head.protocol = WIRE_PROTOCOL;
	iov[0] = (struct iovec){ &head, sizeof head };
	iov[1] = (struct iovec){ (void *)(uintptr_t)f->body, head.len };
	if (f->nr_fds > 0)
		attach_fds(&msg, &control, f);
	do {
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, "cannot send a message");
	/* SOCK_SEQPACKET takes a packet whole or not at all. */
	must((size_t)n == sizeof head + head.len);
	return 0;
}

/* All descriptors of a packet into the frame.  The kernel was given room for
 * WIRE_FDS_MAX; it closes those that did not fit and says CTRUNC. */
static void
collect_fds(struct wire_frame *f, struct msghdr *msg)
{
	struct cmsghdr *c;
	size_t nr;

	for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		must(f->nr_fds + nr <= WIRE_FDS_MAX);
		memcpy(f->fds + f->nr_fds, CMSG_DATA(c), nr * sizeof(int));
		f->nr_fds += (unsigned)nr;
	}
}

/* The kernel left something out.  Descriptors, where there was room for more:
 * then this process may open no more, and the sender is not to blame. */
static int
refuse_cut(const struct wire_frame *f, int flags, struct ds_err *err)
{
	if ((flags & MSG_TRUNC) == 0 && f->nr_fds < WIRE_FDS_MAX)
		return err_fail(err, -EMFILE, "cannot receive a descriptor: "
		    "too many open files: raise the limit (ulimit -n)");
	return err_fail(err, -EBADMSG,
	    "a message with too many bytes or descriptors");
}

int
wire_recv(int sock, struct wire_frame *f, struct ds_err *err)
{
	struct iovec iov = { f, sizeof f->head + sizeof f->body };
	union control control;
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_LEN(FDS_SIZE),	/* and no padding */
	};
	ssize_t n;
	int rc;

	f->nr_fds = 0;
	do {
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, "cannot receive a message");
	collect_fds(f, &msg);
	if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
		rc = refuse_cut(f, msg.msg_flags, err);
	else
		rc = n == 0 ? 0 : wire_check(f, (size_t)n, err);
	if (rc < 0 || n == 0)
		wire_close_fds(f);
	return rc < 0 ? rc : n > 0;
}

void
wire_close_fds(struct wire_frame *f)
{
	for (unsigned i = 0; i < f->nr_fds; i++)
		io_close(&f->fds[i]);
	f->nr_fds = 0;
}

int
wire_check(const void *packet, size_t len, struct ds_err *err)
{
	struct wire_head h;

	if (len < sizeof h)
		return err_fail(err, -EBADMSG, "a message of %zu bytes", len);
	memcpy(&h, packet, sizeof h);
	if (h.magic != WIRE_MAGIC)
		return err_fail(err, -EBADMSG, "a message that is not destall's");
	if (h.protocol != WIRE_PROTOCOL)
		return err_fail(err, -EBADMSG,
		    "a message of protocol %u, this build speaks %u",
		    h.protocol, WIRE_PROTOCOL);
	if (h.len > WIRE_BODY_MAX || h.len != len - sizeof h)
		return err_fail(err, -EBADMSG,
		    "a message that says %u bytes and has %zu",
		    h.len, len - sizeof h);
	return 0;
}

/*--- reading -------------------------------------------------------------*/

void
wire_read(struct wire_reader *r, const struct wire_frame *f)
{
	must(f->head.len <= WIRE_BODY_MAX);
	*r = (struct wire_reader){ .at = f->body, .left = f->head.len };
}

/* The next len bytes, or NULL from the first time they are not there. */
static const void *
next_bytes(struct wire_reader *r, size_t len)
{
	const uint8_t *at = r->at;

	if (r->spoilt || len > r->left) {
		r->spoilt = true;
		return NULL;
	}
	r->at += len;
	r->left -= len;
	return at;
}

uint32_t
wire_get_u32(struct wire_reader *r)
{
	const void *p = next_bytes(r, sizeof(uint32_t));
	uint32_t n = 0;

	if (p != NULL)
		memcpy(&n, p, sizeof n);
	return n;
}

uint64_t
wire_get_u64(struct wire_reader *r)
{
	const void *p = next_bytes(r, sizeof(uint64_t));
	uint64_t n = 0;

	if (p != NULL)
		memcpy(&n, p, sizeof n);
	return n;
}

const void *
wire_get_bytes(struct wire_reader *r, size_t *len)
{
	const void *p;

	*len = wire_get_u32(r);
	p = next_bytes(r, *len);
	if (p == NULL)
		*len = 0;
	return p;
}

bool
wire_read_end(const struct wire_reader *r)
{
	return !r->spoilt && r->left == 0;
}

/*--- writing -------------------------------------------------------------*/

void
wire_write(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    uint32_t serial)
{
	f->head = (struct wire_head){ .type = type, .serial = serial };
	f->nr_fds = 0;
	*w = (struct wire_writer){ .frame = f };
}

static void
append(struct wire_writer *w, const void *bytes, size_t len)
{
	struct wire_frame *f = w->frame;

	if (w->spoilt || len > WIRE_BODY_MAX - f->head.len) {
		w->spoilt = true;
		return;
	}
	if (len > 0)
		memcpy(f->body + f->head.len, bytes, len);
	f->head.len += (uint32_t)len;
}

void
wire_put_u32(struct wire_writer *w, uint32_t n)
{
	append(w, &n, sizeof n);
}

void
wire_put_u64(struct wire_writer *w, uint64_t n)
{
	append(w, &n, sizeof n);
}

void
wire_put_bytes(struct wire_writer *w, const void *bytes, size_t len)
{
	if (len > WIRE_BODY_MAX) {
		w->spoilt = true;
		return;
	}
	wire_put_u32(w, (uint32_t)len);
	append(w, bytes, len);
}

void
wire_put_fd(struct wire_writer *w, int fd)
{
	struct wire_frame *f = w->frame;

	if (f->nr_fds == WIRE_FDS_MAX) {
		w->spoilt = true;
		return;
	}
	f->fds[f->nr_fds++] = fd;
}

bool
wire_write_end(const struct wire_writer *w)
{
	return !w->spoilt;
}
