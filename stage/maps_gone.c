/* SPDX-License-Identifier: Apache-2.0
 *
 * maps_gone.c: slots that are to be unmapped.  Runs in clients, with the
 * caller's lock held.
 */

#include <config.h>

#include "stage/maps.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/must.h"
#include "stage/maps_state.h"

/* It looked so late that numbers may have been lost.  Maps that are not its own
 * can be made again. */
static void
note_all(struct maps *m)
{
	/* relaxed: no slot comes to life again */
	uint64_t oldest = atomic_load_explicit(&m->fl->oldest,
	    memory_order_relaxed);

	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct known *k = m->known[i]; k != NULL; k = k->next)
			if (k->own == NULL || k->slot < oldest)
				maps_set_gone(m, k, true);
}

/* Half of the floor's ring is for what the hub writes meanwhile. */
static void
note_gone(struct maps *m)
{
	/* acquire: pairs with the hub's release, the numbers are there */
	uint64_t now = atomic_load_explicit(&m->fl->nr_gone,
	    memory_order_acquire), from = m->nr_gone, again;

	if (now == from)
		return;
	if (now - from > FLOOR_SLOTS)
		from = now - FLOOR_SLOTS;
	for (uint64_t i = from; i != now; i++) {
		/* acquire: before the second look at nr_gone */
		uint32_t slot = atomic_load_explicit(
		    &m->fl->gone[i % FLOOR_SLOTS], memory_order_acquire);

		maps_set_gone(m, maps_known(m, slot), true);
	}
	/* relaxed: the loads above come before it, by their own order */
	again = atomic_load_explicit(&m->fl->nr_gone, memory_order_relaxed);
	if (again - m->nr_gone > FLOOR_SLOTS / 2)
		note_all(m);
	m->nr_gone = now;
}

/* Unmaps what nobody holds or fills; true if nothing is left. */
static bool
unmap_gone(struct maps *m, struct known *k)
{
	struct map *map, *next;

	if (k->own != NULL && k->nr_fills == 0) {
		munmap(k->own, k->len);
		k->own = NULL;
	}
	for (map = k->maps; map != NULL; map = next) {
		next = map->next;
		if (!map->is_held)
			maps_unmap(m, map);
	}
	return k->maps == NULL && k->own == NULL;
}

void
maps_sweep(struct maps *m, maps_gone_f *unmapped, void *arg)
{
	must_be(m, MAPS_MAGIC);
	note_gone(m);
	if (m->nr_left == 0)
		return;
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct known **kp = &m->known[i], *k; (k = *kp) != NULL;) {
			if (!k->is_gone || !unmap_gone(m, k)) {
				kp = &k->next;
				continue;
			}
			*kp = k->next;
			m->nr_left--;
			unmapped(arg, k->slot);
			free(k);
		}
}

/* As if all were GONE: what is held is unmapped when it is released. */
void
maps_give_idle(struct maps *m, maps_gone_f *unmapped, void *arg)
{
	must_be(m, MAPS_MAGIC);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct known *k = m->known[i]; k != NULL; k = k->next)
			maps_set_gone(m, k, true);
	maps_drop_spare(m);
	maps_sweep(m, unmapped, arg);
}

void
maps_give_all(struct maps *m, maps_gone_f *unmapped, void *arg)
{
	must_be(m, MAPS_MAGIC);
	m->nr_left = 0;
	for (unsigned i = 0; i < BUCKETS; i++)
		while (m->known[i] != NULL) {
			struct known *k = m->known[i];
			uint32_t slot = k->slot;

			m->known[i] = k->next;
			maps_forget(k, true);
			unmapped(arg, slot);
		}
}
