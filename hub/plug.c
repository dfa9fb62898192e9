/* SPDX-License-Identifier: Apache-2.0
 *
 * plug.c: a socket that is proved to be ours before each use.
 * Runs in clients.
 */

#include <config.h>

#include "hub/plug.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/io.h"

int
plug_take(struct plug *p, int sock, struct ds_err *err)
{
	struct stat st;
	int flags;

	flags = fcntl(sock, F_GETFL);
	if (flags < 0 || fcntl(sock, F_SETFL, flags | O_NONBLOCK) != 0 ||
	    fcntl(sock, F_SETFD, FD_CLOEXEC) != 0 || fstat(sock, &st) != 0)
		return err_errno(err, "the hub's socket");
	*p = (struct plug){ .sock = sock, .dev = st.st_dev, .ino = st.st_ino };
	return 0;
}

void
plug_out_of_the_way(struct plug *p)
{
	p->sock = io_out_of_the_way(p->sock);
}

static bool
is_ours(const struct plug *p)
{
	struct stat st;

	return fstat(p->sock, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    st.st_dev == p->dev && st.st_ino == p->ino;
}

void
plug_hang_up(const struct plug *p)
{
	if (is_ours(p))
		(void)shutdown(p->sock, SHUT_RDWR);
}

void
plug_close(struct plug *p)
{
	if (is_ours(p))
		io_close(&p->sock);
	p->sock = -1;
}

static int
prove(const struct plug *p, struct ds_err *err)
{
	if (!is_ours(p))
		return err_fail(err, -EBADF,
		    "this program has closed the connection to it");
	return 0;
}

static int
say_hung_up(struct ds_err *err)
{
	return err_fail(err, -ECONNRESET, "it has ended the connection");
}

int
plug_check(const struct plug *p, struct ds_err *err)
{
	struct pollfd pfd = { .fd = p->sock, .events = POLLRDHUP };
	int n, rc;

	rc = prove(p, err);
	if (rc < 0)
		return rc;
	do {
		n = poll(&pfd, 1, 0);
	} while (n < 0 && errno == EINTR);
	/* A poll that fails tells nothing of the hub. */
	return n > 0 ? say_hung_up(err) : 0;
}

static int
await(const struct plug *p, short events, uint64_t deadline_ns,
    struct ds_err *err)
{
	struct pollfd pfd = { .fd = p->sock, .events = events };
	int n;

	do {
		n = poll(&pfd, 1, clock_left_ms(deadline_ns));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_errno(err, "cannot wait for it");
	if (n == 0)
		return err_fail(err, -ETIMEDOUT, "it does not answer");
	return 0;
}

int
plug_send(const struct plug *p, const struct wire_frame *f,
    uint64_t deadline_ns, struct ds_err *err)
{
	int rc;

	for (;;) {
		rc = prove(p, err);
		if (rc < 0)
			return rc;
		rc = wire_send(p->sock, f, err);
		if (rc == -EPIPE || rc == -ECONNRESET)
			return say_hung_up(err);
		if (rc != -EAGAIN)
			return rc;
		rc = await(p, POLLOUT, deadline_ns, err);
		if (rc < 0)
			return rc;
	}
}

int
plug_recv(const struct plug *p, struct wire_frame *f, uint64_t deadline_ns,
    struct ds_err *err)
{
	int rc;

	f->nr_fds = 0;
	for (;;) {
		rc = await(p, POLLIN, deadline_ns, err);
		if (rc < 0)
			return rc;
		rc = prove(p, err);
		if (rc < 0)
			return rc;
		rc = wire_recv(p->sock, f, err);
		if (rc == 0 || rc == -ECONNRESET)
			return say_hung_up(err);
		if (rc != -EAGAIN)
			return rc < 0 ? rc : 0;
	}
}
