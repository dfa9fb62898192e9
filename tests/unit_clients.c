/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_clients.c: tests of hub/clients.c, hub/client.c and hub/caller.c: how
 * clients come, what they send, and how they end.
 */

#include <config.h>

#include "hub/clients.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hub/proto.h"
#include "tests/harness/packet.h"
#include "tests/harness/testhub.h"
#include "tests/harness/unit.h"

static pid_t hub;
static int witness;		/* a client that must not be disturbed */

static int
start_hub(void **state)
{
	leak_before(state);
	testhub_open();
	hub = testhub_start(&hub_defaults, 1);
	witness = testhub_join();
	return 0;
}

static int
end_hub(void **state)
{
	int status;

	testhub_check_ping(witness);
	close(witness);
	status = testhub_stop(hub);
	testhub_close();
	if (status != 0)
		print_message("the hub ended with %d\n", status);
	return leak_after(state) != 0 || status != 0 ? -1 : 0;
}

#define CLIENT_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, start_hub, end_hub)

static void
another_version_is_refused_in_words(void **state)
{
	int sock = testhub_connect();
	char want[256], text[256];
	struct wire_frame f;
	struct wire_reader r;
	const void *bytes;
	size_t len;

	(void)state;
	assert_int_equal(testhub_hello(sock, "0.0.9\033[2J", &f), MSG_REFUSED);
	wire_read(&r, &f);
	assert_int_equal(wire_get_u32(&r), EPROTO);
	bytes = wire_get_bytes(&r, &len);
	assert_true(wire_read_end(&r));
	(void)snprintf(text, sizeof text, "%.*s", (int)len, (const char *)bytes);
	(void)snprintf(want, sizeof want, "the hub is %s, this client "
	    "0.0.9\\x1b[2J: use one version, or end the hub (kill %d)",
	    PACKAGE_VERSION, (int)hub);
	assert_string_equal(text, want);
	assert_true(testhub_is_ended(sock));
	close(sock);
}

/* Bytes that no client of ours sends: the connection ends, and no other. */
static void
check_expelled(int sock, const char *what)
{
	if (!testhub_is_ended(sock))
		fail_msg("not expelled: %s", what);
	close(sock);
	testhub_check_ping(witness);
}

static void
send_raw(int sock, const void *bytes, size_t len)
{
	assert_int_equal(send(sock, bytes, len, 0), (ssize_t)len);
}

static void
malformed_frames_end_the_connection(void **state)
{
	static char bulk[8192];
	static const struct wire_head cut = { WIRE_MAGIC, WIRE_PROTOCOL,
		MSG_PING, 100, 1 };
	int sock;

	(void)state;
	for (int joined = 0; joined < 2; joined++) {
#define OPEN() (joined ? testhub_join() : testhub_connect())
		sock = OPEN();
		send_raw(sock, "garbage", 7);
		check_expelled(sock, "garbage");
		sock = OPEN();
		send_raw(sock, bulk, sizeof bulk);
		check_expelled(sock, "too large");
		sock = OPEN();
		send_raw(sock, bulk, 0);
		check_expelled(sock, "an empty packet");
		sock = OPEN();
		send_raw(sock, &cut, sizeof cut);
		check_expelled(sock, "shorter than it says");
		sock = OPEN();
		testhub_send(sock, MSG_HELLO, "xx", 2);
		check_expelled(sock, "a malformed hello");
		sock = OPEN();
		testhub_send(sock, 0x300, NULL, 0);
		check_expelled(sock, "an unknown type");
		sock = OPEN();
		testhub_send(sock, TEST_BAD, NULL, 0);
		check_expelled(sock, "what the module finds malformed");
		sock = OPEN();
		testhub_send(sock, MSG_PING, "x", joined ? 1 : 0);
		check_expelled(sock, "a ping with a body, or before hello");
		sock = OPEN();
		testhub_send(sock, MSG_WELCOME, NULL, 0);
		check_expelled(sock, "what only hubs send");
	}
	sock = testhub_join();
	{
		struct wire_frame f;

		assert_int_equal(testhub_hello(sock, PACKAGE_VERSION, &f), 0);
	}
	check_expelled(sock, "a second hello");
}

static void
a_version_without_end_is_malformed(void **state)
{
	char version[HUB_VERSION_MAX + 2];
	struct wire_frame f;
	int sock;

	(void)state;
	memset(version, '1', sizeof version);
	version[HUB_VERSION_MAX + 1] = '\0';
	sock = testhub_connect();
	assert_int_equal(testhub_hello(sock, version, &f), 0);
	check_expelled(sock, "a long version");
	version[HUB_VERSION_MAX] = '\0';
	sock = testhub_connect();
	assert_int_equal(testhub_hello(sock, version, &f), MSG_REFUSED);
	check_expelled(sock, "the longest version");
}

static void
send_fds(int sock, unsigned nr)
{
	struct wire_head head = { WIRE_MAGIC, WIRE_PROTOCOL, MSG_PING, 0, 1 };

	assert_int_equal(packet_send(sock, &head, sizeof head, sock, nr),
	    (ssize_t)sizeof head);
}

/* Unasked descriptors are closed; too many of them are malformed. */
static void
descriptors_do_not_pile_up(void **state)
{
	struct wire_frame f;
	int sock;

	(void)state;
	for (int i = 0; i < 10; i++) {
		sock = testhub_join();
		send_fds(sock, 250);
		check_expelled(sock, "250 descriptors");
	}
	sock = testhub_join();
	for (int i = 0; i < 3000; i++) {
		send_fds(sock, 4);
		assert_int_equal(testhub_recv(sock, &f), MSG_DONE);
	}
	close(sock);
}

static void
modules_refuse_in_words(void **state)
{
	uint32_t code = ENOSPC;
	struct wire_frame f;
	struct wire_reader r;
	const char *text;
	size_t len;

	(void)state;
	assert_int_equal(testhub_ask(witness, TEST_FAIL, &code, 4, &f),
	    MSG_REFUSED);
	wire_read(&r, &f);
	assert_int_equal(wire_get_u32(&r), ENOSPC);
	text = wire_get_bytes(&r, &len);
	assert_int_equal(len, strlen("failed as told"));
	assert_memory_equal(text, "failed as told", len);
	assert_int_equal(testhub_ask(witness, TEST_ECHO, "abc", 3, &f),
	    TEST_ECHO);
	assert_int_equal(f.head.len, 3);
	assert_memory_equal(f.body, "abc", 3);
}

static void
answers_may_take_a_while(void **state)
{
	struct wire_frame f;
	int sock;

	(void)state;
	assert_int_equal(testhub_ask(witness, TEST_LATER, NULL, 0, &f),
	    MSG_DONE);
	for (int i = 0; i < 100; i++) {		/* and nobody may be there */
		sock = testhub_join();
		testhub_send(sock, TEST_LATER, NULL, 0);
		close(sock);
	}
	testhub_await_gone(witness, 100);
}

/*--- those who do not read -----------------------------------------------*/

static void
who_does_not_read_is_expelled(void **state)
{
	int sock = testhub_join(), nr = 0;

	(void)state;
	while (testhub_try_send(sock, MSG_PING, NULL, 0)) {
		assert_true(++nr < 1000000);
		if (nr % 100 == 0)
			testhub_check_ping(witness);
	}
	check_expelled(sock, "never reads");
	testhub_await_gone(witness, 1);
}

/* More answers at once than the queue takes: the module does not notice. */
static void
a_flood_of_answers_ends_in_its_own_turn(void **state)
{
	uint32_t nr = 5000;
	int sock;

	(void)state;
	for (int i = 0; i < 5; i++) {
		sock = testhub_join();
		testhub_send(sock, TEST_FLOOD, &nr, 4);
		testhub_check_ping(witness);
		check_expelled(sock, "does not read");
	}
	testhub_await_gone(witness, 5);
}

/* How many of so many answers came, each with its descriptor. */
static uint32_t
count_flood(uint32_t nr)
{
	int sock = testhub_join();
	struct wire_frame f;
	uint32_t got;

	testhub_send(sock, TEST_FLOOD, &nr, 4);
	testhub_check_ping(witness);		/* it was handled */
	for (got = 0; got < nr && testhub_recv(sock, &f) != 0; got++) {
		assert_int_equal(f.nr_fds, 1);
		assert_true(fcntl(f.fds[0], F_GETFD) >= 0);
		wire_close_fds(&f);
	}
	if (got == nr)
		testhub_check_ping(sock);
	close(sock);
	return got;
}

/* What waits in the queue comes.  The steps are smaller than the queue, so one
 * of them fills the socket and not the queue. */
static void
answers_wait_to_be_read(void **state)
{
	uint32_t nr = 0;

	(void)state;
	do {
		nr += CLIENTS_QUEUE / 2;
		assert_true(nr < 1000000);
	} while (count_flood(nr) == nr);
	assert_true(nr > CLIENTS_QUEUE);
}

/*--- ends ----------------------------------------------------------------*/

/* A client that waits to be killed. */
static pid_t
fork_client(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)testhub_join();
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

static void
the_killed_are_gone(void **state)
{
	pid_t pid;

	(void)state;
	for (uint32_t i = 1; i <= 20; i++) {
		pid = fork_client();
		kill(pid, SIGKILL);
		testhub_await_gone(witness, i);	/* a zombie by now */
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

/* A worker that was forked holds the socket: no hang-up, and dead all the
 * same. */
static void
death_is_not_hidden_by_a_child(void **state)
{
	int ends[2];
	pid_t pid, worker;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)testhub_join();
		worker = fork();
		if (worker != 0 &&
		    write(ends[1], &worker, sizeof worker) < 0)
			_exit(1);
		alarm(60);	/* for the worker, should the test fail */
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &worker, sizeof worker), sizeof worker);
	kill(pid, SIGKILL);
	testhub_await_gone(witness, 1);
	assert_int_equal(kill(worker, 0), 0);
	kill(worker, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ends[0]);
	close(ends[1]);
}

static void
tell_and_die(int sock)
{
	for (int i = 0; i < 50; i++)
		testhub_send(sock, TEST_COUNT, NULL, 0);
	kill(getpid(), SIGKILL);
}

/* What it had told before it died counts. */
static void
the_last_words_are_heard(void **state)
{
	pid_t pid;

	(void)state;
	for (uint32_t i = 1; i <= 40; i++) {
		pid = fork();
		if (pid == 0)
			tell_and_die(testhub_join());
		testhub_await_gone(witness, i);
		assert_int_equal(testhub_counts(witness).told, 50 * i);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

static void
exec_ends_the_connection(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		(void)testhub_join();
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	testhub_await_gone(witness, 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
numbers_are_never_used_twice(void **state)
{
	uint32_t last = 0;
	int sock;

	(void)state;
	for (uint32_t i = 1; i <= 3000; i++) {
		sock = testhub_join();
		close(sock);
		testhub_await_gone(witness, i);
		assert_true(testhub_counts(witness).last_gone > last);
		last = testhub_counts(witness).last_gone;
	}
}

/*--- those who say nothing -----------------------------------------------*/

static void
who_says_nothing_is_turned_away(void **state)
{
	int socks[20];

	(void)state;
	testhub_open();
	hub = testhub_start(&hub_defaults, 20);		/* 5 s are 0.25 s */
	witness = testhub_join();
	for (int i = 0; i < 20; i++)
		socks[i] = testhub_connect();
	for (int i = 0; i < 20; i++) {
		assert_true(testhub_is_ended(socks[i]));
		close(socks[i]);
	}
	testhub_check_ping(witness);		/* which did say hello */
	assert_int_equal(testhub_counts(witness).gone, 0);
	close(witness);
	assert_int_equal(testhub_stop(hub), 0);
	testhub_close();
}

/*--- callers -------------------------------------------------------------*/

static void
callers_are_known(void **state)
{
	struct caller c;
	struct ds_err err;
	int ends[2];
	char want[32];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    ends), 0);
	assert_int_equal(caller_open(ends[0], &c, &err), 0);
	assert_int_equal(c.pid, getpid());
	assert_false(caller_is_dead(&c));
	assert_true(fcntl(c.pidfd, F_GETFD) == FD_CLOEXEC);
	(void)snprintf(want, sizeof want, "%d (", (int)getpid());
	assert_memory_equal(c.name, want, strlen(want));
	close(c.pidfd);
	/* The way of older kernels. */
	assert_int_equal(caller_check(ends[0], &c, &err), 0);
	assert_int_equal(caller_open_by_pid(&c, &err), 0);
	assert_false(caller_is_dead(&c));
	close(c.pidfd);
	close(ends[0]);
	close(ends[1]);
}

static void
the_dead_do_not_call(void **state)
{
	struct caller c = { .pidfd = -1 };
	struct ds_err err;

	(void)state;
	assert_int_equal(caller_open_by_pid(&c, &err), -ESRCH);
	c.pid = fork();
	if (c.pid == 0)
		_exit(0);
	while (waitid(P_PID, (id_t)c.pid, &(siginfo_t){ 0 },
	    WEXITED | WNOWAIT) != 0)
		continue;
	assert_int_equal(caller_open_by_pid(&c, &err), -ESRCH);	/* a zombie */
	assert_int_equal(waitpid(c.pid, NULL, 0), c.pid);
	assert_int_equal(caller_open_by_pid(&c, &err), -ESRCH);
	assert_int_equal(c.pidfd, -1);
}

UNIT_MAIN(
	CLIENT_UNIT(another_version_is_refused_in_words),
	CLIENT_UNIT(malformed_frames_end_the_connection),
	CLIENT_UNIT(a_version_without_end_is_malformed),
	CLIENT_UNIT(descriptors_do_not_pile_up),
	CLIENT_UNIT(modules_refuse_in_words),
	CLIENT_UNIT(answers_may_take_a_while),
	CLIENT_UNIT(who_does_not_read_is_expelled),
	CLIENT_UNIT(a_flood_of_answers_ends_in_its_own_turn),
	CLIENT_UNIT(answers_wait_to_be_read),
	CLIENT_UNIT(the_killed_are_gone),
	CLIENT_UNIT(death_is_not_hidden_by_a_child),
	CLIENT_UNIT(the_last_words_are_heard),
	CLIENT_UNIT(exec_ends_the_connection),
	CLIENT_UNIT(numbers_are_never_used_twice),
	UNIT(who_says_nothing_is_turned_away),
	UNIT(callers_are_known),
	UNIT(the_dead_do_not_call))
