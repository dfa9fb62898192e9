/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_link.c: tests of the client's end of the wire: what it asks and tells,
 * and a hub that stands still.  unit_link_hello.c has how it begins,
 * unit_link_program.c what the program around it may do.
 */

#include <config.h>

#include "hub/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/linkhub.h"
#include "tests/harness/unit.h"

/*--- calls ---------------------------------------------------------------*/

static bool
refuse(struct linkhub *h, struct wire_frame *f)
{
	uint32_t n = request_number(f);

	if (n == 5)
		return serve_echo(h, f);
	linkhub_refuse(h, f->head.serial, n, "not today");
	return true;
}

static void
a_refusal_is_no_failure(void **state)
{
	struct wire_frame f;
	struct ds_err err;
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, serve_welcome, refuse);
	l = linkhub_connect(&h, LONG_NS);
	request_write(&f, ENOSPC);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, &err), -ENOSPC);
	assert_string_equal(err.text, "not today");
	request_write(&f, ENOENT);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, NULL), -ENOENT);
	link_must_work(l);
	link_free(&l);
	linkhub_end(&h);
}

/* Answers of long ago, with descriptors, before the right one. */
static bool
answer_late(struct linkhub *h, struct wire_frame *f)
{
	struct wire_frame old;

	for (uint32_t i = 1; i < 4; i++) {
		linkhub_write_welcome(&old, f->head.serial - i, h->control.fd);
		linkhub_send(h, &old, MSG_ANSWER);
	}
	linkhub_refuse(h, 0, EPERM, "what was told");
	return serve_echo(h, f);
}

static void
late_answers_are_dropped(void **state)
{
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, serve_welcome, answer_late);
	l = linkhub_connect(&h, LONG_NS);
	for (int i = 0; i < 10; i++)
		link_must_work(l);
	link_free(&l);
	linkhub_end(&h);
}

static void
descriptors_go_and_come(void **state)
{
	struct wire_frame f;
	struct stat was, is;
	int ends[2];
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_echo);
	l = linkhub_connect(&h, LONG_NS);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	request_write(&f, 1);
	f.fds[f.nr_fds++] = ends[0];
	assert_int_equal(link_call(l, &f, MSG_ANSWER, NULL), 0);
	assert_int_equal(f.nr_fds, 1);
	assert_int_not_equal(f.fds[0], ends[0]);
	assert_int_equal(fstat(ends[0], &was), 0);
	assert_int_equal(fstat(f.fds[0], &is), 0);
	assert_int_equal(was.st_ino, is.st_ino);
	wire_close_fds(&f);
	close(ends[0]);
	close(ends[1]);
	link_free(&l);
	linkhub_end(&h);
}

static void
a_hub_that_fails(void **state)
{
	static const struct {
		serve_f *serve;
		const char *why;
	} cases[] = {
		{ serve_end, "ended the connection" },
		{ serve_silence, "does not answer" },
		{ serve_garbage, "a message of 7 bytes" },
		{ serve_otherwise, "message 4 where" },
		{ serve_bad_refusal, "cannot be read" },
	};
	struct linkhub h;
	struct link *l;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		linkhub_begin(&h, serve_welcome, cases[i].serve);
		l = linkhub_connect(&h, cases[i].serve == serve_silence ?
		    SHORT_NS : LONG_NS);
		link_must_lose(l, cases[i].why);
		/* The hub was told, though the link is not freed yet. */
		linkhub_end(&h);
		link_free(&l);
	}
}

static void
a_link_that_is_ended(void **state)
{
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_echo);
	l = linkhub_connect(&h, LONG_NS);
	link_end(l, "enough");
	link_end(l, "too late");
	link_must_be_gone(l, "enough");
	linkhub_end(&h);
	link_free(&l);
}

static void
telling(void **state)
{
	struct wire_frame f;
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_and_count);
	l = linkhub_connect(&h, LONG_NS);
	request_write(&f, 1234);
	for (int i = 0; i < 10; i++)
		assert_int_equal(link_tell(l, &f, NULL), 0);
	link_must_work(l);
	link_free(&l);
	linkhub_end(&h);
	assert_int_equal(h.nr_told, 10);
}

static void
telling_a_hub_that_does_not_read(void **state)
{
	struct wire_frame f;
	struct ds_err err;
	struct linkhub h;
	struct link *l;
	int rc;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_echo);
	h.reads = false;
	l = linkhub_connect(&h, SHORT_NS);
	request_write(&f, 1234);
	do {
		rc = link_tell(l, &f, &err);
	} while (rc == 0);
	assert_int_equal(rc, -ESTALE);
	link_must_be_gone(l, "does not answer");
	link_free(&l);
	linkhub_end(&h);
}

/*--- a hub that stands still ---------------------------------------------*/

/* Waits for the client to give up, and then hangs up; but not for ever: one that
 * waits as if nothing were known would see another end. */
static bool
outlast(struct linkhub *h, struct wire_frame *f)
{
	struct pollfd pfd = { .fd = h->sock, .events = POLLRDHUP };

	wire_close_fds(f);
	(void)poll(&pfd, 1, 20000);
	return false;
}

/* Later than one that is thought to stand still is waited for. */
static bool
echo_slowly(struct linkhub *h, struct wire_frame *f)
{
	(void)usleep(LINK_BRIEF_NS / 1000 * 2);
	return serve_echo(h, f);
}

static void
a_silent_hub_is_waited_for_once(void **state)
{
	struct linkhub first, second, third;
	struct link *a, *b, *c = NULL;
	struct ds_err err;

	(void)state;
	linkhub_begin(&first, serve_welcome, serve_silence);
	linkhub_begin(&second, serve_welcome, outlast);
	linkhub_begin(&third, outlast, serve_echo);
	a = linkhub_connect(&first, SHORT_NS);
	b = linkhub_connect(&second, LONG_NS);
	link_must_lose(a, "does not answer");
	link_must_lose(b, "does not answer");
	/* Nor does who connects to it anew. */
	linkhub_run(&third);
	assert_int_equal(link_new_within(&c, third.client, LONG_NS, &err),
	    -ETIMEDOUT);
	close(third.client);
	link_free(&a);
	link_free(&b);
	linkhub_end(&first);
	linkhub_end(&second);
	linkhub_end(&third);
}

static void
until_it_answers(void **state)
{
	struct linkhub still, slow;
	struct link *a, *b;

	(void)state;
	linkhub_begin(&still, serve_welcome, serve_silence);
	linkhub_begin(&slow, serve_welcome, echo_slowly);
	a = linkhub_connect(&still, SHORT_NS);
	link_must_lose(a, "does not answer");
	b = linkhub_connect(&slow, LONG_NS);
	link_must_work(b);
	link_free(&a);
	link_free(&b);
	linkhub_end(&still);
	linkhub_end(&slow);
}

UNIT_MAIN(
	UNIT(a_refusal_is_no_failure),
	UNIT(late_answers_are_dropped),
	UNIT(descriptors_go_and_come),
	UNIT(a_hub_that_fails),
	UNIT(a_link_that_is_ended),
	UNIT(telling),
	UNIT(telling_a_hub_that_does_not_read),
	UNIT(a_silent_hub_is_waited_for_once),
	UNIT(until_it_answers))
