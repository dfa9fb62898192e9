/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_listing.c: tests of cache/listing.c and cache/listing_check.c: what one
 * makes the other accepts, and each rule is broken once.
 */

#include <config.h>

#include "cache/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/memfd.h"
#include "tests/harness/unit.h"

static const struct listing_item some_key = {
	.dev = 7, .ino = 9, .mtime_ns = -1, .size = 100,
};

static struct listing_maker *
new_maker(void)
{
	struct listing_maker *m;
	struct ds_err err;

	assert_int_equal(listing_new(&m, &err), 0);
	return m;
}

static void
add(struct listing_maker *m, const char *name)
{
	struct ds_err err;
	int rc = listing_add(m, name, strlen(name), &some_key, &err);

	if (rc < 0)
		fail_msg("%s", err.text);
}

static int
seal(struct listing_maker **m)
{
	struct ds_err err;
	int fd = listing_seal(*m, &err);

	if (fd < 0)
		fail_msg("%s", err.text);
	listing_free(m);
	return fd;
}

static int
check_all(const struct listing *l, struct ds_err *err)
{
	uint64_t total = 0;

	return listing_check(l, 0, l->head->nr_items, &total, err);
}

static void
sorts_names_as_bytes(void **state)
{
	/* With a common beginning, prefixes of each other, and signs. */
	static const char *const sorted[] = {
		"a", "a\n", "a%s", "a-", "a/b", "a/b/..c", "a/b/c..", "a0",
		"aaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaaaaaaab", "a\x7f", "a\x80", "a\xff",
	};
	const unsigned nr = sizeof sorted / sizeof sorted[0];
	struct listing_maker *m = new_maker();
	struct listing l;
	struct ds_err err;
	int fd;

	(void)state;
	for (unsigned i = 0; i < nr; i++)
		add(m, sorted[(i * 5) % nr]);
	fd = seal(&m);
	assert_int_equal(listing_map(&l, fd, &err), 0);
	close(fd);
	assert_int_equal(check_all(&l, &err), 0);
	assert_int_equal(l.head->nr_items, nr);
	assert_int_equal(l.head->total_bytes, nr * 100);
	for (unsigned i = 0; i < nr; i++) {
		assert_string_equal(listing_name(&l, i), sorted[i]);
		assert_int_equal(l.items[i].name_len, strlen(sorted[i]));
		assert_int_equal(l.items[i].dev, 7);
		assert_int_equal(l.items[i].mtime_ns, -1);
	}
	listing_unmap(&l);
	listing_unmap(&l);
}

static void
one_listing_whatever_the_order(void **state)
{
	struct listing_maker *m[2] = { new_maker(), new_maker() };
	struct listing l[2];
	struct ds_err err;
	char name[64];

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		(void)snprintf(name, sizeof name, "dir%u/%u", i % 7, i);
		add(m[0], name);
		(void)snprintf(name, sizeof name, "dir%u/%u",
		    (4999 - i) % 7, 4999 - i);
		add(m[1], name);
	}
	for (unsigned i = 0; i < 2; i++) {
		int fd = seal(&m[i]);

		assert_int_equal(listing_map(&l[i], fd, &err), 0);
		close(fd);
	}
	assert_int_equal(l[0].len, l[1].len);
	assert_memory_equal(l[0].head, l[1].head, l[0].len);
	listing_unmap(&l[0]);
	listing_unmap(&l[1]);
}

static void
empty_listing(void **state)
{
	struct listing_maker *m = new_maker();
	int fd = seal(&m);
	struct listing l;
	struct ds_err err;

	(void)state;
	assert_int_equal(listing_map(&l, fd, &err), 0);
	assert_int_equal(l.head->nr_items, 0);
	assert_int_equal(check_all(&l, &err), 0);
	listing_unmap(&l);
	close(fd);
	listing_free(&m);
}

static void
twice_is_refused(void **state)
{
	struct listing_maker *m = new_maker();
	struct ds_err err;

	(void)state;
	add(m, "x/one");
	add(m, "x/two");
	add(m, "x/one");
	assert_int_equal(listing_seal(m, &err), -EEXIST);
	assert_string_equal(err.text, "listing: x/one: there twice");
	listing_free(&m);
}

static void
nobody_can_write_it(void **state)
{
	struct listing_maker *m = new_maker();
	int fd;

	(void)state;
	add(m, "x");
	fd = seal(&m);
	assert_int_equal(fcntl(fd, F_GET_SEALS) & ~0x20, /* not F_SEAL_EXEC */
	    F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

static void
refuse(const char *name, size_t len, const struct listing_item *key,
    const char *why)
{
	struct listing_maker *m = new_maker();
	struct ds_err err;

	assert_int_equal(listing_add(m, name, len, key, &err), -EINVAL);
	assert_non_null(strstr(err.text, why));
	listing_free(&m);
}

static void
adds_nothing_that_would_be_refused(void **state)
{
	static char longest[LISTING_NAME_MAX + 1];
	struct listing_item key = some_key;
	struct listing_maker *m = new_maker();
	struct ds_err err;

	(void)state;
	refuse("", 0, &key, "empty");
	refuse("/a", 2, &key, "absolute");
	refuse("..", 2, &key, "`..'");
	refuse("../a", 4, &key, "`..'");
	refuse("a/..", 4, &key, "`..'");
	refuse("a/../b", 6, &key, "`..'");
	refuse("a\0b", 3, &key, "zero byte");
	memset(longest, 'a', sizeof longest);
	refuse(longest, sizeof longest, &key, "too long");
	assert_int_equal(listing_add(m, longest, LISTING_NAME_MAX, &key, &err), 0);
	listing_free(&m);
	key.size = LISTING_SIZE_MAX + 1;
	refuse("a", 1, &key, "too large");
	key.size = 1;
	key.offset = INT64_MAX;
	refuse("a", 1, &key, "offset");
	key.offset = 0;
	for (key.shard_len = 1; key.shard_len < 6; key.shard_len++) {
		if (key.shard_len != 2)
			refuse("ab/cd", 5, &key, "shard");
	}
	key.shard_len = 2;
	refuse("ab/", 3, &key, "shard");
}

/*--- listings from elsewhere ---------------------------------------------*/

/* A sound one of three items, as bytes to break. */
#define NAMES		"a\0b/c\0b/d"
struct bytes {
	struct listing_head head;
	struct listing_item items[3];
	char names[sizeof NAMES];
};

static const struct bytes sound = {
	.head = { LISTING_MAGIC, sizeof(struct listing_item), 3,
	    sizeof NAMES, 60 },
	.items = {
		{ .size = 10, .name_off = 0, .name_len = 1 },
		{ .size = 20, .name_off = 2, .name_len = 3, .shard_len = 1 },
		{ .size = 30, .name_off = 6, .name_len = 3, .offset = 512,
		    .shard_len = 1 },
	},
	.names = NAMES,
};

#define BYTES	(offsetof(struct bytes, names) + sizeof NAMES)
#define ALL_SEALS \
	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

static int
memfd_of(const void *bytes, size_t len, int seals)
{
	int fd = memfd_create("unit", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

/* Maps and checks in steps of `step' items; the sentence is in err. */
static int
judge(const struct bytes *b, size_t len, int seals, uint64_t step,
    struct ds_err *err)
{
	int fd = memfd_of(b, len, seals), rc;
	uint64_t total = 0;
	struct listing l;

	rc = listing_map(&l, fd, err);
	close(fd);
	if (rc < 0)
		return rc;
	for (uint64_t i = 0; rc == 0 && i < l.head->nr_items; i += step) {
		uint64_t to = i + step < l.head->nr_items ? i + step :
		    l.head->nr_items;

		rc = listing_check(&l, i, to, &total, err);
	}
	listing_unmap(&l);
	return rc;
}

static void
refuse_bytes(const struct bytes *b, const char *why)
{
	struct ds_err err;

	for (uint64_t step = 1; step <= 3; step++) {
		assert_int_equal(judge(b, BYTES, ALL_SEALS, step, &err),
		    -EBADMSG);
		if (strstr(err.text, why) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", err.text, why);
	}
}

#define REFUSE(field, value, why) \
	do { \
		struct bytes b_ = sound; \
		b_.field = (value); \
		refuse_bytes(&b_, (why)); \
	} while (0)

static void
sound_bytes_are_taken(void **state)
{
	struct ds_err err;

	(void)state;
	for (uint64_t step = 1; step <= 3; step++)
		assert_int_equal(judge(&sound, BYTES, ALL_SEALS, step, &err), 0);
}

static void
seals_are_asked_for(void **state)
{
	static const int wrong[] = {
		0, F_SEAL_WRITE, F_SEAL_SHRINK | F_SEAL_GROW,
		F_SEAL_SHRINK | F_SEAL_WRITE, F_SEAL_GROW | F_SEAL_WRITE,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE,
	};
	struct listing l;
	struct ds_err err;
	int null;

	(void)state;
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(judge(&sound, BYTES, wrong[i], 1, &err),
		    -EBADMSG);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(listing_map(&l, null, &err), -EBADMSG);
	close(null);
}

static void
heads_are_checked(void **state)
{
	struct ds_err err;

	(void)state;
	REFUSE(head.magic, 1, "not one of destall");
	REFUSE(head.item_size, 48, "versions");
	REFUSE(head.nr_items, 2, "items and");
	REFUSE(head.nr_items, 4, "items and");
	REFUSE(head.nr_items, UINT64_MAX, "items and");
	REFUSE(head.nr_items, (UINT64_MAX / 56) + 4, "items and");
	REFUSE(head.names_bytes, sizeof NAMES - 1, "items and");
	REFUSE(head.names_bytes, UINT64_MAX - 100, "items and");
	REFUSE(head.total_bytes, 61, "61");
	for (size_t len = 0; len < BYTES; len++)
		assert_int_equal(judge(&sound, len, ALL_SEALS, 1, &err),
		    -EBADMSG);
}

static void
items_are_checked(void **state)
{
	(void)state;
	REFUSE(items[1].name_len, 0, "item 1: an empty name");
	REFUSE(items[1].name_len, 2, "without its end");
	REFUSE(items[1].name_len, 4, "zero byte");
	REFUSE(items[1].name_len, UINT32_MAX, "out of bounds");
	REFUSE(items[2].name_len, 4, "out of bounds");
	REFUSE(items[2].name_off, 7, "item 2");
	REFUSE(items[2].name_off, 2, "gap");
	REFUSE(items[2].name_off, UINT64_MAX, "out of bounds");
	REFUSE(items[2].name_off, sizeof NAMES, "out of bounds");
	REFUSE(items[0].name_off, 2, "item 0");
	REFUSE(items[2].size, LISTING_SIZE_MAX + 1, "too large");
	REFUSE(items[2].size, UINT64_MAX, "too large");
	REFUSE(items[2].offset, INT64_MAX, "offset");
	REFUSE(items[2].offset, UINT64_MAX, "offset");
	REFUSE(items[1].shard_len, 2, "shard");
	REFUSE(items[1].shard_len, 3, "shard");
	REFUSE(items[1].shard_len, UINT32_MAX, "shard");
	REFUSE(items[0].shard_len, 1, "shard");
	REFUSE(names[sizeof NAMES - 1], 'x', "without its end");
	REFUSE(names[0], '/', "absolute");
	REFUSE(names[0], 'c', "item 1: not in ascending order");
	REFUSE(names[8], 'c', "item 2: not in ascending order");
	REFUSE(names[3], '\0', "zero byte");
}

static void
dotdot_is_refused(void **state)
{
	struct bytes b = sound;

	(void)state;
	b.items[1].shard_len = 0;
	memcpy(b.names + 2, "b..", 3);
	memcpy(b.names, "/", 1);
	refuse_bytes(&b, "item 0: an absolute name");
	memcpy(b.names, "+", 1);
	memcpy(b.names + 2, "../", 3);
	refuse_bytes(&b, "item 1: a name with `..'");
}

static void
bytes_after_the_names(void **state)
{
	struct bytes b = sound;

	(void)state;
	b.items[2].name_len = 2;
	b.items[2].shard_len = 0;
	b.names[8] = '\0';
	memcpy(b.names + 6, "zz", 2);
	refuse_bytes(&b, "after the names");
}

UNIT_MAIN(
    UNIT(sorts_names_as_bytes), UNIT(one_listing_whatever_the_order),
    UNIT(empty_listing), UNIT(twice_is_refused), UNIT(nobody_can_write_it),
    UNIT(adds_nothing_that_would_be_refused), UNIT(sound_bytes_are_taken),
    UNIT(seals_are_asked_for), UNIT(heads_are_checked),
    UNIT(items_are_checked), UNIT(dotdot_is_refused),
    UNIT(bytes_after_the_names))
