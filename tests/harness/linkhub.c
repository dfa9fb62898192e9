/* SPDX-License-Identifier: Apache-2.0
 *
 * linkhub.c: a hub that is a thread, and behaves as a test wants it.
 */

#include <config.h>

#include "tests/harness/linkhub.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/unit.h"

void
linkhub_send(struct linkhub *h, struct wire_frame *f, uint16_t type)
{
	f->head.type = type;
	(void)wire_send(h->sock, f, NULL);
}

void
linkhub_refuse(struct linkhub *h, uint32_t serial, uint32_t code,
    const char *text)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_REFUSED, serial);
	wire_put_u32(&w, code);
	wire_put_bytes(&w, text, strlen(text));
	(void)wire_send(h->sock, &f, NULL);
}

void
linkhub_write_welcome(struct wire_frame *f, uint32_t serial, int fd)
{
	struct wire_writer w;

	wire_write(&w, f, MSG_WELCOME, serial);
	wire_put_u64(&w, GENERATION);
	wire_put_u32(&w, CLIENT);
	if (fd >= 0)
		wire_put_fd(&w, fd);
}

static void *
serve_all(void *arg)
{
	struct linkhub *h = arg;
	struct wire_frame f;
	bool greeted = false;

	while (wire_recv(h->sock, &f, NULL) == 1) {
		if (!(greeted ? h->serve : h->hello)(h, &f))
			break;
		greeted = true;
		if (!h->reads)
			return NULL;	/* the socket stays open */
	}
	close(h->sock);
	h->sock = -1;
	return NULL;
}

void
linkhub_begin(struct linkhub *h, serve_f *hello, serve_f *serve)
{
	int ends[2];

	*h = (struct linkhub){ .hello = hello, .serve = serve, .reads = true };
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    ends), 0);
	h->sock = ends[0];
	h->client = ends[1];
	assert_int_equal(segment_create(&h->control, &control_kind,
	    sizeof(struct control), GENERATION, NULL), 0);
	((struct control *)h->control.base)->pid = HUB_PID;
}

void
linkhub_run(struct linkhub *h)
{
	assert_int_equal(pthread_create(&h->thread, NULL, serve_all, h), 0);
}

struct link *
linkhub_connect(struct linkhub *h, uint64_t patience_ns)
{
	struct link *l = NULL;
	struct ds_err err;

	linkhub_run(h);
	if (link_new_within(&l, h->client, patience_ns, &err) != 0)
		fail_msg("%s", err.text);
	return l;
}

void
linkhub_end(struct linkhub *h)
{
	pthread_join(h->thread, NULL);
	if (h->sock >= 0)
		close(h->sock);
	segment_detach(&h->control);
}

/*--- what it does with a frame -------------------------------------------*/

bool
serve_welcome(struct linkhub *h, struct wire_frame *f)
{
	linkhub_write_welcome(f, f->head.serial, h->control.fd);
	return wire_send(h->sock, f, NULL) == 0;
}

bool
serve_echo(struct linkhub *h, struct wire_frame *f)
{
	linkhub_send(h, f, MSG_ANSWER);
	wire_close_fds(f);
	return true;
}

bool
serve_end(struct linkhub *h, struct wire_frame *f)
{
	(void)h;
	wire_close_fds(f);
	return false;
}

bool
serve_silence(struct linkhub *h, struct wire_frame *f)
{
	(void)h;
	wire_close_fds(f);
	return true;
}

bool
serve_garbage(struct linkhub *h, struct wire_frame *f)
{
	wire_close_fds(f);
	(void)send(h->sock, "garbage", 7, MSG_NOSIGNAL);
	return true;
}

bool
serve_otherwise(struct linkhub *h, struct wire_frame *f)
{
	linkhub_write_welcome(f, f->head.serial, h->control.fd);
	linkhub_send(h, f, MSG_DONE);
	return true;
}

bool
serve_bad_refusal(struct linkhub *h, struct wire_frame *f)
{
	linkhub_refuse(h, f->head.serial, 0, "errno 0");
	return true;
}

bool
serve_and_count(struct linkhub *h, struct wire_frame *f)
{
	struct wire_reader r;
	uint32_t n;

	wire_read(&r, f);
	n = wire_get_u32(&r);
	if (f->head.serial != 0)
		return serve_echo(h, f);
	if (n == 1234)
		h->nr_told++;
	linkhub_refuse(h, 0, EINVAL, "nobody reads this");
	return true;
}

/*--- its client ----------------------------------------------------------*/

void
request_write(struct wire_frame *f, uint32_t n)
{
	struct wire_writer w;

	wire_write(&w, f, MSG_TEST, 99);
	wire_put_u32(&w, n);
}

uint32_t
request_number(const struct wire_frame *f)
{
	struct wire_reader r;

	wire_read(&r, f);
	return wire_get_u32(&r);
}

void
link_must_work(struct link *l)
{
	struct wire_frame f;

	request_write(&f, 5);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, NULL), 0);
	assert_int_equal(request_number(&f), 5);
	assert_true(link_alive(l));
}

void
link_must_be_gone(struct link *l, const char *why)
{
	struct wire_frame f;
	struct ds_err err;

	assert_false(link_alive(l));
	assert_true(link_mine(l));
	request_write(&f, 5);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, &err), -ESTALE);
	assert_non_null(strstr(err.text, "the hub is gone: "));
	assert_non_null(strstr(err.text, why));
	request_write(&f, 5);
	assert_int_equal(link_tell(l, &f, NULL), -ESTALE);
}

void
link_must_lose(struct link *l, const char *why)
{
	struct wire_frame f;
	struct ds_err err;

	request_write(&f, 1);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, &err), -ESTALE);
	assert_int_equal(f.nr_fds, 0);
	if (strstr(err.text, why) == NULL)
		fail_msg("%s", err.text);
	link_must_be_gone(l, why);
}
