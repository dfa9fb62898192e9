/* SPDX-License-Identifier: Apache-2.0
 *
 * frames.c: clients of a hub that do what no client of ours does.
 *
 *     frames hello VERSION    says hello, prints what it is answered
 *     frames ping N           joins and asks N times
 *     frames numbers N        joins N times, and is each time a client of a larger
 *                             number
 *     frames watch FILE       joins and asks until FILE is there; prints how
 *                             often, the longest time, and the hub's own
 *                             longest turn
 *     frames hold N           N connections of one process at once: prints how
 *                             many were welcomed, asks each once more
 *     frames crowd N          N processes at once, the same
 *     frames garbage | oversize | empty | cut | fds | deaf | silent
 *                             one such client; ends when the hub has ended it
 *     frames opens N          connects N times without a word
 *
 * The hub is at $DESTALL_HUB.  Exits 0 if the hub did what a hub should.
 */

#include <config.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wire.h"
#include "hub/control.h"
#include "hub/proto.h"
#include "tests/harness/packet.h"

#define WAIT_MS	30000
#define FDS	250

static _Noreturn void
die(const char *what)
{
	perror(what);
	exit(1);
}

static int
open_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *path = getenv("DESTALL_HUB");
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (sock < 0 || path == NULL || strlen(path) >= sizeof a.sun_path)
		die("socket");
	strcpy(a.sun_path, path);
	while (connect(sock, (struct sockaddr *)&a, sizeof a) != 0) {
		if (errno != EINTR && errno != EAGAIN)
			die("connect");
	}
	return sock;
}

/* The type of the next frame; 0 at the end of the connection. */
static int
receive(int sock, struct wire_frame *f)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct ds_err err;
	int rc;

	rc = poll(&p, 1, WAIT_MS);
	if (rc <= 0) {
		fprintf(stderr, "frames: no answer\n");
		exit(1);
	}
	rc = wire_recv(sock, f, &err);
	if (rc == 0 || rc == -ECONNRESET || rc == -EPIPE)
		return 0;
	if (rc < 0) {
		fprintf(stderr, "frames: %s\n", err.text);
		exit(1);
	}
	if (f->head.type != MSG_WELCOME)
		wire_close_fds(f);
	return f->head.type;
}

static bool
send_type(int sock, uint16_t type)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, type, 1);
	return wire_send(sock, &f, NULL) == 0;
}

static int
say_hello(int sock, const char *version, struct wire_frame *f)
{
	struct wire_writer w;

	wire_write(&w, f, MSG_HELLO, 1);
	wire_put_bytes(&w, version, strlen(version));
	wire_put_u64(&w, 0);
	if (wire_send(sock, f, NULL) != 0)
		return 0;
	return receive(sock, f);
}

static void
print_refusal(const struct wire_frame *f)
{
	struct wire_reader r;
	const char *text;
	uint32_t code;
	size_t len;

	wire_read(&r, f);
	code = wire_get_u32(&r);
	text = wire_get_bytes(&r, &len);
	printf("refused: %s: %.*s\n", strerror((int)code), (int)len, text);
}

/* The control segment too, if it is asked for. */
static int
join_with(int *control)
{
	int sock = open_socket();
	struct wire_frame f;

	if (say_hello(sock, PACKAGE_VERSION, &f) != MSG_WELCOME ||
	    f.nr_fds != 1) {
		fprintf(stderr, "frames: no welcome\n");
		exit(1);
	}
	if (control != NULL)
		*control = f.fds[0];
	else
		wire_close_fds(&f);
	return sock;
}

static int
join(void)
{
	return join_with(NULL);
}

static void
ping(int sock)
{
	struct wire_frame f;

	if (!send_type(sock, MSG_PING) || receive(sock, &f) != MSG_DONE) {
		fprintf(stderr, "frames: a ping was not answered\n");
		exit(1);
	}
}

/*--- well-behaved --------------------------------------------------------*/

static int
hello(const char *version)
{
	struct wire_frame f;

	switch (say_hello(open_socket(), version, &f)) {
	case MSG_WELCOME:
		puts("welcome");
		return 0;
	case MSG_REFUSED:
		print_refusal(&f);
		return 0;
	default:
		puts("ended");
		return 1;
	}
}

static int
compare_numbers(unsigned nr)
{
	struct wire_reader r;
	struct wire_frame f;
	uint32_t last = 0, id;

	while (nr-- > 0) {
		int sock = open_socket();

		if (say_hello(sock, PACKAGE_VERSION, &f) != MSG_WELCOME)
			return 1;
		wire_read(&r, &f);
		(void)wire_get_u64(&r);
		id = wire_get_u32(&r);
		wire_close_fds(&f);
		close(sock);
		if (id <= last)
			return 1;
		last = id;
	}
	return 0;
}

/* In ms.  Relaxed: each word of the segment stands for itself. */
static double
figure(const _Atomic uint64_t *ns)
{
	return (double)atomic_load_explicit(ns, memory_order_relaxed) / 1e6;
}

static int
watch(const char *file)
{
	int fd, sock = join_with(&fd);
	const struct control *c;
	struct segment control;
	uint64_t longest_ns = 0, before;
	unsigned long nr = 0;

	printf("watching\n");
	fflush(stdout);
	while (access(file, F_OK) != 0) {
		before = clock_now_ns();
		ping(sock);
		nr++;
		if (clock_now_ns() - before > longest_ns)
			longest_ns = clock_now_ns() - before;
	}
	if (segment_attach(&control, &control_kind, fd, NULL) < 0)
		return 1;
	c = control.base;
	printf("%lu pings, longest %.3f ms; the hub's longest turn %.3f ms of "
	    "processor, %.3f ms by the clock\n", nr, (double)longest_ns / 1e6,
	    figure(&c->longest_turn_cpu_ns), figure(&c->longest_turn_wall_ns));
	return 0;
}

static int
hold(unsigned nr)
{
	unsigned nr_welcome = 0, nr_refused = 0;
	int *socks = calloc(nr + 1, sizeof *socks);
	struct wire_frame f;

	for (unsigned i = 0; i < nr; i++) {
		int sock = open_socket();

		switch (say_hello(sock, PACKAGE_VERSION, &f)) {
		case MSG_WELCOME:
			wire_close_fds(&f);
			socks[nr_welcome++] = sock;
			break;
		case MSG_REFUSED:
			if (nr_refused++ == 0)
				print_refusal(&f);
			close(sock);
			break;
		default:
			fprintf(stderr, "frames: neither welcomed nor refused\n");
			return 1;
		}
	}
	for (unsigned i = 0; i < nr_welcome; i++)
		ping(socks[i]);
	printf("%u welcome, %u refused\n", nr_welcome, nr_refused);
	free(socks);
	return 0;
}

/* Children begin when the parent closes the pipe, and end together. */
static int
crowd(unsigned nr)
{
	unsigned nr_failed = 0;
	int ends[2], status;
	char byte;

	if (pipe(ends) != 0)
		die("pipe");
	for (unsigned i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			int sock;

			close(ends[1]);
			if (read(ends[0], &byte, 1) != 0)
				_exit(1);
			sock = join();
			for (int k = 0; k < 20; k++)
				ping(sock);
			_exit(0);
		}
	}
	close(ends[0]);
	close(ends[1]);
	while (wait(&status) > 0)
		nr_failed += status != 0;
	printf("%u of %u failed\n", nr_failed, nr);
	return nr_failed > 0;
}

/*--- hostile -------------------------------------------------------------*/

static void
send_fds(int sock)
{
	struct wire_head head = { WIRE_MAGIC, WIRE_PROTOCOL, MSG_PING, 0, 1 };

	if (packet_send(sock, &head, sizeof head, sock, FDS) < 0)
		die("sendmsg");
}

static void
send_bytes(int sock, size_t len)
{
	static char bytes[16384];

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)rand();
	if (send(sock, bytes, len, MSG_NOSIGNAL) < 0)
		die("send");
}

static int
attack(const char *how)
{
	static const struct wire_head cut = { WIRE_MAGIC, WIRE_PROTOCOL,
		MSG_PING, 100, 1 };
	int sock = strcmp(how, "silent") == 0 ? open_socket() : join();
	struct wire_frame f;

	if (strcmp(how, "garbage") == 0)
		send_bytes(sock, 100);
	else if (strcmp(how, "oversize") == 0)
		send_bytes(sock, 16384);
	else if (strcmp(how, "empty") == 0)
		send_bytes(sock, 0);
	else if (strcmp(how, "cut") == 0)
		(void)send(sock, &cut, sizeof cut, MSG_NOSIGNAL);
	else if (strcmp(how, "fds") == 0)
		send_fds(sock);
	else if (strcmp(how, "deaf") == 0)
		while (send_type(sock, MSG_PING))
			continue;
	else if (strcmp(how, "silent") != 0)
		return 99;
	while (receive(sock, &f) != 0)
		continue;
	return 0;
}

static int
knock(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		close(open_socket());
	return 0;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : "0";
	struct rlimit most;

	signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
		most.rlim_cur = most.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &most);
	}
	if (strcmp(how, "hello") == 0)
		return hello(arg);
	if (strcmp(how, "numbers") == 0)
		return compare_numbers((unsigned)atoi(arg));
	if (strcmp(how, "watch") == 0)
		return watch(arg);
	if (strcmp(how, "hold") == 0)
		return hold((unsigned)atoi(arg));
	if (strcmp(how, "crowd") == 0)
		return crowd((unsigned)atoi(arg));
	if (strcmp(how, "opens") == 0)
		return knock((unsigned)atoi(arg));
	if (strcmp(how, "ping") == 0) {
		int sock = join();

		for (int i = 0; i < atoi(arg); i++)
			ping(sock);
		return 0;
	}
	return attack(how);
}
