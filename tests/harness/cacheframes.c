/* SPDX-License-Identifier: Apache-2.0
 *
 * cacheframes.c: clients of the cache that do what no client of ours does.
 * Run by tests.
 *
 *     cacheframes HOW URI
 *
 * Listings: unsealed, resizable, unwritten (not sealed against writing), pipe,
 * folder, empty, short, magic, itemsize, items, names, total, offset, order,
 * end, size, up, nofd, twofds.  Each prints what it is answered.
 *
 * Items, of a listing that is sound: generation, others, cut, grown, held,
 * read (open for reading still), holes, beyond (as many pages, but not those of
 * the item), sound (a false report), opens, leases, back (counts), and those
 * that no client may send: item, publish, giveup, report, set, close, code, type,
 * cutbody, uri, share.
 *
 * Prints one line for each answer: "opened", "leased", "refused: TEXT",
 * "expelled"; and the state of the item that it was about.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/io.h"
#include "base/memfd.h"
#include "cache/ask.h"
#include "cache/index.h"
#include "cache/listing.h"
#include "cache/messages.h"
#include "cache/page.h"
#include "cache/source.h"
#include "hub/link.h"
#include "tests/harness/welcome.h"

#define WAIT_NS		(20 * NS_PER_S)
#define SEALS		(F_SEAL_SHRINK | F_SEAL_GROW)

static struct source *source;
static struct link *hub;
static struct ask_set set;
static struct index_map map;

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "cacheframes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool
is_one_of(const char *how, const char *names)
{
	size_t len = strlen(how);
	const char *at = names;

	while ((at = strstr(at, how)) != NULL) {
		if ((at == names || at[-1] == ' ') &&
		    (at[len] == ' ' || at[len] == '\0'))
			return true;
		at += len;
	}
	return false;
}

static struct link *
join(void)
{
	struct ds_err err;
	struct link *l;

	if (link_new(&l, false, &err) < 0) {
		fprintf(stderr, "cacheframes: %s\n", err.text);
		exit(1);
	}
	return l;
}

static void
print_answer(struct link *l, int rc, const struct ds_err *err, const char *good)
{
	if (rc >= 0)
		puts(good);
	else if (!is_welcome(l))
		puts("expelled");
	else
		printf("refused: %s\n", err->text);
}

/*--- listings ------------------------------------------------------------*/

static int
list(void)
{
	struct ds_err err;
	int fd = source_list(source, &err);

	if (fd < 0) {
		fprintf(stderr, "cacheframes: %s\n", err.text);
		exit(1);
	}
	return fd;
}

/* All bytes of a good one, in memory of ours. */
static struct listing_head *
copy_listing(size_t *len)
{
	struct listing_head *head;
	struct listing l;
	int fd = list();

	if (listing_map(&l, fd, NULL) < 0)
		die("listing");
	head = malloc(l.len + 4096);
	if (head == NULL)
		die("malloc");
	memcpy(head, l.head, l.len);
	*len = l.len;
	listing_unmap(&l);
	close(fd);
	return head;
}

static int
make_memfd(const void *bytes, size_t len, int seals)
{
	int fd = memfd_create("lies", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || io_write_all(fd, bytes, len) != 0 ||
	    (seals != 0 && fcntl(fd, F_ADD_SEALS, seals) != 0))
		die("memfd");
	return fd;
}

static bool
change(const char *how, struct listing_head *h, size_t *len)
{
	struct listing_item *items = (void *)(h + 1);
	char *names = (char *)&items[h->nr_items];

	if (strcmp(how, "empty") == 0)
		*len = 1;
	else if (strcmp(how, "short") == 0)
		*len -= 1;
	else if (strcmp(how, "magic") == 0)
		h->magic ^= 1;
	else if (strcmp(how, "itemsize") == 0)
		h->item_size += 8;
	else if (strcmp(how, "items") == 0)
		h->nr_items = UINT64_C(1) << 63;
	else if (strcmp(how, "names") == 0)
		h->names_bytes = UINT64_MAX;
	else if (strcmp(how, "total") == 0)
		h->total_bytes++;
	else if (strcmp(how, "offset") == 0)
		items[0].name_off = UINT64_MAX - 1;
	else if (strcmp(how, "order") == 0)
		names[items[1].name_off] = '\001';
	else if (strcmp(how, "end") == 0)
		names[items[0].name_len] = 'x';
	else if (strcmp(how, "size") == 0)
		items[0].size = UINT64_MAX;
	else if (strcmp(how, "up") == 0)
		memcpy(names, "../", 3);
	else
		return false;
	return true;
}

/* The descriptor to send, or -1 for a name that is none of these. */
static int
make_listing(const char *how)
{
	int fds[2], seals = SEALS | F_SEAL_WRITE | F_SEAL_SEAL;
	static struct listing_head *h;		/* until the end */
	size_t len;

	if (strcmp(how, "pipe") == 0)
		return pipe(fds) == 0 ? fds[0] : -1;
	if (strcmp(how, "folder") == 0)
		return open(".", O_RDONLY | O_DIRECTORY);
	h = copy_listing(&len);
	if (strcmp(how, "unsealed") == 0)
		seals = 0;
	else if (strcmp(how, "resizable") == 0)
		seals = F_SEAL_WRITE;
	else if (strcmp(how, "unwritten") == 0)
		seals = SEALS | F_SEAL_FUTURE_WRITE;
	else if (!change(how, h, &len))
		return -1;
	return make_memfd(h, len, seals);
}

static int
send_listing(int fd)
{
	struct ask_set got;
	struct ds_err err;
	int rc = ask_open(hub, source_uri(source), 0, 0, fd, &got, &err);

	print_answer(hub, rc, &err, "opened");
	return 0;
}

static void
write_wish(struct wire_writer *w, struct wire_frame *f, uint16_t type,
    size_t len, uint32_t share)
{
	static char uri[CACHE_URI_MAX + 1];

	memset(uri, 'u', sizeof uri);
	wire_write(w, f, type, 0);
	wire_put_bytes(w, uri, len);
	wire_put_u64(w, 0);
	wire_put_u32(w, share);
}

static int
call(struct wire_frame *f)
{
	struct ds_err err;
	int rc = link_call(hub, f, LINK_ANY, &err);

	print_answer(hub, rc, &err, "answered");
	return 0;
}

/* Of the three ways to ask for a set that are none. */
static int
send_wish(const char *how)
{
	struct wire_frame f;
	struct wire_writer w;

	if (strcmp(how, "uri") == 0) {
		write_wish(&w, &f, MSG_OPEN, CACHE_URI_MAX + 1, 0);
	} else if (strcmp(how, "share") == 0) {
		write_wish(&w, &f, MSG_OPEN, 10, CACHE_SHARE_ONE + 1);
	} else {
		write_wish(&w, &f, MSG_LISTING, 10, 0);
		if (strcmp(how, "twofds") == 0) {
			wire_put_fd(&w, 0);
			wire_put_fd(&w, 0);
		}
	}
	return call(&f);
}

/*--- items ---------------------------------------------------------------*/

static void
open_set(void)
{
	int fd = list();
	struct ds_err err;

	if (ask_open(hub, source_uri(source), 0, 0, fd, &set, &err) !=
	    ASK_OPENED || index_attach(&map, set.index, &err) < 0) {
		fprintf(stderr, "cacheframes: %s\n", err.text);
		exit(1);
	}
	close(fd);
}

static void
print_item(uint64_t i)
{
	static const char *const names[] = { "empty", "leased", "ready",
		"failed" };

	printf("item %llu is %s\n", (unsigned long long)i,
	    names[item_state(atomic_load_explicit(&map.index->items[i].word,
	    memory_order_acquire)) & 3]);
}

/* The descriptor of the draft; generation 0 with -1 if it was refused. */
static int
lease(struct link *l, uint64_t i, uint32_t *generation, struct ds_err *err)
{
	struct wire_frame f;
	struct wire_reader r;
	struct wire_writer w;
	int rc;

	wire_write(&w, &f, MSG_LEASE, 0);
	wire_put_u32(&w, set.set);
	wire_put_u64(&w, i);
	wire_put_u64(&w, 0);
	rc = link_call(l, &f, MSG_LEASED, err);
	if (rc < 0)
		return rc;
	wire_read(&r, &f);
	*generation = wire_get_u32(&r);
	return f.fds[0];
}

static int
must_lease(uint64_t i, uint32_t *generation)
{
	struct ds_err err;
	int fd = lease(hub, i, generation, &err);

	if (fd < 0) {
		fprintf(stderr, "cacheframes: no lease: %s\n", err.text);
		exit(1);
	}
	return fd;
}

static void
tell_item(struct link *l, uint16_t type, uint32_t of, uint64_t i,
    uint32_t generation, uint32_t last, bool has_last)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, type, 0);
	wire_put_u32(&w, of);
	wire_put_u64(&w, i);
	wire_put_u32(&w, generation);
	if (has_last)
		wire_put_u32(&w, last);
	(void)link_tell(l, &f, NULL);
}

static void
publish(struct link *l, uint64_t i, uint32_t generation, uint32_t crc)
{
	tell_item(l, MSG_PUBLISH, set.set, i, generation, crc, true);
}

/* The right bytes; their crc. */
static uint32_t
write_item(int fd, uint64_t i)
{
	const struct listing_item *key = &map.index->items[i].key;
	void *bytes = malloc(key->size);
	struct ds_err err;
	uint32_t crc;
	size_t len;

	if (bytes == NULL || source_read(source, index_name(&map, i, &len), key,
	    bytes, &err) < 0 || io_write_all(fd, bytes, key->size) != 0)
		die("item");
	crc = crc32c(0, bytes, key->size);
	free(bytes);
	return crc;
}

static void
print_standing(struct link *l, uint64_t i)
{
	puts(is_welcome(l) ? "welcome" : "expelled");
	print_item(i);
}

/* A late publish, as it would come from a lease that ran out. */
static int
try_generation(void)
{
	uint32_t g, crc;
	int fd = must_lease(0, &g);

	crc = write_item(fd, 0);
	close(fd);
	publish(hub, 0, g + 1, crc);
	publish(hub, 0, g - 1, crc);
	print_standing(hub, 0);
	publish(hub, 0, g, crc);
	print_standing(hub, 0);
	publish(hub, 0, g, crc);
	print_standing(hub, 0);
	return 0;
}

/* Another client, which has the set open too, publishes and gives up ours. */
static int
try_others(void)
{
	static struct link *other;		/* until the end */
	struct ask_set theirs;
	uint32_t g, crc;
	int fd = must_lease(1, &g), listing = list();

	other = join();
	crc = write_item(fd, 1);
	close(fd);
	if (ask_open(other, source_uri(source), 0, 0, listing, &theirs,
	    NULL) != ASK_OPENED)
		die("open");
	publish(other, 1, g, crc);
	tell_item(other, MSG_GIVE_UP, set.set, 1, g, EIO, true);
	print_standing(other, 1);
	publish(hub, 1, g, crc);
	print_standing(hub, 1);
	return 0;
}

/* A descriptor that cannot be written, until it is opened again. */
static void
open_reader(int fd)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (open(path, O_RDONLY | O_CLOEXEC) < 0)
		die(path);
}

/* Memory of the draft given back; beyond: and taken again past its end, so far
 * that no large page has bytes of both. */
static void
make_holes(int fd, off_t size, bool beyond)
{
	off_t page = getpagesize(), end = (size + page - 1) / page * page;

	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
	    end) != 0 || (beyond && fallocate(fd, FALLOC_FL_KEEP_SIZE,
	    (off_t)4 << 20, end) != 0))
		die("fallocate");
}

static int
try_draft(const char *how)
{
	uint64_t size = map.index->items[2].key.size;
	uint32_t g, crc;
	int fd = must_lease(2, &g);

	crc = write_item(fd, 2);
	if (strcmp(how, "cut") == 0 && ftruncate(fd, (off_t)size / 2) != 0)
		die("ftruncate");
	if (strcmp(how, "grown") == 0 &&
	    ftruncate(fd, (off_t)size * 1000) != 0)
		die("ftruncate");
	if (strcmp(how, "read") == 0)
		open_reader(fd);
	if (is_one_of(how, "holes beyond"))
		make_holes(fd, (off_t)size, strcmp(how, "beyond") == 0);
	if (strcmp(how, "held") != 0)
		close(fd);
	publish(hub, 2, g, crc);
	print_standing(hub, 2);
	return 0;
}

static int
try_report(void)
{
	uint32_t g, crc;
	int fd = must_lease(3, &g);

	crc = write_item(fd, 3);
	close(fd);
	publish(hub, 3, g, crc);
	for (int i = 0; i < 100; i++) {
		tell_item(hub, MSG_REPORT, set.set, 3, g, 0, false);
		tell_item(hub, MSG_REPORT, set.set, 3, g + 1, 0, false);
	}
	print_standing(hub, 3);
	return 0;
}

/* What is asked for many times, until it is refused. */
static int
try_many(const char *how)
{
	struct ask_set again;
	struct ds_err err;
	uint32_t generation;
	int listing = list(), rc;
	uint64_t n;

	for (n = 0; n < 2000; n++) {
		rc = strcmp(how, "opens") == 0 ? ask_open(hub,
		    source_uri(source), 0, 0, listing, &again, &err) :
		    lease(hub, n + 10, &generation, &err);
		if (rc < 0)
			break;
	}
	printf("%llu, then ", (unsigned long long)n);
	print_answer(hub, rc, &err, "none was refused");
	return 0;
}

/* Says nothing while its counts go back: the hub sees it by itself. */
static int
try_back(void)
{
	const struct timespec ms = { 0, 1000000 };
	uint64_t until_ns;
	struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
	    MAP_SHARED, set.page, 0);

	if (page == MAP_FAILED)
		die("mmap");
	until_ns = clock_now_ns() + WAIT_NS;
	for (uint64_t n = 0; clock_now_ns() < until_ns; n++) {
		/* relaxed: a lie needs no order */
		atomic_store_explicit(&page->count[COUNT_HITS],
		    n % 2 ? 5 : UINT64_MAX, memory_order_relaxed);
		if (n % 100 == 99 && !is_welcome(hub)) {
			puts("expelled");
			return 0;
		}
		nanosleep(&ms, NULL);
	}
	puts("still welcome");
	return 0;
}

/*--- what no client may say ----------------------------------------------*/

static int
try_forbidden(const char *how)
{
	uint64_t past = map.index->nr_items;
	struct wire_frame f;
	struct wire_writer w;
	uint32_t g = 0;

	if (strcmp(how, "item") == 0) {
		struct ds_err err;

		(void)lease(hub, past, &g, &err);
	} else if (strcmp(how, "publish") == 0) {
		publish(hub, UINT64_MAX, 1, 0);
	} else if (strcmp(how, "giveup") == 0) {
		tell_item(hub, MSG_GIVE_UP, set.set, past, 1, 0, true);
	} else if (strcmp(how, "report") == 0) {
		tell_item(hub, MSG_REPORT, set.set, past, 1, 0, false);
	} else if (strcmp(how, "set") == 0) {
		tell_item(hub, MSG_PUBLISH, set.set + 1000, 0, 1, 0, true);
	} else if (strcmp(how, "close") == 0) {
		ask_close(hub, set.set + 1000);
	} else if (strcmp(how, "code") == 0) {
		close(must_lease(4, &g));
		tell_item(hub, MSG_GIVE_UP, set.set, 4, g, 5000, true);
	} else if (strcmp(how, "type") == 0) {
		wire_write(&w, &f, MSG_CACHE_LAST, 0);
		(void)link_tell(hub, &f, NULL);
	} else if (strcmp(how, "cutbody") == 0) {
		wire_write(&w, &f, MSG_PUBLISH, 0);
		wire_put_u32(&w, set.set);
		(void)link_tell(hub, &f, NULL);
	} else {
		fprintf(stderr, "cacheframes: no way %s\n", how);
		exit(99);
	}
	puts(is_welcome(hub) ? "welcome" : "expelled");
	return 0;
}

int
main(int argc, char **argv)
{
	struct rlimit most;
	struct ds_err err;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: cacheframes HOW URI\n");
		return 99;
	}
	if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
		most.rlim_cur = most.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &most);
	}
	if (source_open(&source, argv[2], &err) < 0) {
		fprintf(stderr, "cacheframes: %s\n", err.text);
		return 1;
	}
	hub = join();
	if (is_one_of(argv[1], "nofd twofds uri share"))
		return send_wish(argv[1]);
	fd = make_listing(argv[1]);
	if (fd >= 0)
		return send_listing(fd);
	open_set();
	if (strcmp(argv[1], "generation") == 0)
		return try_generation();
	if (strcmp(argv[1], "others") == 0)
		return try_others();
	if (is_one_of(argv[1], "cut grown held read holes beyond"))
		return try_draft(argv[1]);
	if (strcmp(argv[1], "sound") == 0)
		return try_report();
	if (is_one_of(argv[1], "opens leases"))
		return try_many(argv[1]);
	if (strcmp(argv[1], "back") == 0)
		return try_back();
	return try_forbidden(argv[1]);
}
