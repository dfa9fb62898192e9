/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_wire.c: tests of base/wire.c.
 */

#include <config.h>

#include "base/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/harness/packet.h"
#include "tests/harness/unit.h"

#define TYPE	7u
#define SERIAL	0xdeadbeefu
#define FDS_HOSTILE	250

static int ours, theirs;	/* the two ends, of each test */

static int
open_ends(void **state)
{
	int fds[2];

	leak_before(state);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return -1;
	ours = fds[0];
	theirs = fds[1];
	return 0;
}

static int
close_ends(void **state)
{
	close(ours);
	if (theirs >= 0)
		close(theirs);
	return leak_after(state);
}

#define WIRE_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, open_ends, close_ends)

static ino_t
inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static void
write_frame(struct wire_frame *f)
{
	struct wire_writer w;

	memset(f, 0xaa, sizeof *f);
	wire_write(&w, f, TYPE, SERIAL);
	wire_put_u32(&w, 1);
	wire_put_u64(&w, UINT64_MAX - 1);
	wire_put_bytes(&w, "hello", 5);
	wire_put_bytes(&w, NULL, 0);
	assert_true(wire_write_end(&w));
}

static void
check_frame(const struct wire_frame *f)
{
	struct wire_reader r;
	const void *p;
	size_t len;

	assert_int_equal(f->head.type, TYPE);
	assert_int_equal(f->head.serial, SERIAL);
	wire_read(&r, f);
	assert_int_equal(wire_get_u32(&r), 1);
	assert_true(wire_get_u64(&r) == UINT64_MAX - 1);
	p = wire_get_bytes(&r, &len);
	assert_int_equal(len, 5);
	assert_memory_equal(p, "hello", 5);
	assert_false(wire_read_end(&r));
	p = wire_get_bytes(&r, &len);
	assert_int_equal(len, 0);
	assert_non_null(p);
	assert_true(wire_read_end(&r));
}

static void
frames_go_round(void **state)
{
	struct wire_frame f, g;
	struct ds_err err;

	(void)state;
	write_frame(&f);
	for (int i = 0; i < 3; i++)
		assert_int_equal(wire_send(ours, &f, &err), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(wire_recv(theirs, &g, &err), 1);
		assert_int_equal(g.nr_fds, 0);
		check_frame(&g);
	}
}

static void
largest_and_smallest(void **state)
{
	static const uint32_t lens[] = { 0, 1, WIRE_BODY_MAX - 1, WIRE_BODY_MAX };
	struct wire_frame f, g;
	struct ds_err err;

	(void)state;
	for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
		struct wire_writer w;

		wire_write(&w, &f, 1, 2);
		memset(f.body, (int)i + 1, sizeof f.body);
		f.head.len = lens[i];
		assert_int_equal(wire_send(ours, &f, &err), 0);
		assert_int_equal(wire_recv(theirs, &g, &err), 1);
		assert_int_equal(g.head.len, lens[i]);
		assert_memory_equal(g.body, f.body, lens[i]);
	}
}

static void
descriptors_travel(void **state)
{
	struct wire_frame f, g;
	struct ds_err err;
	ino_t inode = inode_of(ours);

	(void)state;
	for (unsigned nr = 1; nr <= WIRE_FDS_MAX; nr++) {
		struct wire_writer w;

		wire_write(&w, &f, TYPE, SERIAL);
		for (unsigned i = 0; i < nr; i++)
			wire_put_fd(&w, ours);
		assert_true(wire_write_end(&w));
		assert_int_equal(wire_send(ours, &f, &err), 0);
		assert_int_equal(wire_recv(theirs, &g, &err), 1);
		assert_int_equal(g.nr_fds, nr);
		for (unsigned i = 0; i < nr; i++) {
			assert_int_equal(inode_of(g.fds[i]), inode);
			assert_int_equal(fcntl(g.fds[i], F_GETFD), FD_CLOEXEC);
		}
		wire_close_fds(&g);
		assert_int_equal(g.nr_fds, 0);
		wire_close_fds(&g);
	}
}

static void
send_raw(const void *bytes, size_t len, unsigned nr_fds)
{
	assert_int_equal(packet_send(ours, bytes, len, ours, nr_fds), len);
}

/* Every one is refused, its descriptors are closed (the check for leaks tells),
 * and the next good frame still arrives. */
static void
malformed_frames_have_no_effect(void **state)
{
	static const struct wire_head good = { WIRE_MAGIC, WIRE_PROTOCOL,
	    TYPE, 8, SERIAL };
	struct wire_head bad[] = { good, good, good, good, good, good, good };
	struct wire_frame f, g;
	struct ds_err err;

	(void)state;
	bad[0].magic++;
	bad[1].magic = __builtin_bswap32(WIRE_MAGIC);
	bad[2].protocol++;
	bad[3].len = 7;
	bad[4].len = 9;
	bad[5].len = UINT32_MAX;
	bad[6].len = 0;
	write_frame(&f);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		uint8_t packet[sizeof good + 8] = { 0 };

		memcpy(packet, &bad[i], sizeof good);
		send_raw(packet, sizeof packet, (unsigned)i % 3);
		assert_int_equal(wire_recv(theirs, &g, &err), -EBADMSG);
		assert_int_equal(g.nr_fds, 0);
		assert_int_equal(wire_check(packet, sizeof packet, &err),
		    -EBADMSG);
	}
	for (size_t len = 1; len < sizeof good; len++) {
		send_raw(&good, len, 1);
		assert_int_equal(wire_recv(theirs, &g, &err), -EBADMSG);
	}
	assert_int_equal(wire_send(ours, &f, &err), 0);
	assert_int_equal(wire_recv(theirs, &g, &err), 1);
	check_frame(&g);
}

static void
oversize_is_refused(void **state)
{
	struct wire_head head = { WIRE_MAGIC, WIRE_PROTOCOL, TYPE,
	    WIRE_BODY_MAX + 1, SERIAL };
	uint8_t packet[sizeof head + WIRE_BODY_MAX + 1] = { 0 };
	struct wire_frame g;
	struct ds_err err;

	(void)state;
	memcpy(packet, &head, sizeof head);
	send_raw(packet, sizeof packet, 1);
	assert_int_equal(wire_recv(theirs, &g, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "too many"));
	assert_int_equal(wire_check(packet, sizeof packet, &err), -EBADMSG);
}

static void
too_many_descriptors_are_closed(void **state)
{
	static const unsigned numbers[] = { WIRE_FDS_MAX + 1, FDS_HOSTILE };
	struct wire_frame f, g;
	struct ds_err err;

	(void)state;
	write_frame(&f);
	f.head.magic = WIRE_MAGIC;
	f.head.protocol = WIRE_PROTOCOL;
	for (size_t i = 0; i < 2; i++) {
		send_raw(&f, sizeof f.head + f.head.len, numbers[i]);
		assert_int_equal(wire_recv(theirs, &g, &err), -EBADMSG);
		assert_int_equal(g.nr_fds, 0);
	}
}

/* Our own lack of descriptors is not blamed on the sender. */
static void
no_room_for_descriptors_is_ours(void **state)
{
	struct rlimit before, small;
	struct wire_writer w;
	struct wire_frame f, g;
	struct ds_err err;

	(void)state;
	wire_write(&w, &f, TYPE, SERIAL);
	wire_put_fd(&w, ours);
	wire_put_fd(&w, ours);
	assert_int_equal(wire_send(ours, &f, &err), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	small = before;
	small.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	assert_int_equal(wire_recv(theirs, &g, &err), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(g.nr_fds, 0);
	assert_non_null(strstr(err.text, "ulimit"));
}

static void
empty_packet_and_hang_up_are_the_end(void **state)
{
	struct wire_frame f, g;
	struct ds_err err;

	(void)state;
	send_raw("", 0, 2);
	assert_int_equal(wire_recv(theirs, &g, &err), 0);
	assert_int_equal(g.nr_fds, 0);
	close(theirs);
	theirs = -1;
	write_frame(&f);
	assert_int_equal(wire_send(ours, &f, &err), -EPIPE);
	assert_int_equal(wire_recv(ours, &g, &err), 0);
}

static void
full_and_empty_sockets_say_again(void **state)
{
	struct wire_frame f, g;
	struct ds_err err;
	int sent = 0, rc, got;

	(void)state;
	assert_int_equal(fcntl(ours, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(theirs, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(wire_recv(theirs, &g, &err), -EAGAIN);
	write_frame(&f);
	while ((rc = wire_send(ours, &f, &err)) == 0)
		assert_true(++sent < 1000000);
	assert_int_equal(rc, -EAGAIN);
	for (got = 0; (rc = wire_recv(theirs, &g, &err)) == 1; got++)
		check_frame(&g);
	assert_int_equal(rc, -EAGAIN);
	assert_int_equal(got, sent);
}

/* The third signal sends what the interrupted call waits for. */
static struct wire_frame awaited;
static volatile sig_atomic_t signals;

static void
send_third(int sig)
{
	(void)sig;
	if (++signals == 3)
		wire_send(ours, &awaited, NULL);
}

static void
signals_do_not_show(void **state)
{
	struct sigaction act = { .sa_handler = send_third }, before;
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	struct wire_frame g;
	struct ds_err err;

	(void)state;
	write_frame(&awaited);
	sigaction(SIGALRM, &act, &before);
	setitimer(ITIMER_REAL, &every, NULL);
	assert_int_equal(wire_recv(theirs, &g, &err), 1);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	check_frame(&g);
}

static void
reader_is_spoilt_for_good(void **state)
{
	struct wire_frame f;
	struct wire_writer w;
	struct wire_reader r;
	size_t len = 9;

	(void)state;
	wire_write(&w, &f, TYPE, SERIAL);
	wire_put_u32(&w, 5);
	wire_read(&r, &f);
	assert_true(wire_get_u64(&r) == 0);
	assert_int_equal(wire_get_u32(&r), 0);	/* though it would fit */
	assert_false(wire_read_end(&r));
	wire_read(&r, &f);
	assert_null(wire_get_bytes(&r, &len));	/* counts 5, has none */
	assert_int_equal(len, 0);
	assert_false(wire_read_end(&r));
	wire_read(&r, &f);
	assert_int_equal(wire_get_u32(&r), 5);
	assert_true(wire_read_end(&r));
	assert_null(wire_get_bytes(&r, &len));
	assert_false(wire_read_end(&r));
}

static void
writer_is_spoilt_for_good(void **state)
{
	static uint8_t bulk[WIRE_BODY_MAX + 1];
	struct wire_frame f;
	struct wire_writer w;

	(void)state;
	wire_write(&w, &f, TYPE, SERIAL);
	wire_put_bytes(&w, bulk, WIRE_BODY_MAX - sizeof(uint32_t));
	assert_true(wire_write_end(&w));
	assert_int_equal(f.head.len, WIRE_BODY_MAX);
	wire_put_u32(&w, 1);
	assert_false(wire_write_end(&w));
	assert_int_equal(f.head.len, WIRE_BODY_MAX);
	wire_write(&w, &f, TYPE, SERIAL);
	wire_put_bytes(&w, bulk, SIZE_MAX);
	wire_put_u32(&w, 1);
	assert_false(wire_write_end(&w));
	assert_int_equal(f.head.len, 0);
	wire_write(&w, &f, TYPE, SERIAL);
	for (unsigned i = 0; i < WIRE_FDS_MAX; i++)
		wire_put_fd(&w, ours);
	assert_true(wire_write_end(&w));
	wire_put_fd(&w, ours);
	assert_false(wire_write_end(&w));
	assert_int_equal(f.nr_fds, WIRE_FDS_MAX);
}

UNIT_MAIN(
	WIRE_UNIT(frames_go_round),
	WIRE_UNIT(largest_and_smallest),
	WIRE_UNIT(descriptors_travel),
	WIRE_UNIT(malformed_frames_have_no_effect),
	WIRE_UNIT(oversize_is_refused),
	WIRE_UNIT(too_many_descriptors_are_closed),
	WIRE_UNIT(no_room_for_descriptors_is_ours),
	WIRE_UNIT(empty_packet_and_hang_up_are_the_end),
	WIRE_UNIT(full_and_empty_sockets_say_again),
	WIRE_UNIT(signals_do_not_show),
	WIRE_UNIT(reader_is_spoilt_for_good),
	WIRE_UNIT(writer_is_spoilt_for_good))
