/* SPDX-License-Identifier: Apache-2.0
 *
 * maps_state.h: what is known of slots, for the files that make up maps.h.
 * Runs in clients, with the caller's lock held.
 *
 * What is known of a slot stays until the hub has been told that it is
 * unmapped, also while there is no map of it: the hub waits to be told.
 */

#ifndef STAGE_MAPS_STATE_H
#define STAGE_MAPS_STATE_H

#include "stage/maps.h"
#include "stage/written.h"

#define MAPS_MAGIC	0x4d415053u	/* "MAPS" */
#define BUCKETS		256u		/* slots are numbered one by one */

struct known {			/* a slot */
	struct known	*next;
	uint32_t	slot;
	bool		is_gone;
	size_t		len;
	void		*own;		/* mapped for writing, or NULL */
	unsigned	nr_fills;	/* of it, that go on */
	struct map	*maps;
};

struct maps {
	unsigned	magic;
	const struct floor *fl;
	uint64_t	nr_gone;	/* of the floor's, seen */
	unsigned	nr_left;	/* slots that are GONE and known */
	struct known	*known[BUCKETS];
	struct map	*copies;	/* held, or to be used again */
	unsigned	nr_spare;	/* of them: not held */
	unsigned	nr_since;	/* units since the last was a copy */
	struct watch	watch;
};

/* maps.c */
struct known *maps_known(const struct maps *m, uint32_t slot);
void maps_set_gone(struct maps *m, struct known *k, bool is_gone);
	/* k may be NULL. */
void maps_unmap(struct maps *m, struct map *map);
	/* It is no copy. */
void maps_forget(struct known *k, bool is_mapped);

/* maps_copy.c */
void maps_put_copy(struct maps *m, struct map *copy);
	/* The job has released it. */
void maps_note_map(struct maps *m);
	/* It has released one that is no copy. */
void maps_drop_spare(struct maps *m);
	/* Unmaps all that is not held. */
void maps_forget_copies(struct maps *m, bool is_mapped);


#endif
