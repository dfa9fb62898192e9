/* SPDX-License-Identifier: Apache-2.0
 *
 * client.c: what passes between the hub and one client.  Runs in the hub only.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/must.h"
#include "base/text.h"
#include "hub/clients.h"
#include "hub/proto.h"

/* As many frames as a socket's buffer can have held when its process died: a
 * child of it may go on sending. */
#define FRAMES_OF_THE_DEAD	512u

uint32_t
client_id(const struct client *c)
{
	return c->id;
}

uint64_t
client_job(const struct client *c)
{
	return c->job;
}

const char *
client_name(const struct client *c)
{
	return c->caller.name;
}

/*--- answers -------------------------------------------------------------*/

static int
copy_fds(struct wire_frame *to, const struct wire_frame *from)
{
	to->nr_fds = 0;
	for (unsigned i = 0; i < from->nr_fds; i++) {
		int fd = fcntl(from->fds[i], F_DUPFD_CLOEXEC, 0);

		if (fd < 0) {
			wire_close_fds(to);
			return -EMFILE;
		}
		to->fds[to->nr_fds++] = fd;
	}
	return 0;
}

static void
free_answer(struct answer *a)
{
	wire_close_fds(&a->frame);
	free(a);
}

void
client_drop_answers(struct client *c)
{
	struct answer *a;

	while ((a = c->queue) != NULL) {
		c->queue = a->next;
		free_answer(a);
	}
	c->nr_queued = 0;
}

static int
keep_answer(struct client *c, const struct wire_frame *f)
{
	struct answer *a;

	if (c->nr_queued == CLIENTS_QUEUE)
		return -ENOBUFS;
	a = calloc(1, sizeof *a);
	if (a == NULL)
		return -ENOMEM;
	a->frame.head = f->head;
	memcpy(a->frame.body, f->body, f->head.len);
	if (copy_fds(&a->frame, f) < 0 ||
	    (c->nr_queued == 0 && loop_rewatch(c->on_sock, EPOLLIN | EPOLLOUT,
	    NULL) < 0)) {
		free_answer(a);
		return -EMFILE;
	}
	*c->queue_end = a;
	c->queue_end = &a->next;
	c->nr_queued++;
	return 0;
}

/* It cannot be told what it asked for: it must not wait for it. */
static void
give_up_on(struct client *c, int rc)
{
	if (rc == -ENOBUFS) {
		client_expel(c, "it does not read its answers");
		return;
	}
	if (rc != -EPIPE && rc != -ECONNRESET)
		log_line(c->all->log, LOG_WARN, "client %s cannot be "
		    "answered: %s", c->caller.name, strerror(-rc));
	client_end(c);
}

void
client_answer(struct client *c, const struct wire_frame *f)
{
	int rc = -EAGAIN;

	if (c->is_dead || c->is_last)
		return;
	if (c->nr_queued == 0)
		rc = wire_send(c->sock, f, NULL);
	if (rc == -EAGAIN)
		rc = keep_answer(c, f);
	if (rc < 0)
		give_up_on(c, rc);
}

void
client_done(struct client *c, uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_DONE, serial);
	client_answer(c, &f);
}

void
client_refuse(struct client *c, uint32_t serial, int code, const char *text)
{
	struct wire_frame f;
	struct wire_writer w;
	size_t len = strnlen(text, DS_ERR_TEXT - 1);

	wire_write(&w, &f, MSG_REFUSED, serial);
	wire_put_u32(&w, (uint32_t)(code < 0 ? -code : code));
	wire_put_bytes(&w, text, len);
	must(wire_write_end(&w));
	client_answer(c, &f);
}

void
client_expel(struct client *c, const char *why)
{
	if (c->is_dead || c->is_last)
		return;
	c->all->counts.expelled++;
	log_line(c->all->log, LOG_WARN, "client %s is expelled: %s",
	    c->caller.name, why);
	client_end(c);
}

/* What waited, as far as it goes now. */
static int
send_kept(struct client *c)
{
	struct answer *a;
	int rc;

	while ((a = c->queue) != NULL) {
		rc = wire_send(c->sock, &a->frame, NULL);
		if (rc < 0)
			return rc == -EAGAIN ? 0 : rc;
		c->queue = a->next;
		c->nr_queued--;
		free_answer(a);
	}
	c->queue_end = &c->queue;
	return loop_rewatch(c->on_sock, EPOLLIN, NULL);
}

/*--- hello ---------------------------------------------------------------*/

static void
refuse_hello(struct client *c, uint32_t serial, int code, const char *text)
{
	c->all->counts.refused++;
	log_line(c->all->log, LOG_WARN, "client %s is refused: %s",
	    c->caller.name, text);
	client_refuse(c, serial, code, text);
	c->is_leaving = true;
}

static void
welcome(struct client *c, uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;

	c->is_welcome = true;
	c->all->nr_strangers--;
	c->all->counts.connects++;
	log_line(c->all->log, LOG_DEBUG, "client %u is %s", c->id,
	    c->caller.name);
	(void)crash_point("hub.welcome");	/* an error would be its own */
	wire_write(&w, &f, MSG_WELCOME, serial);
	wire_put_u64(&w, c->all->generation);
	wire_put_u32(&w, c->id);
	wire_put_fd(&w, c->all->control);
	must(wire_write_end(&w));
	client_answer(c, &f);
}

static const char *
explain_refusal(int code)
{
	switch (code) {
	case -EUSERS:
		return "the hub has as many clients as it takes";
	default:
		return "the hub has no descriptors left for another client: "
		    "raise the limit (ulimit -n) and start it anew";
	}
}

static int
take_hello(struct client *c, const struct wire_frame *f, struct ds_err *err)
{
	char version[HUB_VERSION_MAX + 1], clean[2 * HUB_VERSION_MAX];
	struct wire_reader r;
	const void *bytes;
	size_t len;

	if (f->head.type != MSG_HELLO || c->is_leaving)
		return err_fail(err, -EBADMSG, "it did not begin with a hello");
	wire_read(&r, f);
	bytes = wire_get_bytes(&r, &len);
	c->job = wire_get_u64(&r);
	if (!wire_read_end(&r) || len > HUB_VERSION_MAX)
		return err_fail(err, -EBADMSG, "a malformed hello");
	memcpy(version, bytes, len);
	version[len] = '\0';
	if (strcmp(version, PACKAGE_VERSION) != 0) {
		text_clean(clean, sizeof clean, version);
		(void)err_fail(err, -EPROTO, "the hub is %s, this client %s: "
		    "use one version, or end the hub (kill %d)",
		    PACKAGE_VERSION, clean, (int)getpid());
		refuse_hello(c, f->head.serial, -EPROTO, err->text);
	} else if (c->refusal < 0) {
		refuse_hello(c, f->head.serial, c->refusal,
		    explain_refusal(c->refusal));
	} else {
		welcome(c, f->head.serial);
	}
	return 0;
}

/*--- turns ---------------------------------------------------------------*/

static int
take_frame(struct client *c, struct wire_frame *f, struct ds_err *err)
{
	uint32_t serial = f->head.serial;
	int rc;

	err->text[0] = '\0';
	if (!c->is_welcome)
		return take_hello(c, f, err);
	if (f->head.type == MSG_HELLO)
		return err_fail(err, -EBADMSG, "a second hello");
	rc = c->all->frame(c->all->arg, c, f, err);
	if (rc < 0 && rc != -EBADMSG) {
		client_refuse(c, serial, rc, err->text);
		rc = 0;
	}
	return rc;
}

/* One frame.  False when there was none, or it was the last: the client is to
 * end. */
static bool
receive(struct client *c)
{
	struct wire_frame f;
	struct ds_err err;
	int rc;

	f.head.serial = 0;
	rc = wire_recv(c->sock, &f, &err);
	if (rc == -EMFILE) {	/* not its fault: it stays */
		client_refuse(c, f.head.serial, rc, err.text);
		return true;
	}
	if (rc == 1) {
		rc = take_frame(c, &f, &err);
		wire_close_fds(&f);
		if (rc == 0)
			return true;
	}
	if (rc == -EBADMSG) {
		c->all->counts.expelled++;
		log_line(c->all->log, LOG_WARN, "client %s is expelled: %s",
		    c->caller.name, err.text);
	} else if (rc < 0 && rc != -EAGAIN && rc != -ECONNRESET) {
		log_line(c->all->log, LOG_WARN, "client %s: %s", c->caller.name,
		    err.text);
	}
	return rc == -EAGAIN && !c->is_dead;
}

void
client_ready(void *arg, uint32_t events)
{
	struct client *c = arg;
	bool stays = true;

	must(!c->is_last);
	if ((events & EPOLLOUT) != 0)
		stays = send_kept(c) == 0;
	if (stays && (events & EPOLLIN) != 0)
		stays = receive(c);
	else if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		stays = false;
	if (c->is_last)			/* meanwhile: its answers cannot be sent */
		return;
	if (!stays || (c->is_leaving && c->nr_queued == 0)) {
		if (c->caller.pidfd >= 0 && caller_is_dead(&c->caller))
			c->all->counts.deaths++;
		clients_reap(c);
	}
}

static void
await_last_turn(struct client *c)
{
	c->next_last = NULL;
	*c->all->last_end = c;
	c->all->last_end = &c->next_last;
	must(eventfd_write(c->all->last, 1) == 0);
}

void
client_end(struct client *c)
{
	if (c->is_last)
		return;
	c->is_last = true;
	if (c->on_sock != NULL)
		loop_unwatch(&c->on_sock);
	if (c->on_pid != NULL)
		loop_unwatch(&c->on_pid);
	await_last_turn(c);
}

void
client_died(void *arg, uint32_t events)
{
	struct client *c = arg;

	(void)events;
	c->all->counts.deaths++;
	c->is_dead = true;
	c->nr_frames_left = FRAMES_OF_THE_DEAD;
	client_end(c);
}

void
client_last_turn(struct client *c)
{
	if (c->is_dead && c->nr_frames_left-- > 0 && receive(c))
		await_last_turn(c);
	else
		clients_reap(c);
}
