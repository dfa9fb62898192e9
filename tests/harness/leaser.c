/* SPDX-License-Identifier: Apache-2.0
 *
 * leaser.c: processes that hold leases of the cache as no job of ours does.
 * Run by tests; the hub must be there already.
 *
 *     leaser die | keep | publish URI READY GO
 *             leases an item and forks.  The child makes the file READY (with
 *             the item's number and size in it), and writes on through the
 *             descriptor and a mapping until there is a file GO; then it
 *             publishes over the socket that it inherited, prints "sent" or
 *             "not sent", makes READY.late, and writes on until GO.end.
 *             The parent meanwhile waits to be killed (die); or waits for
 *             GO.own, and then publishes with its own descriptor closed, as if
 *             there were no child (publish); or the same, without the child
 *             and its writing (keep).
 *     leaser take URI PID
 *             asks for an item that is leased, kills PID, and prints how many
 *             microseconds later it was given the item.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "cache/ask.h"
#include "cache/messages.h"

static struct link *wire;
static struct ds_data *data;
static struct ask_lease lease;
static uint64_t item;
static const char *ready, *go;

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "leaser: %s\n", what);
	exit(1);
}

static void
open_data(const char *uri)
{
	struct ds_err err;

	if (link_new(&wire, false, &err) < 0 ||
	    data_open_on(&data, wire, uri, NULL, &err) < 0)
		die(err.text);
	if (data->index.index == NULL)
		die("the data set is not cached");
}

static bool
is_there(const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof path, "%s%s", go, suffix);
	return access(path, F_OK) == 0;
}

static void
wait_for(const char *suffix)
{
	const struct timespec ms = { 0, 1000000 };

	while (!is_there(suffix))
		nanosleep(&ms, NULL);
}

/* Whole, or not at all. */
static void
make_ready(const char *suffix)
{
	char path[4096], draft[4096 + 8];
	FILE *f;

	snprintf(path, sizeof path, "%s%s", ready, suffix);
	snprintf(draft, sizeof draft, "%s.draft", path);
	f = fopen(draft, "we");
	if (f == NULL)
		die(draft);
	fprintf(f, "%llu %llu\n", (unsigned long long)item,
	    (unsigned long long)data_key(data, item)->size);
	if (fclose(f) != 0 || rename(draft, path) != 0)
		die(path);
}

/*--- the child -----------------------------------------------------------*/

static int
find_socket(void)
{
	for (int fd = 3; fd < 4096; fd++) {
		socklen_t len = sizeof(int);
		int type;

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
		    type == SOCK_SEQPACKET)
			return fd;
	}
	die("no socket was inherited");
}

static bool
send_late(void)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_PUBLISH, 0);
	wire_put_u32(&w, data->set);
	wire_put_u64(&w, item);
	wire_put_u32(&w, lease.generation);
	wire_put_u32(&w, 0);
	return wire_send(find_socket(), &f, NULL) == 0;
}

static void
scribble(uint8_t *map, size_t size, unsigned turn)
{
	const struct timespec ms = { 0, 1000000 };
	char junk[64];

	memset(junk, (int)turn, sizeof junk);
	if (pwrite(lease.fd, junk, sizeof junk, turn % 16 * 64) < 0)
		die("cannot write");
	map[(size_t)turn * 257 % size] = (uint8_t)turn;
	nanosleep(&ms, NULL);
}

static void
write_on(uint8_t *map, size_t size)
{
	unsigned turn = 0;

	signal(SIGPIPE, SIG_IGN);
	make_ready("");
	while (!is_there(""))
		scribble(map, size, turn++);
	puts(send_late() ? "sent" : "not sent");
	fflush(stdout);
	make_ready(".late");
	while (!is_there(".end"))
		scribble(map, size, turn++);
}

/*--- the parent ----------------------------------------------------------*/

static void
take_first(void)
{
	for (item = 0; item < data->nr_items; item++) {
		if (ask_lease(data, item, 0, &lease) == ASK_LEASED)
			return;
	}
	die("no item is to be leased");
}

static int
hold(const char *how, const char *uri)
{
	size_t size;
	void *map;
	pid_t child = 0;

	open_data(uri);
	take_first();
	size = (size_t)data_key(data, item)->size;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, lease.fd, 0);
	if (map == MAP_FAILED)
		die("cannot map");
	if (strcmp(how, "keep") == 0) {
		make_ready("");
	} else {
		child = fork();
		if (child == 0) {
			write_on(map, size);
			_exit(0);
		}
	}
	if (strcmp(how, "die") == 0)
		for (;;)
			pause();
	wait_for(".own");
	munmap(map, size);
	io_close(&lease.fd);
	ask_publish(data, item, &lease, 0);
	make_ready(".own");
	wait_for(".end");
	if (child > 0)
		waitpid(child, NULL, 0);
	ds_data_close(&data);
	link_free(&wire);
	return 0;
}

/*--- how long a death takes ----------------------------------------------*/

static void
find_leased(void)
{
	for (item = 0; item < data->nr_items; item++) {
		/* acquire: as cache/fill.c */
		if (item_state(atomic_load_explicit(
		    &data->index.index->items[item].word,
		    memory_order_acquire)) == ITEM_LEASED)
			return;
	}
	die("no item is leased");
}

static int
take(const char *uri, const char *pid)
{
	uint64_t begin_ns;
	enum ask_answer a;

	open_data(uri);
	find_leased();
	if (ask_lease(data, item, 0, &lease) != ASK_BUSY)
		die("the item is not leased");
	begin_ns = clock_now_ns();
	if (kill((pid_t)atol(pid), SIGKILL) != 0)
		die("cannot kill");
	do {
		a = ask_lease(data, item, 0, &lease);
	} while (a == ASK_BUSY && clock_now_ns() - begin_ns < 20 * NS_PER_S);
	if (a != ASK_LEASED)
		die("the item was not given to us");
	printf("%llu\n", (unsigned long long)(clock_now_ns() - begin_ns) / 1000);
	io_close(&lease.fd);
	ask_give_up(data, item, &lease, 0);
	ds_data_close(&data);
	link_free(&wire);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "take") == 0)
		return take(argv[2], argv[3]);
	if (argc != 5)
		die("usage: see its source");
	ready = argv[3];
	go = argv[4];
	return hold(argv[1], argv[2]);
}
