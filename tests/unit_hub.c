/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_hub.c: tests of hub/hub.c and hub/hub_life.c: how a hub begins, lives
 * and ends.
 */

#include <config.h>

#include "hub/hub.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "hub/control.h"
#include "hub/proto.h"
#include "tests/harness/testhub.h"
#include "tests/harness/unit.h"

static int
open_folder(void **state)
{
	leak_before(state);
	testhub_open();
	return 0;
}

static int
remove_folder(void **state)
{
	testhub_close();
	return leak_after(state);
}

#define HUB_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, open_folder, remove_folder)

static bool
is_there(const char *name)
{
	char path[128];
	struct stat st;

	(void)snprintf(path, sizeof path, "%s/%s", testhub_folder(), name);
	return lstat(path, &st) == 0;
}

static bool
log_has(const char *what)
{
	static char text[1 << 20];
	char path[128];

	(void)snprintf(path, sizeof path, "%s/hub.log", testhub_folder());
	assert_true(io_read_text(AT_FDCWD, path, text, sizeof text) > 0);
	return strstr(text, what) != NULL;
}

static void
welcome_brings_the_control_segment(void **state)
{
	pid_t hub = testhub_start(&hub_defaults, 1);
	int sock = testhub_connect();
	const struct control *c;
	struct segment seg = { 0 };
	struct wire_frame f;
	struct wire_reader r;
	struct ds_err err;

	(void)state;
	assert_int_equal(testhub_hello(sock, PACKAGE_VERSION, &f), MSG_WELCOME);
	wire_read(&r, &f);
	assert_int_equal(segment_attach(&seg, &control_kind, f.fds[0], &err), 0);
	c = seg.base;
	assert_true(c->head.generation == wire_get_u64(&r));
	assert_int_equal(c->pid, (uint64_t)hub);
	while (atomic_load_explicit(&c->nr_clients, memory_order_relaxed) != 1)
		testhub_check_ping(sock);
	assert_true(atomic_load_explicit(&c->turns, memory_order_relaxed) > 0);
	segment_detach(&seg);
	close(sock);
	assert_int_equal(testhub_stop(hub), 0);
}

static void
signals_end_it(void **state)
{
	static const int signals[] = { SIGTERM, SIGINT };

	(void)state;
	for (int i = 0; i < 2; i++) {
		pid_t hub = testhub_start(&hub_defaults, 1);
		int sock = testhub_join();

		assert_true(is_there("s"));
		kill(hub, SIGHUP);	/* is nothing to it */
		testhub_check_ping(sock);
		kill(hub, signals[i]);
		assert_int_equal(testhub_wait(hub), 0);
		assert_true(testhub_is_ended(sock));
		assert_false(is_there("s"));
		assert_true(log_has(i == 0 ? "leaves: SIGTERM" :
		    "leaves: SIGINT"));
		close(sock);
	}
}

static void
asked_to_stop_it_does(void **state)
{
	pid_t hub = testhub_start(&hub_defaults, 1);
	int sock = testhub_join();
	struct wire_frame f;

	(void)state;
	assert_int_equal(testhub_ask(sock, MSG_STOP, NULL, 0, &f), MSG_DONE);
	assert_int_equal(testhub_wait(hub), 0);
	assert_true(testhub_is_ended(sock));
	assert_true(log_has("leaves: it was asked to"));
	close(sock);
}

static void
there_is_one(void **state)
{
	pid_t hub = testhub_start(&hub_defaults, 1), second;
	int sock = testhub_join();
	char said[DS_ERR_TEXT], want[DS_ERR_TEXT];

	(void)state;
	second = testhub_try(&hub_defaults, said, sizeof said);
	(void)snprintf(want, sizeof want, "another hub is at work in %s",
	    testhub_folder());
	assert_string_equal(said, want);
	assert_int_equal(testhub_wait(second), 1);
	testhub_check_ping(sock);
	close(sock);
	sock = testhub_join();		/* and its socket is still there */
	close(sock);
	assert_int_equal(testhub_stop(hub), 0);
}

static void
what_a_killed_one_left_is_replaced(void **state)
{
	pid_t hub = testhub_start(&hub_defaults, 1);
	int sock;

	(void)state;
	kill(hub, SIGKILL);
	assert_int_equal(testhub_wait(hub), 128 + SIGKILL);
	assert_true(is_there("s"));
	hub = testhub_start(&hub_defaults, 1);
	sock = testhub_join();
	testhub_check_ping(sock);
	close(sock);
	assert_int_equal(testhub_stop(hub), 0);
}

static void
what_is_no_socket_is_not_replaced(void **state)
{
	char said[DS_ERR_TEXT];
	pid_t hub;
	int fd;

	(void)state;
	fd = open(testhub_socket(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	hub = testhub_try(&hub_defaults, said, sizeof said);
	assert_int_equal(testhub_wait(hub), 1);
	assert_non_null(strstr(said, "is there and no socket: remove it, or "
	    "set DESTALL_HUB"));
	assert_true(is_there("s"));
}

/*--- leaving by itself ---------------------------------------------------*/

static void
idle_it_leaves(void **state)
{
	struct hub_options o = hub_defaults;
	pid_t hub;
	int sock;

	(void)state;
	o.idle_ns = 30 * NS_PER_S;
	hub = testhub_start(&o, 100);		/* 0.3 s */
	sock = testhub_join();
	usleep(400000);				/* not while one is here */
	testhub_check_ping(sock);
	close(sock);
	assert_int_equal(testhub_wait(hub), 0);
	assert_true(log_has("leaves: nobody needs it"));
	assert_false(is_there("s"));
}

/* Held things keep it for the longer time: an hour here, which is not waited
 * for; then nothing is held, and it leaves. */
static void
holding_it_stays(void **state)
{
	struct hub_options o = hub_defaults;
	struct wire_frame f;
	uint32_t yes = 1, no = 0;
	pid_t hub;
	int sock;

	(void)state;
	o.idle_ns = 10 * NS_PER_S;
	o.idle_holding_ns = 100000 * NS_PER_S;
	hub = testhub_start(&o, 100);
	sock = testhub_join();
	assert_int_equal(testhub_ask(sock, TEST_HOLD, &yes, 4, &f), MSG_DONE);
	close(sock);
	usleep(300000);
	sock = testhub_join();
	assert_int_equal(testhub_ask(sock, TEST_HOLD, &no, 4, &f), MSG_DONE);
	close(sock);
	assert_int_equal(testhub_wait(hub), 0);
}

/* Whoever is connected is served; nobody can come; it leaves with the last. */
static void
without_its_folder_it_serves_to_the_end(void **state)
{
	pid_t hub = testhub_start(&hub_defaults, 20);
	int sock = testhub_join();

	(void)state;
	testhub_close();
	for (int i = 0; i < 30; i++) {
		testhub_check_ping(sock);
		usleep(10000);
	}
	close(sock);
	assert_int_equal(testhub_wait(hub), 0);
}

/* Another's socket in its place is left alone. */
static void
what_is_anothers_is_not_removed(void **state)
{
	pid_t hub = testhub_start(&hub_defaults, 1), other;
	char lock[128];
	int sock;

	(void)state;
	(void)snprintf(lock, sizeof lock, "%s/hub.lock", testhub_folder());
	unlink(lock);		/* as a cleaner of old files would */
	other = testhub_start(&hub_defaults, 1);
	assert_int_equal(testhub_stop(hub), 0);
	sock = testhub_join();
	testhub_check_ping(sock);
	close(sock);
	assert_int_equal(testhub_stop(other), 0);
	assert_false(is_there("s"));
}

/* Memory that changed by itself: nothing in it can be trusted. */
static void
a_bit_that_flips_ends_it(void **state)
{
	pid_t hub = testhub_start(&hub_defaults, 1);
	int sock = testhub_join();

	(void)state;
	testhub_send(sock, TEST_FLIP, NULL, 0);
	assert_int_equal(testhub_wait(hub), 128 + SIGABRT);
	assert_true(testhub_is_ended(sock));
	close(sock);
}

/*--- its process ---------------------------------------------------------*/

static bool
status_has(pid_t pid, const char *line)
{
	char path[64], text[8192];

	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	assert_true(io_read_text(AT_FDCWD, path, text, sizeof text) > 0);
	return strstr(text, line) != NULL;
}

static void
it_is_hardened(void **state)
{
	pid_t hub = testhub_start(&hub_defaults, 1);
	char path[64];
	struct stat st;

	(void)state;
	assert_true(status_has(hub, "NoNewPrivs:\t1"));
	assert_true(status_has(hub, "Umask:\t0077"));
	(void)snprintf(path, sizeof path, "/proc/%d/fd", (int)hub);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 0);		/* not dumpable */
	assert_int_equal(stat(testhub_socket(), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(testhub_stop(hub), 0);
}

UNIT_MAIN(
	HUB_UNIT(welcome_brings_the_control_segment),
	HUB_UNIT(signals_end_it),
	HUB_UNIT(asked_to_stop_it_does),
	HUB_UNIT(there_is_one),
	HUB_UNIT(what_a_killed_one_left_is_replaced),
	HUB_UNIT(what_is_no_socket_is_not_replaced),
	HUB_UNIT(idle_it_leaves),
	HUB_UNIT(holding_it_stays),
	HUB_UNIT(without_its_folder_it_serves_to_the_end),
	HUB_UNIT(what_is_anothers_is_not_removed),
	HUB_UNIT(a_bit_that_flips_ends_it),
	HUB_UNIT(it_is_hardened))
