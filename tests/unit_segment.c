/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_segment.c: tests of base/segment.c.
 */

#include <config.h>

#include "base/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memfd.h"
#include "tests/harness/unit.h"

#define LEN	5000u

static const struct segment_kind kind = { "unit", 0x554e4954u, 3 };

static const struct segment_head good = {
	.magic = 0x554e4954u, .layout = 3, .byte_order = SEGMENT_BYTE_ORDER,
	.head_size = sizeof(struct segment_head), .size = LEN, .generation = 9,
};

static void
what_is_created_can_be_attached(void **state)
{
	struct segment mine, theirs;
	struct ds_err err;
	int fd;

	(void)state;
	assert_int_equal(segment_create(&mine, &kind, LEN, 9, &err), 0);
	assert_int_equal(mine.len, LEN);
	assert_memory_equal(mine.base, &good, sizeof good);
	for (size_t i = sizeof good; i < LEN; i++)
		assert_int_equal(((char *)mine.base)[i], 0);
	fd = fcntl(mine.fd, F_DUPFD_CLOEXEC, 0);
	assert_int_equal(segment_attach(&theirs, &kind, fd, &err), 0);
	assert_int_equal(theirs.len, LEN);
	assert_int_equal(theirs.fd, fd);
	((char *)mine.base)[LEN - 1] = 'x';
	assert_int_equal(((char *)theirs.base)[LEN - 1], 'x');
	assert_int_equal(mprotect(theirs.base, LEN, PROT_READ | PROT_WRITE), -1);
	segment_detach(&theirs);
	segment_detach(&mine);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void
detaching_twice_or_nothing_is_harmless(void **state)
{
	struct segment seg, zero = { 0 };
	int was = fcntl(STDIN_FILENO, F_GETFD);
	struct ds_err err;

	(void)state;
	assert_int_equal(segment_create(&seg, &kind, LEN, 1, &err), 0);
	segment_detach(&seg);
	segment_detach(&seg);
	segment_detach(&zero);	/* must not close descriptor 0 */
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), was);
}

/* Each mismatch has a sentence of its own, and all name the kind. */
static void
mismatches_are_told_apart(void **state)
{
	struct {
		size_t len;
		struct segment_head head;
		const char *want;
	} cases[] = {
		{ 0, good, "unit: 0 bytes are no segment" },
		{ sizeof good - 1, good, "unit: 31 bytes are no segment" },
		{ LEN, good, "byte order" },
		{ LEN, good, "unit: another kind of segment (0x554e4955)" },
		{ LEN, good, "unit: layout 4 where this build has 3: hub and "
		    "job run different versions of destall" },
		{ LEN, good, "unit: a head of 40 bytes where this build has "
		    "32" },
		{ LEN, good, "unit: says 5001 bytes, has 5000" },
		{ LEN - 1, good, "unit: says 5000 bytes, has 4999" },
		{ LEN, good, "18446744073709551615 bytes" },
		{ LEN + 1, good, "unit: says 5000 bytes, has 5001" },
	};
	struct ds_err err;

	(void)state;
	cases[2].head.byte_order = 0x04030201u;
	cases[3].head.magic++;
	cases[4].head.layout++;
	cases[5].head.head_size = 40;
	cases[6].head.size++;
	cases[8].head.size = UINT64_MAX;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(segment_check(&kind, &cases[i].head,
		    cases[i].len, &err), -EBADMSG);
		if (strstr(err.text, cases[i].want) == NULL)
			fail_msg("%zu: %s", i, err.text);
	}
	assert_int_equal(segment_check(&kind, &good, LEN, &err), 0);
}

/* A sealed memfd with this head; its length is LEN. */
static int
sealed_with(const struct segment_head *head)
{
	struct ds_err err;
	int fd = memfd_new("unit", LEN, &err);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, head, sizeof *head, 0), sizeof *head);
	assert_int_equal(memfd_seal_all(fd, &err), 0);
	return fd;
}

/* On failure the descriptor stays the caller's and the struct is untouched. */
static void
bad_segments_are_not_attached(void **state)
{
	struct segment_head bad = good;
	struct segment seg = { .fd = -7 };
	struct ds_err err;
	int fd;

	(void)state;
	bad.magic = 0;
	fd = sealed_with(&bad);
	assert_int_equal(segment_attach(&seg, &kind, fd, &err), -EBADMSG);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	close(fd);
	fd = memfd_new("unit", LEN, &err);
	assert_int_equal(pwrite(fd, &good, sizeof good, 0), sizeof good);
	assert_int_equal(segment_attach(&seg, &kind, fd, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "not sealed"));
	close(fd);
	assert_int_equal(segment_attach(&seg, &kind, -1, &err), -EBADMSG);
	assert_int_equal(seg.fd, -7);
	assert_null(seg.base);
	fd = sealed_with(&good);
	assert_int_equal(segment_attach(&seg, &kind, fd, &err), 0);
	segment_detach(&seg);
}

static void
no_room_is_said(void **state)
{
	struct segment seg = { .fd = -7 };
	struct ds_err err;

	(void)state;
	assert_true(segment_create(&seg, &kind, SIZE_MAX, 1, &err) < 0);
	assert_non_null(strstr(err.text, "unit"));
	assert_int_equal(seg.fd, -7);
}

UNIT_MAIN(
	UNIT(what_is_created_can_be_attached),
	UNIT(detaching_twice_or_nothing_is_harmless),
	UNIT(mismatches_are_told_apart),
	UNIT(bad_segments_are_not_attached),
	UNIT(no_room_is_said))
