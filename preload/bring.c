/* SPDX-License-Identifier: Apache-2.0
 *
 * bring.c: a file that is not cached is brought in, as a program opens it.
 * Runs in any program that the object is preloaded in, in any of its threads.
 */

#include <config.h>

#include "preload/bring.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/crc32c.h"
#include "base/io.h"
#include "cache/claim.h"
#include "cache/source_file.h"
#include "preload/container.h"
#include "preload/hush.h"

#define PIECE		((size_t)1 << 20)
#define TICK_NS		(20 * NS_PER_MS)	/* of a file's times */
#define COARSE_TICK_NS	(2 * NS_PER_S)	/* of those without fractions */

/*--- what stays with the kernel ------------------------------------------*/

/* The kernel is told of all that will be read: for a few bytes alone it would
 * begin with a few pages, and make three requests of what can be one. */
static bool
is_container(int fd)
{
	unsigned char head[CONTAINER_HEAD];
	ssize_t n;

	(void)posix_fadvise(fd, 0, (off_t)PIECE, POSIX_FADV_WILLNEED);
	n = pread(fd, head, sizeof head, 0);
	return n > 0 && container_kind(head, (size_t)n) != NULL;
}

static bool
is_large(const struct ds_data *d, const struct stat *st)
{
	/* relaxed: a bound, which guards nothing */
	return (uint64_t)st->st_size > atomic_load_explicit(
	    &d->index.index->large_bytes, memory_order_relaxed);
}

/* Could another change now bear the same time? */
static bool
is_fresh_time(const struct timespec *t, const struct timespec *now)
{
	uint64_t tick_ns = t->tv_nsec == 0 ? COARSE_TICK_NS : TICK_NS;
	int64_t age_ns;

	if (now->tv_sec - t->tv_sec > 10 || now->tv_sec < t->tv_sec)
		return false;
	age_ns = (now->tv_sec - t->tv_sec) * (int64_t)NS_PER_S +
	    now->tv_nsec - t->tv_nsec;
	return age_ns >= 0 && (uint64_t)age_ns < tick_ns;
}

/* By both times: a program can set the one back, and not every file system
 * keeps the other. */
static bool
is_fresh(const struct stat *st)
{
	struct timespec now;

	return clock_gettime(CLOCK_REALTIME, &now) == 0 &&
	    (is_fresh_time(&st->st_mtim, &now) ||
	    is_fresh_time(&st->st_ctim, &now));
}

/*--- copying -------------------------------------------------------------*/

static ssize_t
read_piece(int fd, char *piece, off_t at, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, piece + done, len - done,
		    at + (off_t)done);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			done += (size_t)n;
	}
	return (ssize_t)done;
}

/* In pieces of memory of our own: the program may be in any state. */
static int
copy(int from, int to, uint64_t size, uint32_t *crc)
{
	size_t room = size < PIECE ? (size_t)size : PIECE;
	uint64_t at = 0;
	int rc = 0;
	char *piece;

	piece = mmap(NULL, room, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (piece == MAP_FAILED)
		return -ENOMEM;
	while (rc == 0 && at < size) {
		size_t len = size - at < room ? (size_t)(size - at) : room;
		ssize_t n = read_piece(from, piece, (off_t)at, len);

		if (n != (ssize_t)len) {
			rc = n < 0 ? (int)n : -ESTALE;
			break;
		}
		rc = io_write_all(to, piece, len);
		*crc = crc32c(*crc, piece, len);
		at += len;
	}
	munmap(piece, room);
	return rc;
}

/* Its bytes, if they are those of the listed file. */
static int
read_listed(struct ds_data *d, uint64_t i, int fd, int to, uint32_t *crc)
{
	const struct listing_item *key = &d->index.index->items[i].key;
	uint64_t size = key->size, begin_ns = clock_now_ns();
	struct stat st;
	int rc = crash_point("bring.leased");

	if (rc == 0)
		rc = copy(fd, to, size, crc);
	if (rc < 0)
		return rc;
	if (fstat(fd, &st) != 0 || !source_is_listed(&st, key) ||
	    is_fresh(&st))
		return -ESTALE;
	if (data_is_ours(d))
		page_fetched(d->page, clock_now_ns() - begin_ns);
	return crash_point("bring.read");
}

static bool
fetch(struct ds_data *d, uint64_t i, int fd, struct ask_lease *lease)
{
	uint32_t crc = 0;
	struct hush hush;
	int rc;

	hush_begin(&hush);
	rc = read_listed(d, i, fd, lease->fd, &crc);
	hush_end(&hush);
	io_close(&lease->fd);
	if (rc == 0)
		rc = crash_point("bring.closed");
	if (rc < 0) {
		ask_give_up(d, i, lease, 0);
		return false;
	}
	ask_publish(d, i, lease, crc);
	(void)crash_point("bring.published");	/* no step is left to fail */
	/* It lies in the cache now: no second copy is needed. */
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return true;
}

/*--- for swap.c ----------------------------------------------------------*/

void
bring_missed(struct ds_data *d, const struct stat *st)
{
	data_count(d, COUNT_MISSES, 1);
	data_count(d, COUNT_STORAGE_READS, 1);
	data_count(d, COUNT_STORAGE_BYTES, (uint64_t)st->st_size);
}

/* After our own PUBLISH the next claim finds it: the hub takes both in turn. */
static enum bring
claim(struct ds_data *d, uint64_t i, int fd, const struct stat *st)
{
	struct ask_lease lease;
	bool fetched = false;
	uint64_t word;

	for (;;) {
		switch (claim_item(d, i, 0, &word, &lease)) {
		case CLAIM_READY:
			return fetched ? BRING_FETCHED : BRING_WAITED;
		case CLAIM_LEASED:
			if (fetched) {
				io_close(&lease.fd);
				ask_give_up(d, i, &lease, 0);
				return BRING_LEFT;
			}
			bring_missed(d, st);
			fetched = fetch(d, i, fd, &lease);
			if (!fetched)
				return BRING_LEFT;
			break;
		case CLAIM_FAILED:
		case CLAIM_ALONE:
			if (!fetched)
				bring_missed(d, st);
			return BRING_LEFT;
		}
	}
}

/* Then storage is not touched before the program does. */
static bool
is_shut_out(const struct ds_data *d, uint64_t i)
{
	const struct index *x = d->index.index;

	/* relaxed: who sees it too late asks the hub, which says so */
	return atomic_load_explicit(&x->closed, memory_order_relaxed) != 0 &&
	    item_state(atomic_load_explicit(&x->items[i].word,
	    memory_order_relaxed)) == ITEM_EMPTY;
}

enum bring
bring_item(struct ds_data *d, uint64_t i, int fd, const struct stat *st)
{
	if (is_large(d, st))
		data_count(d, COUNT_LARGE, 1);
	else if (is_shut_out(d, i) || is_fresh(st))
		bring_missed(d, st);
	else if (is_container(fd))
		data_count(d, COUNT_CONTAINERS, 1);
	else
		return claim(d, i, fd, st);
	return BRING_LEFT;
}
