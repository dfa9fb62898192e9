/* SPDX-License-Identifier: Apache-2.0
 *
 * testhub.c: a hub in a child process, and a client that sends any frame.
 */

#include <config.h>

#include "tests/harness/testhub.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "hub/control.h"
#include "hub/proto.h"
#include "tests/harness/unit.h"

#define SERIAL	77u

/*--- the module ----------------------------------------------------------*/

struct state {
	struct hub	*hub;
	bool		holds;
	struct testhub_counts counts;
};

struct later {
	struct helper_job job;
	struct hub	*hub;
	uint32_t	client, serial;
};

static int
start(void **state, struct hub *hub, struct ds_err *err)
{
	struct state *s = calloc(1, sizeof *s);

	(void)err;
	s->hub = hub;
	*state = s;
	return 0;
}

static void
stop(void *state)
{
	free(state);
}

static bool
work_later(struct helper_job *job)
{
	(void)job;
	return false;
}

static void
answer_later(struct helper_job *job)
{
	struct later *l = (struct later *)job;
	struct client *c = hub_client(l->hub, l->client);

	if (c != NULL)
		client_done(c, l->serial);
	free(l);
}

static void
submit_later(struct state *s, struct client *c, uint32_t serial)
{
	struct later *l = calloc(1, sizeof *l);

	l->job.work = work_later;
	l->job.done = answer_later;
	l->hub = s->hub;
	l->client = client_id(c);
	l->serial = serial;
	helper_submit(hub_helper(s->hub), &l->job);
}

static void
answer_counts(struct state *s, struct client *c, uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, TEST_ASK, serial);
	wire_put_u32(&w, s->counts.told);
	wire_put_u32(&w, s->counts.gone);
	wire_put_u32(&w, s->counts.last_gone);
	client_answer(c, &f);
}

static void
flood(struct client *c, uint32_t serial, uint32_t nr)
{
	struct wire_frame f;
	struct wire_writer w;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	wire_write(&w, &f, TEST_FLOOD, serial);
	wire_put_fd(&w, fd);
	for (uint32_t i = 0; i < nr; i++)
		client_answer(c, &f);
	close(fd);
}

static int
take(void *state, struct client *c, struct wire_frame *f, struct ds_err *err)
{
	struct state *s = state;
	struct wire_reader r;
	uint32_t n;

	wire_read(&r, f);
	n = wire_get_u32(&r);
	switch (f->head.type) {
	case TEST_ECHO:
		client_answer(c, f);
		return 0;
	case TEST_FAIL:
		return err_fail(err, -(int)n, "failed as told");
	case TEST_LATER:
		submit_later(s, c, f->head.serial);
		return 0;
	case TEST_HOLD:
		s->holds = n != 0;
		client_done(c, f->head.serial);
		return 0;
	case TEST_COUNT:
		s->counts.told++;
		return 0;
	case TEST_ASK:
		answer_counts(s, c, f->head.serial);
		return 0;
	case TEST_FLOOD:
		flood(c, f->head.serial, n);
		return 0;
	case TEST_FLIP:
		hub_control(s->hub)->head.layout ^= 4;
		return 0;
	default:
		return err_fail(err, -EBADMSG, "what no client would send");
	}
}

static void
count_gone(void *state, struct client *c)
{
	struct state *s = state;

	s->counts.gone++;
	s->counts.last_gone = client_id(c);
	client_done(c, 0);	/* goes nowhere, and harms nobody */
}

static bool
holds(void *state)
{
	return ((struct state *)state)->holds;
}

const struct hub_module testhub_module = {
	.name = "test",
	.first = 0x100, .last = 0x1ff,
	.start = start, .stop = stop, .frame = take, .gone = count_gone,
	.holds = holds,
};

/*--- the hub -------------------------------------------------------------*/

static char folder[64], path[96];
static unsigned clock_speed;
static const struct hub_module *const own_modules[] = {
	&testhub_module, NULL,
};
static const struct hub_module *const *modules = own_modules;

void
testhub_use(const struct hub_module *const *others)
{
	modules = others != NULL ? others : own_modules;
}

void
testhub_open(void)
{
	const char *tmp = getenv("TMPDIR");

	/* A socket's name is short. */
	if (tmp == NULL || strlen(tmp) > 30)
		tmp = "/tmp";
	(void)snprintf(folder, sizeof folder, "%s/unit_hub.XXXXXX", tmp);
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof path, "%s/s", folder);
}

void
testhub_close(void)
{
	static const char *const names[] = { "s", "hub.lock", "hub.log" };
	char name[128];

	for (int i = 0; i < 3; i++) {
		(void)snprintf(name, sizeof name, "%s/%s", folder, names[i]);
		(void)unlink(name);
	}
	(void)rmdir(folder);
}

const char *
testhub_socket(void)
{
	return path;
}

const char *
testhub_folder(void)
{
	return folder;
}

static uint64_t
tell_fast_time(void *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec) *
	    clock_speed;
}

static _Noreturn void
be_hub(const struct hub_options *o, int go, int ready, unsigned speed)
{
	struct ds_err err;
	int null = open("/dev/null", O_WRONLY);
	char word;

	if (io_read_all(go, &word, 1) != 1)
		_exit(0);		/* it is not wanted any more */
	setenv("DESTALL_HUB", path, 1);
	dup2(null, STDERR_FILENO);
	clock_speed = speed;
	if (speed > 1)
		clock_replace(tell_fast_time, NULL);
	if (hub_run_with(modules, o, ready, &err) == 0)
		_exit(0);
	(void)io_write_all(ready, err.text, strlen(err.text));
	_exit(1);
}

static struct testhub_next
fork_hub(const struct hub_options *o, unsigned speed)
{
	int go[2], ready[2];
	pid_t pid;

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(go[1]);
		close(ready[0]);
		be_hub(o, go[0], ready[1], speed);
	}
	close(go[0]);
	close(ready[1]);
	return (struct testhub_next){ .pid = pid, .go = go[1],
	    .ready = ready[0] };
}

static void
let_go(struct testhub_next *next, char *said, unsigned size)
{
	ssize_t n;

	assert_int_equal(io_write_all(next->go, "g", 1), 0);
	close(next->go);
	n = io_read_all(next->ready, said, size - 1);
	assert_true(n >= 0);
	said[n] = '\0';
	close(next->ready);
}

struct testhub_next
testhub_prepare(const struct hub_options *o)
{
	return fork_hub(o, 1);
}

pid_t
testhub_begin(struct testhub_next *next)
{
	char said[DS_ERR_TEXT];

	let_go(next, said, sizeof said);
	assert_string_equal(said, "ok\n");
	return next->pid;
}

pid_t
testhub_try(const struct hub_options *o, char *said, unsigned size)
{
	struct testhub_next next = fork_hub(o, 1);

	let_go(&next, said, size);
	return next.pid;
}

pid_t
testhub_start(const struct hub_options *o, unsigned speed)
{
	struct testhub_next next = fork_hub(o, speed);

	return testhub_begin(&next);
}

int
testhub_wait(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}

int
testhub_stop(pid_t pid)
{
	kill(pid, SIGTERM);
	return testhub_wait(pid);
}

/*--- a client ------------------------------------------------------------*/

int
testhub_connect(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(sock >= 0);
	strcpy(a.sun_path, path);
	assert_int_equal(connect(sock, (struct sockaddr *)&a, sizeof a), 0);
	return sock;
}

bool
testhub_try_send(int sock, uint16_t type, const void *body, uint32_t len)
{
	struct wire_frame f;

	f.head = (struct wire_head){ .type = type, .serial = SERIAL,
		.len = len };
	f.nr_fds = 0;
	if (len > 0)
		memcpy(f.body, body, len);
	return wire_send(sock, &f, NULL) == 0;
}

void
testhub_send(int sock, uint16_t type, const void *body, uint32_t len)
{
	assert_true(testhub_try_send(sock, type, body, len));
}

int
testhub_recv(int sock, struct wire_frame *f)
{
	struct ds_err err;
	int rc = wire_recv(sock, f, &err);

	if (rc == 0 || rc == -ECONNRESET)
		return 0;
	assert_int_equal(rc, 1);
	return f->head.type;
}

int
testhub_ask(int sock, uint16_t type, const void *body, uint32_t len,
    struct wire_frame *f)
{
	testhub_send(sock, type, body, len);
	return testhub_recv(sock, f);
}

int
testhub_hello(int sock, const char *version, struct wire_frame *f)
{
	struct wire_writer w;

	wire_write(&w, f, MSG_HELLO, SERIAL);
	wire_put_bytes(&w, version, strlen(version));
	wire_put_u64(&w, 5);
	assert_int_equal(wire_send(sock, f, NULL), 0);
	return testhub_recv(sock, f);
}

int
testhub_join(void)
{
	int sock = testhub_connect();
	struct wire_frame f;
	struct wire_reader r;

	assert_int_equal(testhub_hello(sock, PACKAGE_VERSION, &f),
	    MSG_WELCOME);
	assert_int_equal(f.head.serial, SERIAL);
	assert_int_equal(f.nr_fds, 1);
	wire_read(&r, &f);
	assert_true(wire_get_u64(&r) != 0);
	assert_true(wire_get_u32(&r) != 0);
	assert_true(wire_read_end(&r));
	wire_close_fds(&f);
	return sock;
}

void
testhub_check_ping(int sock)
{
	struct wire_frame f;

	assert_int_equal(testhub_ask(sock, MSG_PING, NULL, 0, &f), MSG_DONE);
	assert_int_equal(f.head.serial, SERIAL);
}

bool
testhub_is_ended(int sock)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct wire_frame f;

	do {
		if (poll(&p, 1, 20000) != 1)
			return false;
		if (testhub_recv(sock, &f) == 0)
			return true;
		wire_close_fds(&f);
	} while (1);
}

struct testhub_counts
testhub_counts(int sock)
{
	struct testhub_counts n;
	struct wire_frame f;
	struct wire_reader r;

	assert_int_equal(testhub_ask(sock, TEST_ASK, NULL, 0, &f), TEST_ASK);
	wire_read(&r, &f);
	n.told = wire_get_u32(&r);
	n.gone = wire_get_u32(&r);
	n.last_gone = wire_get_u32(&r);
	return n;
}

void
testhub_await_gone(int sock, uint32_t nr)
{
	while (testhub_counts(sock).gone < nr)
		continue;
	assert_int_equal(testhub_counts(sock).gone, nr);
}
