/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_link_hello.c: tests of the client's end of the wire: what it says first,
 * and which answers are a welcome.
 */

#include <config.h>

#include "hub/link.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hub/job.h"
#include "tests/harness/linkhub.h"
#include "tests/harness/unit.h"

static char said_version[HUB_VERSION_MAX + 1];
static uint64_t said_job;

static bool
note_hello(struct linkhub *h, struct wire_frame *f)
{
	struct wire_reader r;
	const char *text;
	size_t len;

	wire_read(&r, f);
	text = wire_get_bytes(&r, &len);
	if (f->head.type != MSG_HELLO || len > HUB_VERSION_MAX)
		return false;
	memcpy(said_version, text, len);
	said_version[len] = '\0';
	said_job = wire_get_u64(&r);
	return wire_read_end(&r) && serve_welcome(h, f);
}

static void
is_welcomed(void **state)
{
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, note_hello, serve_echo);
	l = linkhub_connect(&h, LONG_NS);
	assert_true(link_generation(l) == GENERATION);
	assert_int_equal(link_client(l), CLIENT);
	assert_int_equal(link_control(l)->pid, HUB_PID);
	assert_true(link_alive(l));
	assert_true(link_mine(l));
	link_must_work(l);
	link_free(&l);
	assert_null(l);
	link_free(&l);
	linkhub_end(&h);
	assert_string_equal(said_version, PACKAGE_VERSION);
}

static void
says_its_job(void **state)
{
	const struct {
		char text[64];
		uint64_t job;
	} cases[] = {
		{ "DESTALL_JOB=000000000000001f", 0x1f },
		{ "DESTALL_JOB=FFFFffffFFFFffff", UINT64_MAX },
		{ "DESTALL_JOB=1f", job_token(NULL) },	/* none */
	};
	extern char **environ;
	char **saved = environ, *env[2] = { NULL, NULL }, text[64];
	struct linkhub h;
	struct link *l;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		linkhub_begin(&h, note_hello, serve_echo);
		strcpy(text, cases[i].text);
		env[0] = text;
		environ = env;
		l = linkhub_connect(&h, LONG_NS);
		environ = saved;
		assert_true(link_job(l) == cases[i].job);
		link_free(&l);
		linkhub_end(&h);
		assert_true(said_job == cases[i].job);
	}
}

static bool
refuse_version(struct linkhub *h, struct wire_frame *f)
{
	linkhub_refuse(h, f->head.serial, EPROTO,
	    "the hub is destall 9.9.9 and this job has " PACKAGE_VERSION);
	return false;
}

static bool
welcome_without(struct linkhub *h, struct wire_frame *f)
{
	linkhub_write_welcome(f, f->head.serial, -1);
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_twice(struct linkhub *h, struct wire_frame *f)
{
	linkhub_write_welcome(f, f->head.serial, h->control.fd);
	f->fds[f->nr_fds++] = h->control.fd;
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_with_socket(struct linkhub *h, struct wire_frame *f)
{
	linkhub_write_welcome(f, f->head.serial, h->sock);
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_short(struct linkhub *h, struct wire_frame *f)
{
	linkhub_write_welcome(f, f->head.serial, h->control.fd);
	f->head.len--;
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_long(struct linkhub *h, struct wire_frame *f)
{
	linkhub_write_welcome(f, f->head.serial, h->control.fd);
	f->head.len++;
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_with(struct linkhub *h, struct wire_frame *f,
    const struct segment_kind *kind, size_t len, uint64_t generation)
{
	struct segment seg;

	if (segment_create(&seg, kind, len, generation, NULL) != 0)
		return false;
	linkhub_write_welcome(f, f->head.serial, seg.fd);
	(void)wire_send(h->sock, f, NULL);
	segment_detach(&seg);
	return true;
}

static bool
welcome_other_generation(struct linkhub *h, struct wire_frame *f)
{
	return welcome_with(h, f, &control_kind, sizeof(struct control),
	    GENERATION + 1);
}

static bool
welcome_small_segment(struct linkhub *h, struct wire_frame *f)
{
	return welcome_with(h, f, &control_kind, sizeof(struct control) - 8,
	    GENERATION);
}

static bool
welcome_other_kind(struct linkhub *h, struct wire_frame *f)
{
	struct segment_kind other = control_kind;

	other.layout++;
	return welcome_with(h, f, &other, sizeof(struct control), GENERATION);
}

static bool
welcome_unsealed(struct linkhub *h, struct wire_frame *f)
{
	int fd = memfd_create("unsealed", MFD_CLOEXEC);
	bool ok = fd >= 0 && ftruncate(fd, 4096) == 0;

	linkhub_write_welcome(f, f->head.serial, fd);
	ok = ok && wire_send(h->sock, f, NULL) == 0;
	close(fd);
	return ok;
}

static bool
refuse_hugely(struct linkhub *h, struct wire_frame *f)
{
	linkhub_refuse(h, f->head.serial, 0x80000001u, "no errno");
	return true;
}

static void
welcomes_that_are_none(void **state)
{
	static const struct {
		serve_f *hello;
		int code;
		const char *why;
	} cases[] = {
		{ refuse_version, -EPROTO, "9.9.9 and this job has "
		    PACKAGE_VERSION },
		{ serve_end, -ECONNRESET, "ended the connection" },
		{ serve_silence, -ETIMEDOUT, "does not answer" },
		{ serve_garbage, -EBADMSG, "a message of 7 bytes" },
		{ welcome_without, -EBADMSG, "0 descriptors" },
		{ welcome_twice, -EBADMSG, "2 descriptors" },
		{ welcome_with_socket, -EBADMSG, "" },
		{ welcome_short, -EBADMSG, "cannot be read" },
		{ welcome_long, -EBADMSG, "cannot be read" },
		{ welcome_other_generation, -EBADMSG, "not its own" },
		{ welcome_small_segment, -EBADMSG, "not its own" },
		{ welcome_other_kind, -EBADMSG, "layout" },
		{ welcome_unsealed, -EBADMSG, "" },
		{ serve_bad_refusal, -EBADMSG, "cannot be read" },
		{ refuse_hugely, -EBADMSG, "cannot be read" },
		{ serve_otherwise, -EBADMSG, "message 4 where 2" },
	};
	struct link *l = NULL;
	struct ds_err err;
	struct linkhub h;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		linkhub_begin(&h, cases[i].hello, serve_echo);
		linkhub_run(&h);
		assert_int_equal(link_new_within(&l, h.client,
		    cases[i].code == -ETIMEDOUT ? SHORT_NS : LONG_NS, &err),
		    cases[i].code);
		assert_null(l);
		assert_int_equal(err.code, cases[i].code);
		if (strstr(err.text, cases[i].why) == NULL)
			fail_msg("case %zu: %s", i, err.text);
		/* Still ours. */
		assert_int_equal(close(h.client), 0);
		linkhub_end(&h);
	}
}

UNIT_MAIN(
	UNIT(is_welcomed),
	UNIT(says_its_job),
	UNIT(welcomes_that_are_none))
