/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_link.c: tests of the client's end of the wire, against a hub that is a
 * thread and behaves as a test wants it.
 */

#include <config.h>

#include "hub/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memfd.h"
#include "hub/job.h"
#include "hub/proto.h"
#include "tests/harness/unit.h"

#define GENERATION	UINT64_C(0x1122334455667788)
#define CLIENT		7u
#define MSG_TEST	0x123
#define MSG_ANSWER	0x124
#define SHORT_NS	(50 * NS_PER_MS)
#define LONG_NS		(60 * NS_PER_S)

/*--- a hub ---------------------------------------------------------------*/

struct fake;
typedef bool serve_f(struct fake *h, struct wire_frame *f);
	/* False: hang up. */

struct fake {
	int		sock;		/* the hub's */
	int		client;		/* for the link */
	serve_f		*hello, *serve;
	struct segment	control;
	pthread_t	thread;
	unsigned	nr_told;
	bool		reads;		/* else it only welcomes */
};

static void
send_frame(struct fake *h, struct wire_frame *f, uint16_t type)
{
	f->head.type = type;
	(void)wire_send(h->sock, f, NULL);
}

static void
send_refusal(struct fake *h, uint32_t serial, uint32_t code, const char *text)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_REFUSED, serial);
	wire_put_u32(&w, code);
	wire_put_bytes(&w, text, strlen(text));
	(void)wire_send(h->sock, &f, NULL);
}

static void
write_welcome(struct wire_frame *f, uint32_t serial, int fd)
{
	struct wire_writer w;

	wire_write(&w, f, MSG_WELCOME, serial);
	wire_put_u64(&w, GENERATION);
	wire_put_u32(&w, CLIENT);
	if (fd >= 0)
		wire_put_fd(&w, fd);
}

static bool
welcome(struct fake *h, struct wire_frame *f)
{
	write_welcome(f, f->head.serial, h->control.fd);
	return wire_send(h->sock, f, NULL) == 0;
}

/* Sends back what came, descriptors included. */
static bool
echo(struct fake *h, struct wire_frame *f)
{
	send_frame(h, f, MSG_ANSWER);
	wire_close_fds(f);
	return true;
}

static void *
run_fake(void *arg)
{
	struct fake *h = arg;
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

static void
begin(struct fake *h, serve_f *hello, serve_f *serve)
{
	int ends[2];

	*h = (struct fake){ .hello = hello, .serve = serve, .reads = true };
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    ends), 0);
	h->sock = ends[0];
	h->client = ends[1];
	assert_int_equal(segment_create(&h->control, &control_kind,
	    sizeof(struct control), GENERATION, NULL), 0);
	((struct control *)h->control.base)->pid = 42;
}

static void
run(struct fake *h)
{
	assert_int_equal(pthread_create(&h->thread, NULL, run_fake, h), 0);
}

static struct link *
connect_to(struct fake *h, uint64_t patience_ns)
{
	struct link *l = NULL;
	struct ds_err err;

	run(h);
	if (link_new_within(&l, h->client, patience_ns, &err) != 0)
		fail_msg("%s", err.text);
	return l;
}

static void
end(struct fake *h)
{
	pthread_join(h->thread, NULL);
	if (h->sock >= 0)
		close(h->sock);
	segment_detach(&h->control);
}

static void
make_request(struct wire_frame *f, uint32_t n)
{
	struct wire_writer w;

	wire_write(&w, f, MSG_TEST, 99);
	wire_put_u32(&w, n);
}

static uint32_t
read_number(const struct wire_frame *f)
{
	struct wire_reader r;

	wire_read(&r, f);
	return wire_get_u32(&r);
}

static void
assert_works(struct link *l)
{
	struct wire_frame f;

	make_request(&f, 5);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, NULL), 0);
	assert_int_equal(read_number(&f), 5);
	assert_true(link_alive(l));
}

static void
assert_gone(struct link *l, const char *why)
{
	struct wire_frame f;
	struct ds_err err;

	assert_false(link_alive(l));
	assert_true(link_mine(l));
	make_request(&f, 5);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, &err), -ESTALE);
	assert_non_null(strstr(err.text, "the hub is gone: "));
	assert_non_null(strstr(err.text, why));
	make_request(&f, 5);
	assert_int_equal(link_tell(l, &f, NULL), -ESTALE);
}

/* The first call that fails says why; so do all later ones. */
static void
assert_loses(struct link *l, const char *why)
{
	struct wire_frame f;
	struct ds_err err;

	make_request(&f, 1);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, &err), -ESTALE);
	assert_int_equal(f.nr_fds, 0);
	if (strstr(err.text, why) == NULL)
		fail_msg("%s", err.text);
	assert_gone(l, why);
}

/*--- hello ---------------------------------------------------------------*/

static char said_version[HUB_VERSION_MAX + 1];
static uint64_t said_job;

static bool
note_hello(struct fake *h, struct wire_frame *f)
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
	return wire_read_end(&r) && welcome(h, f);
}

static void
is_welcomed(void **state)
{
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, note_hello, echo);
	l = connect_to(&h, LONG_NS);
	assert_true(link_generation(l) == GENERATION);
	assert_int_equal(link_client(l), CLIENT);
	assert_int_equal(link_control(l)->pid, 42);
	assert_true(link_alive(l));
	assert_true(link_mine(l));
	assert_works(l);
	link_free(&l);
	assert_null(l);
	link_free(&l);
	end(&h);
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
	struct fake h;
	struct link *l;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(&h, note_hello, echo);
		strcpy(text, cases[i].text);
		env[0] = text;
		environ = env;
		l = connect_to(&h, LONG_NS);
		environ = saved;
		assert_true(link_job(l) == cases[i].job);
		link_free(&l);
		end(&h);
		assert_true(said_job == cases[i].job);
	}
}

static bool
refuse_version(struct fake *h, struct wire_frame *f)
{
	send_refusal(h, f->head.serial, EPROTO,
	    "the hub is destall 9.9.9 and this job has " PACKAGE_VERSION);
	return false;
}

static bool
hang_up(struct fake *h, struct wire_frame *f)
{
	(void)h;
	wire_close_fds(f);
	return false;
}

static bool
be_silent(struct fake *h, struct wire_frame *f)
{
	(void)h;
	wire_close_fds(f);
	return true;
}

static bool
send_garbage(struct fake *h, struct wire_frame *f)
{
	wire_close_fds(f);
	(void)send(h->sock, "garbage", 7, MSG_NOSIGNAL);
	return true;
}

static bool
welcome_without(struct fake *h, struct wire_frame *f)
{
	write_welcome(f, f->head.serial, -1);
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_twice(struct fake *h, struct wire_frame *f)
{
	write_welcome(f, f->head.serial, h->control.fd);
	f->fds[f->nr_fds++] = h->control.fd;
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_with_socket(struct fake *h, struct wire_frame *f)
{
	write_welcome(f, f->head.serial, h->sock);
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_short(struct fake *h, struct wire_frame *f)
{
	write_welcome(f, f->head.serial, h->control.fd);
	f->head.len--;
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_long(struct fake *h, struct wire_frame *f)
{
	write_welcome(f, f->head.serial, h->control.fd);
	f->head.len++;
	return wire_send(h->sock, f, NULL) == 0;
}

static bool
welcome_with(struct fake *h, struct wire_frame *f,
    const struct segment_kind *kind, size_t len, uint64_t generation)
{
	struct segment seg;

	if (segment_create(&seg, kind, len, generation, NULL) != 0)
		return false;
	write_welcome(f, f->head.serial, seg.fd);
	(void)wire_send(h->sock, f, NULL);
	segment_detach(&seg);
	return true;
}

static bool
welcome_other_generation(struct fake *h, struct wire_frame *f)
{
	return welcome_with(h, f, &control_kind, sizeof(struct control),
	    GENERATION + 1);
}

static bool
welcome_small_segment(struct fake *h, struct wire_frame *f)
{
	return welcome_with(h, f, &control_kind, sizeof(struct control) - 8,
	    GENERATION);
}

static bool
welcome_other_kind(struct fake *h, struct wire_frame *f)
{
	struct segment_kind other = control_kind;

	other.layout++;
	return welcome_with(h, f, &other, sizeof(struct control), GENERATION);
}

static bool
welcome_unsealed(struct fake *h, struct wire_frame *f)
{
	int fd = memfd_create("unsealed", MFD_CLOEXEC);
	bool ok = fd >= 0 && ftruncate(fd, 4096) == 0;

	write_welcome(f, f->head.serial, fd);
	ok = ok && wire_send(h->sock, f, NULL) == 0;
	close(fd);
	return ok;
}

static bool
refuse_badly(struct fake *h, struct wire_frame *f)
{
	send_refusal(h, f->head.serial, 0, "errno 0");
	return true;
}

static bool
refuse_hugely(struct fake *h, struct wire_frame *f)
{
	send_refusal(h, f->head.serial, 0x80000001u, "no errno");
	return true;
}

static bool
answer_otherwise(struct fake *h, struct wire_frame *f)
{
	write_welcome(f, f->head.serial, h->control.fd);
	send_frame(h, f, MSG_DONE);
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
		{ hang_up, -ECONNRESET, "ended the connection" },
		{ be_silent, -ETIMEDOUT, "does not answer" },
		{ send_garbage, -EBADMSG, "a message of 7 bytes" },
		{ welcome_without, -EBADMSG, "0 descriptors" },
		{ welcome_twice, -EBADMSG, "2 descriptors" },
		{ welcome_with_socket, -EBADMSG, "" },
		{ welcome_short, -EBADMSG, "cannot be read" },
		{ welcome_long, -EBADMSG, "cannot be read" },
		{ welcome_other_generation, -EBADMSG, "not its own" },
		{ welcome_small_segment, -EBADMSG, "not its own" },
		{ welcome_other_kind, -EBADMSG, "layout" },
		{ welcome_unsealed, -EBADMSG, "" },
		{ refuse_badly, -EBADMSG, "cannot be read" },
		{ refuse_hugely, -EBADMSG, "cannot be read" },
		{ answer_otherwise, -EBADMSG, "message 4 where 2" },
	};
	struct link *l = NULL;
	struct ds_err err;
	struct fake h;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(&h, cases[i].hello, echo);
		run(&h);
		assert_int_equal(link_new_within(&l, h.client,
		    cases[i].code == -ETIMEDOUT ? SHORT_NS : LONG_NS, &err),
		    cases[i].code);
		assert_null(l);
		assert_int_equal(err.code, cases[i].code);
		if (strstr(err.text, cases[i].why) == NULL)
			fail_msg("case %zu: %s", i, err.text);
		/* Still ours. */
		assert_int_equal(close(h.client), 0);
		end(&h);
	}
}

/*--- calls ---------------------------------------------------------------*/

static bool
refuse(struct fake *h, struct wire_frame *f)
{
	uint32_t n = read_number(f);

	if (n == 5)
		return echo(h, f);
	send_refusal(h, f->head.serial, n, "not today");
	return true;
}

static void
a_refusal_is_no_failure(void **state)
{
	struct wire_frame f;
	struct ds_err err;
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, welcome, refuse);
	l = connect_to(&h, LONG_NS);
	make_request(&f, ENOSPC);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, &err), -ENOSPC);
	assert_string_equal(err.text, "not today");
	make_request(&f, ENOENT);
	assert_int_equal(link_call(l, &f, MSG_ANSWER, NULL), -ENOENT);
	assert_works(l);
	link_free(&l);
	end(&h);
}

/* Answers of long ago, with descriptors, before the right one. */
static bool
answer_late(struct fake *h, struct wire_frame *f)
{
	struct wire_frame old;

	for (uint32_t i = 1; i < 4; i++) {
		write_welcome(&old, f->head.serial - i, h->control.fd);
		send_frame(h, &old, MSG_ANSWER);
	}
	send_refusal(h, 0, EPERM, "what was told");
	return echo(h, f);
}

static void
late_answers_are_dropped(void **state)
{
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, welcome, answer_late);
	l = connect_to(&h, LONG_NS);
	for (int i = 0; i < 10; i++)
		assert_works(l);
	link_free(&l);
	end(&h);
}

static void
descriptors_go_and_come(void **state)
{
	struct wire_frame f;
	struct stat was, is;
	int ends[2];
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, welcome, echo);
	l = connect_to(&h, LONG_NS);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	make_request(&f, 1);
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
	end(&h);
}

static void
a_hub_that_fails(void **state)
{
	static const struct {
		serve_f *serve;
		const char *why;
	} cases[] = {
		{ hang_up, "ended the connection" },
		{ be_silent, "does not answer" },
		{ send_garbage, "a message of 7 bytes" },
		{ answer_otherwise, "message 4 where" },
		{ refuse_badly, "cannot be read" },
	};
	struct fake h;
	struct link *l;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin(&h, welcome, cases[i].serve);
		l = connect_to(&h, cases[i].serve == be_silent ?
		    SHORT_NS : LONG_NS);
		assert_loses(l, cases[i].why);
		/* The hub was told, though the link is not freed yet. */
		end(&h);
		link_free(&l);
	}
}

static void
a_link_that_is_ended(void **state)
{
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, welcome, echo);
	l = connect_to(&h, LONG_NS);
	link_end(l, "enough");
	link_end(l, "too late");
	assert_gone(l, "enough");
	end(&h);
	link_free(&l);
}

static bool
count_told(struct fake *h, struct wire_frame *f)
{
	struct wire_reader r;
	uint32_t n;

	wire_read(&r, f);
	n = wire_get_u32(&r);
	if (f->head.serial != 0)
		return echo(h, f);
	if (n == 1234)
		h->nr_told++;
	send_refusal(h, 0, EINVAL, "nobody reads this");
	return true;
}

static void
telling(void **state)
{
	struct wire_frame f;
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, welcome, count_told);
	l = connect_to(&h, LONG_NS);
	make_request(&f, 1234);
	for (int i = 0; i < 10; i++)
		assert_int_equal(link_tell(l, &f, NULL), 0);
	assert_works(l);
	link_free(&l);
	end(&h);
	assert_int_equal(h.nr_told, 10);
}

static void
telling_a_hub_that_does_not_read(void **state)
{
	struct wire_frame f;
	struct ds_err err;
	struct fake h;
	struct link *l;
	int rc;

	(void)state;
	begin(&h, welcome, echo);
	h.reads = false;
	l = connect_to(&h, SHORT_NS);
	make_request(&f, 1234);
	do {
		rc = link_tell(l, &f, &err);
	} while (rc == 0);
	assert_int_equal(rc, -ESTALE);
	assert_gone(l, "does not answer");
	link_free(&l);
	end(&h);
}

/*--- a hub that stands still ---------------------------------------------*/

/* Waits for the client to give up, and then hangs up; but not for ever: one that
 * waits as if nothing were known would see another end. */
static bool
outlast(struct fake *h, struct wire_frame *f)
{
	struct pollfd pfd = { .fd = h->sock, .events = POLLRDHUP };

	wire_close_fds(f);
	(void)poll(&pfd, 1, 20000);
	return false;
}

/* Later than one that is thought to stand still is waited for. */
static bool
echo_slowly(struct fake *h, struct wire_frame *f)
{
	(void)usleep(LINK_BRIEF_NS / 1000 * 2);
	return echo(h, f);
}

static void
a_silent_hub_is_waited_for_once(void **state)
{
	struct fake first, second, third;
	struct link *a, *b, *c = NULL;
	struct ds_err err;

	(void)state;
	begin(&first, welcome, be_silent);
	begin(&second, welcome, outlast);
	begin(&third, outlast, echo);
	a = connect_to(&first, SHORT_NS);
	b = connect_to(&second, LONG_NS);
	assert_loses(a, "does not answer");
	assert_loses(b, "does not answer");
	/* Nor does who connects to it anew. */
	run(&third);
	assert_int_equal(link_new_within(&c, third.client, LONG_NS, &err),
	    -ETIMEDOUT);
	close(third.client);
	link_free(&a);
	link_free(&b);
	end(&first);
	end(&second);
	end(&third);
}

static void
until_it_answers(void **state)
{
	struct fake still, slow;
	struct link *a, *b;

	(void)state;
	begin(&still, welcome, be_silent);
	begin(&slow, welcome, echo_slowly);
	a = connect_to(&still, SHORT_NS);
	assert_loses(a, "does not answer");
	b = connect_to(&slow, LONG_NS);
	assert_works(b);
	link_free(&a);
	link_free(&b);
	end(&still);
	end(&slow);
}

/*--- threads and signals -------------------------------------------------*/

#define NR_THREADS	4
#define NR_CALLS	300

struct caller {
	struct link	*link;
	uint32_t	first;
	int		wrong;
};

static void *
call_often(void *arg)
{
	struct caller *c = arg;
	struct wire_frame f;

	for (uint32_t i = 0; i < NR_CALLS; i++) {
		make_request(&f, c->first + i);
		if (link_tell(c->link, &f, NULL) != 0)
			c->wrong++;
		if (link_call(c->link, &f, MSG_ANSWER, NULL) != 0 ||
		    read_number(&f) != c->first + i)
			c->wrong++;
	}
	return NULL;
}

static void
run_callers(struct link *l)
{
	struct caller callers[NR_THREADS];
	pthread_t threads[NR_THREADS];

	for (uint32_t i = 0; i < NR_THREADS; i++) {
		callers[i] = (struct caller){ l, i * 100000, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, call_often,
		    &callers[i]), 0);
	}
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(callers[i].wrong, 0);
	}
}

static void
many_threads(void **state)
{
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, welcome, count_told);
	l = connect_to(&h, LONG_NS);
	run_callers(l);
	link_free(&l);
	end(&h);
}

static void
ignore_signal(int sig)
{
	(void)sig;
}

static void
many_signals(void **state)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, off = { 0 };
	struct sigaction handler = { .sa_handler = ignore_signal }, saved;
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, welcome, count_told);
	assert_int_equal(sigaction(SIGALRM, &handler, &saved), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	l = connect_to(&h, LONG_NS);
	run_callers(l);
	assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &saved, NULL), 0);
	link_free(&l);
	end(&h);
}

/* One waits for an answer that does not come, the others for him: all are
 * told, none waits longer than it may. */
static void *
call_once(void *arg)
{
	struct caller *c = arg;
	struct wire_frame f;

	make_request(&f, 1);
	c->wrong = link_call(c->link, &f, MSG_ANSWER, NULL);
	return NULL;
}

static void
all_threads_learn_of_the_end(void **state)
{
	struct caller callers[NR_THREADS];
	pthread_t threads[NR_THREADS];
	struct fake h;
	struct link *l;

	(void)state;
	begin(&h, welcome, be_silent);
	l = connect_to(&h, SHORT_NS);
	for (int i = 0; i < NR_THREADS; i++) {
		callers[i] = (struct caller){ l, 0, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, call_once,
		    &callers[i]), 0);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		/* Those who waited for the lock may have had to give up. */
		assert_true(callers[i].wrong == -ESTALE ||
		    callers[i].wrong == -EBUSY);
	}
	callers[0].wrong = 0;
	(void)call_once(&callers[0]);
	assert_int_equal(callers[0].wrong, -ESTALE);
	link_free(&l);
	end(&h);
}

/*--- programs that close our socket --------------------------------------*/

static ino_t
inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

/* The number that the link has moved its socket to.  By its name: the thread of
 * the hub may close its own descriptors meanwhile. */
static int
find_socket(ino_t ino)
{
	char name[64], path[64], found[64];

	(void)snprintf(name, sizeof name, "socket:[%ju]", (uintmax_t)ino);
	for (int fd = 0; fd < 4096; fd++) {
		ssize_t len;

		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		len = readlink(path, found, sizeof found - 1);
		if (len < 0)
			continue;
		found[len] = '\0';
		if (strcmp(found, name) == 0)
			return fd;
	}
	fail_msg("the link has no socket");
	return -1;
}

/* In a child, because it closes everything.  0, or the line that is wrong. */
static int
close_all_and_reuse(int sock)
{
	ino_t ino = inode_of(sock);
	struct wire_frame f;
	struct link *l = NULL;
	int own[2];
	char byte;

	if (link_new_within(&l, sock, LONG_NS, NULL) != 0)
		return __LINE__;
	sock = find_socket(ino);
	if (close_range(3, ~0u, 0) != 0)
		return __LINE__;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, own) != 0)
		return __LINE__;
	if (own[0] != sock && own[1] != sock && dup2(own[0], sock) != sock)
		return __LINE__;
	make_request(&f, 1);
	if (link_tell(l, &f, NULL) != -ESTALE)
		return __LINE__;
	make_request(&f, 1);
	if (link_call(l, &f, MSG_ANSWER, NULL) != -ESTALE)
		return __LINE__;
	for (int i = 0; i < 2; i++)
		if (recv(own[i], &byte, 1, MSG_DONTWAIT) != -1 ||
		    errno != EAGAIN)
			return __LINE__;	/* a frame, or a hang-up */
	link_free(&l);
	return fcntl(sock, F_GETFD) >= 0 ? 0 : __LINE__;
}

static void
assert_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		assert_int_equal(errno, EINTR);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 0)
		fail_msg("the child failed, line %% 256: %d", WEXITSTATUS(status));
}

static void
another_socket_of_the_same_number(void **state)
{
	struct fake h;
	pid_t pid;

	(void)state;
	begin(&h, welcome, echo);
	pid = fork();
	if (pid == 0) {
		close(h.sock);
		_exit(close_all_and_reuse(h.client) & 0xff);
	}
	close(h.client);
	run(&h);
	assert_child(pid);
	end(&h);
}

/* Closed, and no number in its place. */
/* An answer that nobody waits for is no end. */
static bool
answer_what_was_told(struct fake *h, struct wire_frame *f)
{
	send_frame(h, f, MSG_ANSWER);
	return read_number(f) != 3;
}

static void
a_look_finds_the_end(void **state)
{
	struct wire_frame f;
	struct fake h;
	struct link *l;
	ino_t ino;

	(void)state;
	begin(&h, welcome, answer_what_was_told);
	l = connect_to(&h, LONG_NS);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(link_check(l));
		make_request(&f, i);
		assert_int_equal(link_tell(l, &f, NULL), 0);
	}
	make_request(&f, 3);
	assert_int_equal(link_tell(l, &f, NULL), 0);
	pthread_join(h.thread, NULL);
	assert_false(link_check(l));
	assert_gone(l, "ended the connection");
	link_free(&l);
	segment_detach(&h.control);

	begin(&h, welcome, echo);
	ino = inode_of(h.client);
	l = connect_to(&h, LONG_NS);
	close(find_socket(ino));
	assert_false(link_check(l));
	assert_gone(l, "closed the connection");
	link_free(&l);
	end(&h);
}

static void
a_socket_that_was_closed(void **state)
{
	struct fake h;
	struct link *l;
	ino_t ino;

	(void)state;
	begin(&h, welcome, echo);
	ino = inode_of(h.client);
	l = connect_to(&h, LONG_NS);
	close(find_socket(ino));
	assert_loses(l, "closed the connection");
	link_free(&l);
	end(&h);
}

/*--- forks ---------------------------------------------------------------*/

static int
use_in_child(struct link *l)
{
	struct wire_frame f;
	struct ds_err err;

	if (link_mine(l) || link_alive(l))
		return __LINE__;
	make_request(&f, 1);
	if (link_call(l, &f, MSG_ANSWER, &err) != -ESTALE ||
	    strstr(err.text, "after a fork") == NULL)
		return __LINE__;
	make_request(&f, 1);
	if (link_tell(l, &f, NULL) != -ESTALE)
		return __LINE__;
	link_end(l, "from a child");
	/* What can be read without asking can still be. */
	if (link_control(l)->pid != 42 || link_client(l) != CLIENT)
		return __LINE__;
	link_free(&l);
	return 0;
}

static void
a_forked_child(void **state)
{
	struct fake h;
	struct link *l;
	pid_t pid;

	(void)state;
	begin(&h, welcome, echo);
	l = connect_to(&h, LONG_NS);
	pid = fork();
	if (pid == 0)
		_exit(use_in_child(l) & 0xff);
	assert_child(pid);
	assert_works(l);
	link_free(&l);
	end(&h);
}

static atomic_bool stop_calling;

static void *
call_until_stopped(void *arg)
{
	struct caller *c = arg;
	struct wire_frame f;

	while (!atomic_load_explicit(&stop_calling, memory_order_relaxed)) {
		make_request(&f, 7);
		if (link_call(c->link, &f, MSG_ANSWER, NULL) != 0 ||
		    read_number(&f) != 7)
			c->wrong++;
	}
	return NULL;
}

#define NR_FORKS	1000

/* A thread holds the lock at most of these forks; a child that waited for it
 * would wait for ever. */
static void
forks_while_a_thread_calls(void **state)
{
	struct caller c = { 0 };
	pthread_t thread;
	struct fake h;
	pid_t pid;

	(void)state;
	begin(&h, welcome, echo);
	c.link = connect_to(&h, LONG_NS);
	atomic_store_explicit(&stop_calling, false, memory_order_relaxed);
	assert_int_equal(pthread_create(&thread, NULL, call_until_stopped, &c),
	    0);
	for (int i = 0; i < NR_FORKS; i++) {
		pid = fork();
		if (pid == 0) {
			alarm(60);	/* the end of one that hangs */
			_exit(use_in_child(c.link) & 0xff);
		}
		assert_child(pid);
	}
	atomic_store_explicit(&stop_calling, true, memory_order_relaxed);
	pthread_join(thread, NULL);
	assert_int_equal(c.wrong, 0);
	link_free(&c.link);
	end(&h);
}

/* A worker that lives on has a copy of the socket: the hub learns of the end
 * all the same. */
static void
a_copy_does_not_keep_it_open(void **state)
{
	struct fake h;
	struct link *l;
	int ends[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	begin(&h, welcome, echo);
	l = connect_to(&h, LONG_NS);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	close(ends[0]);
	link_free(&l);
	end(&h);		/* waits for the hang-up */
	close(ends[1]);
	assert_child(pid);
}

UNIT_MAIN(
	UNIT(is_welcomed),
	UNIT(says_its_job),
	UNIT(welcomes_that_are_none),
	UNIT(a_refusal_is_no_failure),
	UNIT(late_answers_are_dropped),
	UNIT(descriptors_go_and_come),
	UNIT(a_hub_that_fails),
	UNIT(a_link_that_is_ended),
	UNIT(telling),
	UNIT(telling_a_hub_that_does_not_read),
	UNIT(a_silent_hub_is_waited_for_once),
	UNIT(until_it_answers),
	UNIT(many_threads),
	UNIT(many_signals),
	UNIT(all_threads_learn_of_the_end),
	UNIT(another_socket_of_the_same_number),
	UNIT(a_socket_that_was_closed),
	UNIT(a_look_finds_the_end),
	UNIT(a_forked_child),
	UNIT(forks_while_a_thread_calls),
	UNIT(a_copy_does_not_keep_it_open))
