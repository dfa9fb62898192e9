/* SPDX-License-Identifier: Apache-2.0
 *
 * maps.c: where this process has slots in its memory.  Runs in clients, with
 * the caller's lock held.
 */

#include <config.h>

#include "stage/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/must.h"
#include "stage/maps_state.h"

/* The kernel's way to copy a page when it is written to takes six times as long
 * as to copy it beforehand (rule 5).  Less than a sixth: who writes so little
 * may write less next time. */
#define MUCH		4u	/* a quarter */

/* A map that was released so often without a write, with so many pages there,
 * is watched (watch.c). */
#define WATCH_QUIET	2u
#define WATCH_PAGES	64u

/*--- what is known -------------------------------------------------------*/

struct known *
maps_known(const struct maps *m, uint32_t slot)
{
	struct known *k = m->known[slot % BUCKETS];

	while (k != NULL && k->slot != slot)
		k = k->next;
	return k;
}

void
maps_set_gone(struct maps *m, struct known *k, bool is_gone)
{
	if (k == NULL || k->is_gone == is_gone)
		return;
	k->is_gone = is_gone;
	if (is_gone)
		m->nr_left++;
	else
		m->nr_left--;
}

/* Whoever is given a slot has it: it is not GONE, whatever was believed. */
static int
know(struct maps *m, uint32_t slot, size_t len, struct known **out,
    struct ds_err *err)
{
	struct known *k = maps_known(m, slot);

	if (k != NULL && k->len != len)
		return err_fail(err, -EBADMSG,
		    "slot %u: it had %zu bytes, and has %zu now", slot, k->len,
		    len);
	if (k == NULL) {
		k = calloc(1, sizeof *k);
		if (k == NULL)
			return err_errno(err, "slot %u", slot);
		k->slot = slot;
		k->len = len;
		k->next = m->known[slot % BUCKETS];
		m->known[slot % BUCKETS] = k;
	}
	maps_set_gone(m, k, false);
	*out = k;
	return 0;
}

static void
unlink_map(struct maps *m, struct map *map)
{
	struct known *k = maps_known(m, map->slot);
	struct map **mp;

	must(k != NULL);
	for (mp = &k->maps; *mp != map; mp = &(*mp)->next)
		must(*mp != NULL);
	*mp = map->next;
}

void
maps_unmap(struct maps *m, struct map *map)
{
	unlink_map(m, map);
	munmap(map->base, map->len);
	free(map);
}

/*--- all of them ---------------------------------------------------------*/

int
maps_new(struct maps **out, const struct floor *fl, struct ds_err *err)
{
	struct maps *m = calloc(1, sizeof *m);

	if (m == NULL)
		return err_errno(err, "maps of slots");
	m->magic = MAPS_MAGIC;
	m->fl = fl;
	/* relaxed: what is GONE already will never be given to us */
	m->nr_gone = atomic_load_explicit(&fl->nr_gone, memory_order_relaxed);
	*out = m;
	return 0;
}

void
maps_forget(struct known *k, bool is_mapped)
{
	while (k->maps != NULL) {
		struct map *map = k->maps;

		k->maps = map->next;
		if (is_mapped)
			munmap(map->base, map->len);
		free(map);
	}
	if (is_mapped && k->own != NULL)
		munmap(k->own, k->len);
	free(k);
}

static void
forget_all(struct maps **mp, bool is_mapped)
{
	struct maps *m = *mp;

	*mp = NULL;
	if (m == NULL)
		return;
	must_be(m, MAPS_MAGIC);
	for (unsigned i = 0; i < BUCKETS; i++)
		while (m->known[i] != NULL) {
			struct known *k = m->known[i];

			m->known[i] = k->next;
			maps_forget(k, is_mapped);
		}
	maps_forget_copies(m, is_mapped);
	watch_end(&m->watch);
	m->magic = 0;
	free(m);
}

void
maps_free(struct maps **mp)
{
	forget_all(mp, true);
}

void
maps_abandon(struct maps **mp)
{
	forget_all(mp, false);
}

uint64_t
maps_bytes(const struct maps *m)
{
	uint64_t bytes = 0;

	must_be(m, MAPS_MAGIC);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct known *k = m->known[i]; k != NULL;
		    k = k->next)
			if (k->own != NULL || k->maps != NULL)
				bytes += k->len;
	return bytes;
}

/*--- own slots -----------------------------------------------------------*/

/* In whole pages; 0: it cannot be. */
static size_t
slot_len(uint32_t slot, size_t room, struct ds_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (room == 0 || room > SIZE_MAX / 2) {
		(void)err_fail(err, -EBADMSG, "slot %u: impossible size %zu",
		    slot, room);
		return 0;
	}
	return (room + page - 1) / page * page;
}

/* It is not sealed against writers yet, but its size must hold. */
static int
check_own(uint32_t slot, int fd, size_t room, struct ds_err *err)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &st) != 0 ||
	    st.st_size < 0 || (uint64_t)st.st_size < room)
		return err_fail(err, -EBADMSG,
		    "slot %u: the memory received is not that of a slot", slot);
	return 0;
}

int
maps_add_own(struct maps *m, uint32_t slot, int fd, size_t room, void **base,
    struct ds_err *err)
{
	size_t len = slot_len(slot, room, err);
	struct known *k;
	int rc;

	must_be(m, MAPS_MAGIC);
	if (len == 0)
		return -EBADMSG;
	rc = check_own(slot, fd, room, err);
	if (rc < 0)
		return rc;
	rc = know(m, slot, len, &k, err);
	if (rc < 0)
		return rc;
	if (k->own != NULL)
		return err_fail(err, -EBADMSG, "slot %u: given twice", slot);
	rc = memfd_map_writer(fd, len, &k->own, err);
	if (rc < 0)
		return rc;
	*base = k->own;
	return 0;
}

void *
maps_own(const struct maps *m, uint32_t slot, uint64_t room)
{
	const struct known *k;

	must_be(m, MAPS_MAGIC);
	k = maps_known(m, slot);
	return k == NULL || k->len < room ? NULL : k->own;
}

void
maps_fill(struct maps *m, uint32_t slot, bool begins)
{
	struct known *k;

	must_be(m, MAPS_MAGIC);
	k = maps_known(m, slot);
	if (k == NULL)
		return;
	must(begins || k->nr_fills > 0);
	k->nr_fills += begins ? 1 : -1u;
}

/*--- private maps --------------------------------------------------------*/

struct map *
maps_find(struct maps *m, uint32_t slot)
{
	struct known *k;
	struct map *map;

	must_be(m, MAPS_MAGIC);
	k = maps_known(m, slot);
	if (k == NULL || k->is_gone)
		return NULL;
	for (map = k->maps; map != NULL; map = map->next)
		if (!map->is_held && !map->is_private)
			break;
	return map;
}

/* Nothing is brought in before it is looked at: measured no faster, and not all
 * jobs look at all.  No memory is set aside for what the job may write: few
 * jobs write. */
static int
map_private(int fd, size_t len, void **base, struct ds_err *err)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	int rc;

	if (p == MAP_FAILED)
		return err_errno(err, "a slot: cannot map %zu bytes", len);
	if (madvise(p, len, MADV_DONTFORK) != 0 ||
	    madvise(p, len, MADV_DONTDUMP) != 0) {
		rc = err_errno(err, "a slot: cannot advise %zu bytes", len);
		munmap(p, len);
		return rc;
	}
	*base = p;
	return 0;
}

int
maps_add(struct maps *m, uint32_t slot, int fd, size_t room, struct map **out,
    struct ds_err *err)
{
	size_t len = slot_len(slot, room, err);
	struct known *k;
	struct map *map;
	uint64_t size;
	int rc;

	must_be(m, MAPS_MAGIC);
	if (len == 0)
		return -EBADMSG;
	rc = memfd_check(fd, &size, err);
	if (rc < 0)
		return rc;
	if (size < room)
		return err_fail(err, -EBADMSG,
		    "slot %u: it has less than its %zu bytes", slot, room);
	rc = know(m, slot, len, &k, err);
	if (rc < 0)
		return rc;
	map = calloc(1, sizeof *map);
	if (map == NULL)
		return err_errno(err, "slot %u", slot);
	rc = map_private(fd, len, &map->base, err);
	if (rc < 0) {
		free(map);
		return rc;
	}
	map->slot = slot;
	map->len = len;
	map->next = k->maps;
	k->maps = map;
	*out = map;
	return 0;
}

void
maps_hold(struct map *map, size_t used)
{
	must(!map->is_held && !map->is_private && used <= map->len);
	map->is_held = true;
	map->used = used;
}

/* Of what was taken, in whole pages. */
static size_t
used_len(const struct map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (map->used + page - 1) / page * page;
}

void
maps_put(struct maps *m, struct map *map)
{
	must_be(m, MAPS_MAGIC);
	must(map->is_held && !map->is_copy);
	if (map->is_private || maps_known(m, map->slot)->is_gone) {
		maps_unmap(m, map);
		return;
	}
	map->is_held = false;
	map->used = 0;
}

/* What the job wrote is given back. */
static int
drop_written(struct maps *m, struct map *map, struct written *w)
{
	size_t len = used_len(map);
	int rc;

	if (map->is_watched) {
		if (watch_drop(map->base, len, w) == 0)
			return 0;
		watch_remove(&m->watch, map->base, map->len);
		map->nr_quiet = 0;
	}
	map->is_watched = map->nr_quiet == WATCH_QUIET &&
	    watch_add(&m->watch, map->base, map->len) == 0;
	rc = written_drop(map->base, len, w);
	map->nr_quiet = w->own == 0 && w->file >= WATCH_PAGES ?
	    map->nr_quiet + 1 : 0;
	return rc;
}

bool
maps_release(struct maps *m, struct map *map)
{
	size_t pages = used_len(map) / (size_t)sysconf(_SC_PAGESIZE);
	struct written w;

	must_be(m, MAPS_MAGIC);
	must(map->is_held);
	if (map->is_copy) {
		maps_put_copy(m, map);
		return false;
	}
	maps_note_map(m);
	if (map->is_private) {
		maps_put(m, map);
		return false;
	}
	if (drop_written(m, map, &w) < 0)
		maps_unmap(m, map);
	else
		maps_put(m, map);
	return w.own > 0 && w.own * MUCH >= pages;
}

int
maps_make_private(struct maps *m, struct map *map, struct ds_err *err)
{
	int rc = 0;

	must_be(m, MAPS_MAGIC);
	must(map->is_held);
	if (map->is_private)
		return 0;
	if (map->used > 0)
		rc = written_own(map->base, used_len(map));
	if (rc == 0 && madvise(map->base, map->len, MADV_DOFORK) != 0)
		rc = -errno;
	if (rc < 0)
		return err_fail(err, rc,
		    "cannot make %zu bytes of a batch private", map->used);
	map->is_private = true;
	return 0;
}

void
maps_forking(struct maps *m)
{
	must_be(m, MAPS_MAGIC);
	maps_drop_spare(m);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct known *k = m->known[i]; k != NULL; k = k->next)
			for (struct map *map = k->maps; map != NULL;
			    map = map->next)
				/* What fails is not there in the child: better
				 * than what comes into the slot next. */
				if (map->is_held)
					(void)maps_make_private(m, map, NULL);
}
