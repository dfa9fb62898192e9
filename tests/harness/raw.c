/* SPDX-License-Identifier: Apache-2.0
 *
 * raw.c: clients of the cache that have no data set, only listings that they
 * made up, and so can be in the middle of anything.  Run by tests; the hub
 * must be there already.
 *
 *     raw takeover   opens a set by its stamp while a newer listing of it takes
 *                    over the items
 *     raw crowd      asks for 24 MiB of items at once
 *     raw flood      sends 600 listings, and never waits for an answer
 *     raw large      holds leases of a small and a large item until that of the
 *                    small one is taken back
 *     raw audit      reports an item that a newer listing has taken over
 *     raw room       fills the cache, leaves, and wants room for another set
 *     raw current    opens a set as it was listed last, also while a newer
 *                    listing of it takes over the items
 *     raw inodes     finds items by inodes, from the first listing until they
 *                    are forgotten
 *     raw passed     counts opens that were left to the kernel
 *
 * Prints what became of it; a test knows what that should be.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memfd.h"
#include "cache/ask.h"
#include "cache/data.h"
#include "cache/index.h"
#include "cache/listing.h"
#include "cache/messages.h"
#include "cache/store.h"
#include "hub/link.h"
#include "tests/harness/welcome.h"

#define SMALL		4096u
#define MIB		(UINT64_C(1) << 20)
#define WAIT_NS		(60 * NS_PER_S)
#define NONE		UINT32_MAX	/* of the items has changed */

struct user {
	struct link	*link;
	struct ask_set	set;
	struct ds_data	data;
};

static struct ds_err err;

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "raw: %s: %s\n", what, err.text);
	exit(1);
}

static struct link *
join(void)
{
	struct link *l;

	if (link_new(&l, false, &err) < 0)
		die("connect");
	return l;
}

/* nr items of so many bytes; one of them has another time.  Members of a shard,
 * or else files. */
static int
list_as(uint32_t nr, uint64_t size, uint32_t changed, bool members)
{
	struct listing_maker *m;
	char name[32];
	int fd;

	if (listing_new(&m, &err) < 0)
		die("listing");
	for (uint32_t i = 0; i < nr; i++) {
		struct listing_item key = { .dev = 1, .ino = i + 1,
			.size = size, .mtime_ns = i == changed ? 7 : 5,
			.shard_len = members ? 1 : 0 };
		int len = snprintf(name, sizeof name, "%si%08u",
		    members ? "s/" : "", i);

		if (listing_add(m, name, (size_t)len, &key, &err) < 0)
			die("listing");
	}
	fd = listing_seal(m, &err);
	if (fd < 0)
		die("listing");
	listing_free(&m);
	return fd;
}

static int
list(uint32_t nr, uint64_t size, uint32_t changed)
{
	return list_as(nr, size, changed, false);
}

/* ASK_OPENED or ASK_LIST; with a listing, which is closed, or -1. */
static int
try_open(struct user *u, const char *uri, uint64_t stamp, int listing)
{
	int rc = ask_open(u->link, uri, stamp, 0, listing, &u->set, &err);

	if (listing >= 0)
		close(listing);
	if (rc < 0)
		die(uri);
	if (rc == ASK_OPENED) {
		u->data.link = u->link;
		u->data.set = u->set.set;
		if (index_attach(&u->data.index, u->set.index, &err) < 0)
			die("index");
	}
	return rc;
}

static void
open_set(struct user *u, const char *uri, uint64_t stamp, int listing)
{
	if (u->link == NULL)
		u->link = join();
	if (try_open(u, uri, stamp, listing) != ASK_OPENED)
		die("not opened");
}

/* A listing whose answer nobody waits for. */
static void
tell_listing(struct link *l, const char *uri, uint64_t stamp, int fd)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_LISTING, 0);
	wire_put_bytes(&w, uri, strlen(uri));
	wire_put_u64(&w, stamp);
	wire_put_u32(&w, 0);
	wire_put_fd(&w, fd);
	(void)link_tell(l, &f, NULL);
}

/* The helper works in order: what it was given before is done. */
static void
await_helper(void)
{
	static struct user other;
	static unsigned nr;
	char uri[32];

	snprintf(uri, sizeof uri, "tar:/other%u", nr++);
	open_set(&other, uri, 1, list(1, SMALL, NONE));
}

static unsigned
state_of(const struct user *u, uint64_t i)
{
	return item_state(atomic_load_explicit(
	    &u->data.index.index->items[i].word, memory_order_acquire));
}

static void
print_item(const struct user *u, const char *which, uint64_t i)
{
	static const char *const names[] = { "empty", "leased", "ready",
		"failed" };

	printf("%s is %s\n", which, names[state_of(u, i) & 3]);
}

static void
print_ask(struct user *u, uint64_t i)
{
	static const char *const names[] = { "leased", "busy", "look",
		"alone" };
	struct ask_lease lease;

	printf("asked for, it is %s\n", names[ask_lease(&u->data, i, 0,
	    &lease)]);
}

static void
must_lease(struct user *u, uint64_t i, struct ask_lease *lease)
{
	if (ask_lease(&u->data, i, 0, lease) != ASK_LEASED)
		die("no lease");
}

/* As it was allocated, with a checksum that is not its. */
static bool
put(struct user *u, uint64_t i)
{
	struct ask_lease lease;

	if (ask_lease(&u->data, i, 0, &lease) != ASK_LEASED)
		return false;
	close(lease.fd);
	ask_publish(&u->data, i, &lease, 1);
	return true;
}

/* Until the item is in no such state any more. */
static void
await_change(struct user *u, uint64_t i, unsigned state)
{
	const struct index *x = u->data.index.index;
	uint64_t until_ns = clock_now_ns() + WAIT_NS;

	while (state_of(u, i) == state && clock_now_ns() < until_ns) {
		uint32_t seen = atomic_load_explicit(&x->wake,
		    memory_order_acquire);

		if (state_of(u, i) == state)
			(void)index_wait(x, seen, clock_now_ns() +
			    NS_PER_S / 10);
	}
}

static int
take_over(void)
{
	enum { NR = 300000 };
	static struct user first, second, third;	/* until the end */
	int newer = list(NR, SMALL, 3);

	open_set(&first, "tar:/set", 1, list(NR, SMALL, NONE));
	if (!put(&first, NR - 1))
		die("put");
	second.link = join();
	third.link = join();
	tell_listing(second.link, "tar:/set", 2, newer);
	while (try_open(&third, "tar:/set", 2, -1) == ASK_LIST)
		continue;
	print_item(&third, "the last", NR - 1);
	print_ask(&third, NR - 1);
	await_helper();
	printf("%s\n", is_welcome(first.link) && is_welcome(second.link) &&
	    is_welcome(third.link) ? "welcome" : "expelled");
	return 0;
}

/* The hub's count of what is used is brought up to date by this. */
static void
ask_stat(struct link *l)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_STAT, 0);
	wire_put_u32(&w, UINT32_MAX);
	if (link_call(l, &f, LINK_ANY, &err) < 0)
		die("stat");
}

/* All but the last are told, so that none is answered before all are asked;
 * the last is answered when the helper has looked for memory for all. */
/* What was asked for counts as used until the helper has refused it, though the
 * last one, which finds admission closed, was answered before. */
static void
await_room(struct link *l)
{
	const struct control *c = link_control(l);
	uint64_t deadline_ns = clock_now_ns() + WAIT_NS;

	do {
		ask_stat(l);
		/* relaxed: the answer came after them */
	} while (atomic_load_explicit(&c->used_bytes, memory_order_relaxed) >
	    atomic_load_explicit(&c->budget_bytes, memory_order_relaxed) &&
	    clock_now_ns() < deadline_ns);
}

static int
crowd(void)
{
	enum { NR = 24 };
	static struct user u;		/* until the end */
	struct ask_lease lease;
	struct wire_frame f;
	struct wire_writer w;
	unsigned leased = 0;

	open_set(&u, "tar:/set", 1, list(NR, MIB, NONE));
	for (uint64_t i = 0; i < NR - 1; i++) {
		wire_write(&w, &f, MSG_LEASE, 0);
		wire_put_u32(&w, u.set.set);
		wire_put_u64(&w, i);
		wire_put_u64(&w, 0);
		(void)link_tell(u.link, &f, NULL);
	}
	(void)ask_lease(&u.data, NR - 1, 0, &lease);
	await_room(u.link);
	for (uint64_t i = 0; i < NR; i++)
		leased += state_of(&u, i) == ITEM_LEASED;
	printf("leased %u used %llu\n", leased, (unsigned long long)
	    atomic_load_explicit(&link_control(u.link)->used_bytes,
	    memory_order_relaxed));
	return 0;
}

static int
flood(void)
{
	static struct user other;	/* until the end */
	struct link *l = join();
	int fd = list(300000, SMALL, NONE);
	struct ask_set set;
	char uri[32];

	other.link = join();
	tell_listing(l, "tar:/first", 1, fd);
	if (ask_open(l, "tar:/second", 1, 0, fd, &set, &err) < 0)
		printf("refused: %s\n", err.text);
	for (unsigned i = 0; i < 600; i++) {
		snprintf(uri, sizeof uri, "tar:/x%u", i);
		tell_listing(l, uri, 1, fd);
	}
	link_free(&l);
	open_set(&other, "tar:/honest", 1, list(10, SMALL, NONE));
	puts("the other has opened its own");
	return 0;
}

static int
hold_large(void)
{
	static struct user small, large;	/* until the end */
	struct ask_lease one, other;

	open_set(&small, "tar:/small", 1, list(1, SMALL, NONE));
	open_set(&large, "tar:/large", 1, list(1, 32 * MIB, NONE));
	must_lease(&large, 0, &other);		/* the older of the two */
	must_lease(&small, 0, &one);
	await_change(&small, 0, ITEM_LEASED);
	print_item(&small, "the small one", 0);
	close(other.fd);
	ask_publish(&large.data, 0, &other, 0);
	(void)is_welcome(large.link);
	print_item(&large, "the large one", 0);
	return 0;
}

static bool
has_file(const struct user *u, uint64_t i)
{
	char name[STORE_NAME_MAX];
	int fd;

	index_file_name(name, atomic_load_explicit(
	    &u->data.index.index->items[i].file, memory_order_relaxed));
	fd = openat(u->set.view, name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void
report(struct user *u, uint64_t i)
{
	ask_report(&u->data, i, item_generation(atomic_load_explicit(
	    &u->data.index.index->items[i].word, memory_order_relaxed)));
	(void)is_welcome(u->link);
	await_helper();
}

static int
audit(void)
{
	static struct user old, new;	/* until the end */

	open_set(&old, "tar:/set", 1, list(10, SMALL, NONE));
	if (!put(&old, 0))
		die("put");
	open_set(&new, "tar:/set", 2, list(10, SMALL, 3));
	report(&old, 0);
	print_item(&new, "the item", 0);
	printf("its file is %s\n", has_file(&new, 0) ? "there" : "gone");
	report(&new, 0);
	print_item(&new, "reported, it", 0);
	printf("its file is %s\n", has_file(&new, 0) ? "there" : "gone");
	return 0;
}

static int
want_room(void)
{
	static struct user first, second;	/* until the end */
	const struct index *x;
	struct ask_lease lease;
	unsigned asks = 0;
	uint64_t n = 0;
	uint32_t seen;

	open_set(&first, "tar:/first", 1, list(15000, SMALL, NONE));
	while (n < 15000 && put(&first, n))
		n++;
	printf("%llu fit\n", (unsigned long long)n);
	ask_close(first.link, first.set.set);
	(void)is_welcome(first.link);
	open_set(&second, "tar:/second", 1, list(1, 30 * MIB, NONE));
	x = second.data.index.index;
	for (;;) {
		seen = atomic_load_explicit(&x->wake, memory_order_acquire);
		asks++;
		if (ask_lease(&second.data, 0, 0, &lease) != ASK_BUSY)
			break;
		(void)index_wait(x, seen, clock_now_ns() + WAIT_NS);
	}
	print_item(&second, "the other", 0);
	printf("asks %u\n", asks);
	return 0;
}

/*--- as it was listed last -----------------------------------------------*/

/* The number of the set, or 0 where it asks for a list. */
static uint32_t
open_current(struct user *u, const char *uri)
{
	if (u->link == NULL)
		u->link = join();
	return try_open(u, uri, CACHE_STAMP_ANY, -1) == ASK_OPENED ?
	    u->set.set : 0;
}

static void
leave(struct user *u)
{
	ask_close(u->link, u->set.set);
	index_detach(&u->data.index);
	close(u->set.view);
	close(u->set.page);
}

static int
current(void)
{
	enum { NR = 300000 };
	static struct user first, second, third, bad;	/* until the end */
	uint32_t set;

	printf("%s\n", open_current(&third, "/set") == 0 ? "not listed yet" :
	    "opened");
	open_set(&first, "/set", 0, list(NR, SMALL, NONE));
	if (!put(&first, NR - 1))
		die("put");
	set = open_current(&third, "/set");
	printf("%s\n", set == first.set.set ? "the same" : "another");
	leave(&third);
	second.link = join();
	tell_listing(second.link, "/set", 0, list(NR, SMALL, 3));
	do {		/* the old one, then none, then the new one */
		set = open_current(&third, "/set");
		if (set == first.set.set)
			leave(&third);
	} while (set == 0 || set == first.set.set);
	print_item(&third, "the last", NR - 1);
	bad.link = join();
	tell_listing(bad.link, "/set", CACHE_STAMP_ANY, list(1, SMALL, NONE));
	printf("%s\n", is_welcome(bad.link) ? "welcome" : "expelled");
	return 0;
}

/*--- inodes --------------------------------------------------------------*/

/* The file that the store has for an item, as a reader gets it. */
static void
print_copy(struct user *u, const char *which, uint64_t i,
    const struct stat *want)
{
	const struct index_map *m = &u->data.index;
	int64_t found = index_find_copy(m, want->st_ino);
	struct view v;
	struct stat st;
	int fd;

	if (view_init(&v, u->set.view, &err) < 0)
		die("view");
	u->set.view = v.fd;	/* it has moved */
	fd = view_open(&v, &m->index->items[i], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		printf("%s: none", which);
	else
		printf("%s: mode %o%s", which, (unsigned)st.st_mode & 07777,
		    st.st_ino == want->st_ino ? "" : ", another");
	printf(", %s\n", found < 0 ? "not found" :
	    (uint64_t)found == i ? "found" : "wrong");
	if (fd >= 0)
		close(fd);
}

static void
stat_copy(struct user *u, uint64_t i, struct stat *st)
{
	char name[STORE_NAME_MAX];

	index_file_name(name, atomic_load_explicit(
	    &u->data.index.index->items[i].file, memory_order_relaxed));
	if (fstatat(u->set.view, name, st, AT_SYMLINK_NOFOLLOW) != 0)
		die("stat");
}

static unsigned
count_found(const struct user *u, uint32_t nr)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < nr; i++)
		found += index_find_file(&u->data.index, 1, i + 1) == i;
	return found;
}

static void
print_large(struct user *u, const char *uri, uint32_t share)
{
	int fd = list(64, MIB, NONE);

	u->link = join();
	if (ask_open(u->link, uri, 0, share, fd, &u->set, &err) != ASK_OPENED ||
	    index_attach(&u->data.index, u->set.index, &err) < 0)
		die(uri);
	close(fd);
	printf("large: %llu\n", (unsigned long long)
	    u->data.index.index->large_bytes);
}

static int
find_inodes(void)
{
	enum { NR = 5000 };		/* more than one piece */
	static struct user old, new, members, whole, part;
	struct stat st, none = { 0 };

	open_set(&old, "/set", 0, list(NR, SMALL, NONE));
	printf("%u files of %u\n", count_found(&old, NR), NR);
	print_copy(&old, "empty", 9, &none);
	if (!put(&old, 9) || !is_welcome(old.link))
		die("put");
	stat_copy(&old, 9, &st);
	print_copy(&old, "ready", 9, &st);
	open_set(&new, "/set", 0, list(NR, SMALL, 3));
	printf("%u files of %u\n", count_found(&new, NR), NR);
	print_copy(&new, "taken over", 9, &st);
	report(&new, 9);
	print_copy(&new, "forgotten", 9, &st);
	if (!put(&new, 9) || !is_welcome(new.link))
		die("put");
	print_copy(&new, "anew, the old", 9, &st);
	stat_copy(&new, 9, &st);
	print_copy(&new, "anew", 9, &st);
	open_set(&members, "tar:/set", 1, list_as(NR, SMALL, NONE, true));
	printf("%u members of %u, %llu slots\n", count_found(&members, NR), NR,
	    (unsigned long long)members.data.index.nr_slots);
	print_large(&whole, "/whole", 0);
	print_large(&part, "/part", CACHE_SHARE_ONE / 4);
	return 0;
}

/*--- counts --------------------------------------------------------------*/

static int
count_passed(void)
{
	static struct user u;		/* until the end */
	void *base;

	open_set(&u, "/set", 0, list(4, SMALL, NONE));
	if (memfd_map_writer(u.set.page, sizeof(struct page), &base, &err) < 0)
		die("page");
	page_count(base, COUNT_CONTAINERS, 12);
	page_count(base, COUNT_LARGE, 3);
	page_count(base, COUNT_CHANGED, 1);
	munmap(base, sizeof(struct page));
	open_set(&u, "/other", 0, list(4, SMALL, NONE));
	if (memfd_map_writer(u.set.page, sizeof(struct page), &base, &err) < 0)
		die("page");
	page_count(base, COUNT_LARGE, 1);
	munmap(base, sizeof(struct page));
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int	(*run)(void);
	} ways[] = {
		{ "takeover", take_over }, { "crowd", crowd },
		{ "flood", flood }, { "large", hold_large },
		{ "audit", audit }, { "room", want_room },
		{ "current", current }, { "inodes", find_inodes },
		{ "passed", count_passed },
	};

	for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		if (argc == 2 && strcmp(argv[1], ways[i].name) == 0)
			return ways[i].run();
	}
	fprintf(stderr, "usage: raw HOW\n");
	return 99;
}
