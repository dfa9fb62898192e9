/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_link_program.c: tests of the client's end of the wire in a program that
 * has threads, signals and children, and closes what is not its own.
 */

#include <config.h>

#include "hub/link.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/linkhub.h"
#include "tests/harness/unit.h"

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
		request_write(&f, c->first + i);
		if (link_tell(c->link, &f, NULL) != 0)
			c->wrong++;
		if (link_call(c->link, &f, MSG_ANSWER, NULL) != 0 ||
		    request_number(&f) != c->first + i)
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
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_and_count);
	l = linkhub_connect(&h, LONG_NS);
	run_callers(l);
	link_free(&l);
	linkhub_end(&h);
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
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_and_count);
	assert_int_equal(sigaction(SIGALRM, &handler, &saved), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	l = linkhub_connect(&h, LONG_NS);
	run_callers(l);
	assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &saved, NULL), 0);
	link_free(&l);
	linkhub_end(&h);
}

/* One waits for an answer that does not come, the others for him: all are
 * told, none waits longer than it may. */
static void *
call_once(void *arg)
{
	struct caller *c = arg;
	struct wire_frame f;

	request_write(&f, 1);
	c->wrong = link_call(c->link, &f, MSG_ANSWER, NULL);
	return NULL;
}

static void
all_threads_learn_of_the_end(void **state)
{
	struct caller callers[NR_THREADS];
	pthread_t threads[NR_THREADS];
	struct linkhub h;
	struct link *l;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_silence);
	l = linkhub_connect(&h, SHORT_NS);
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
	linkhub_end(&h);
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
	request_write(&f, 1);
	if (link_tell(l, &f, NULL) != -ESTALE)
		return __LINE__;
	request_write(&f, 1);
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
	struct linkhub h;
	pid_t pid;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_echo);
	pid = fork();
	if (pid == 0) {
		close(h.sock);
		_exit(close_all_and_reuse(h.client) & 0xff);
	}
	close(h.client);
	linkhub_run(&h);
	assert_child(pid);
	linkhub_end(&h);
}

/* An answer that nobody waits for is no end. */
static bool
answer_what_was_told(struct linkhub *h, struct wire_frame *f)
{
	linkhub_send(h, f, MSG_ANSWER);
	return request_number(f) != 3;
}

static void
a_look_finds_the_end(void **state)
{
	struct wire_frame f;
	struct linkhub h;
	struct link *l;
	ino_t ino;

	(void)state;
	linkhub_begin(&h, serve_welcome, answer_what_was_told);
	l = linkhub_connect(&h, LONG_NS);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(link_check(l));
		request_write(&f, i);
		assert_int_equal(link_tell(l, &f, NULL), 0);
	}
	request_write(&f, 3);
	assert_int_equal(link_tell(l, &f, NULL), 0);
	pthread_join(h.thread, NULL);
	assert_false(link_check(l));
	link_must_be_gone(l, "ended the connection");
	link_free(&l);
	segment_detach(&h.control);

	linkhub_begin(&h, serve_welcome, serve_echo);
	ino = inode_of(h.client);
	l = linkhub_connect(&h, LONG_NS);
	close(find_socket(ino));
	assert_false(link_check(l));
	link_must_be_gone(l, "closed the connection");
	link_free(&l);
	linkhub_end(&h);
}

/* Closed, and no number in its place. */
static void
a_socket_that_was_closed(void **state)
{
	struct linkhub h;
	struct link *l;
	ino_t ino;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_echo);
	ino = inode_of(h.client);
	l = linkhub_connect(&h, LONG_NS);
	close(find_socket(ino));
	link_must_lose(l, "closed the connection");
	link_free(&l);
	linkhub_end(&h);
}

/*--- forks ---------------------------------------------------------------*/

static int
use_in_child(struct link *l)
{
	struct wire_frame f;
	struct ds_err err;

	if (link_mine(l) || link_alive(l))
		return __LINE__;
	request_write(&f, 1);
	if (link_call(l, &f, MSG_ANSWER, &err) != -ESTALE ||
	    strstr(err.text, "after a fork") == NULL)
		return __LINE__;
	request_write(&f, 1);
	if (link_tell(l, &f, NULL) != -ESTALE)
		return __LINE__;
	link_end(l, "from a child");
	/* What can be read without asking can still be. */
	if (link_control(l)->pid != HUB_PID || link_client(l) != CLIENT)
		return __LINE__;
	link_free(&l);
	return 0;
}

static void
a_forked_child(void **state)
{
	struct linkhub h;
	struct link *l;
	pid_t pid;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_echo);
	l = linkhub_connect(&h, LONG_NS);
	pid = fork();
	if (pid == 0)
		_exit(use_in_child(l) & 0xff);
	assert_child(pid);
	link_must_work(l);
	link_free(&l);
	linkhub_end(&h);
}

static atomic_bool stop_calling;

static void *
call_until_stopped(void *arg)
{
	struct caller *c = arg;
	struct wire_frame f;

	while (!atomic_load_explicit(&stop_calling, memory_order_relaxed)) {
		request_write(&f, 7);
		if (link_call(c->link, &f, MSG_ANSWER, NULL) != 0 ||
		    request_number(&f) != 7)
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
	struct linkhub h;
	pid_t pid;

	(void)state;
	linkhub_begin(&h, serve_welcome, serve_echo);
	c.link = linkhub_connect(&h, LONG_NS);
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
	linkhub_end(&h);
}

/* A worker that lives on has a copy of the socket: the hub learns of the end
 * all the same. */
static void
a_copy_does_not_keep_it_open(void **state)
{
	struct linkhub h;
	struct link *l;
	int ends[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	linkhub_begin(&h, serve_welcome, serve_echo);
	l = linkhub_connect(&h, LONG_NS);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	close(ends[0]);
	link_free(&l);
	linkhub_end(&h);		/* waits for the hang-up */
	close(ends[1]);
	assert_child(pid);
}

UNIT_MAIN(
	UNIT(many_threads),
	UNIT(many_signals),
	UNIT(all_threads_learn_of_the_end),
	UNIT(another_socket_of_the_same_number),
	UNIT(a_socket_that_was_closed),
	UNIT(a_look_finds_the_end),
	UNIT(a_forked_child),
	UNIT(forks_while_a_thread_calls),
	UNIT(a_copy_does_not_keep_it_open))
