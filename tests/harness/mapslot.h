/* SPDX-License-Identifier: Apache-2.0
 *
 * mapslot.h: a client's maps with a slot in them, as the hub would have given
 * it, for unit tests of stage/maps*.c.
 */

#ifndef HARNESS_MAPSLOT_H
#define HARNESS_MAPSLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stage/maps.h"

#define PAGES	100u
#define SLOT	7u

extern struct maps *maps;
extern struct floor fl;		/* what it is told of slots that are gone */
extern size_t page;

struct mapslot {		/* this process's own, and sealed: base/memfd.h */
	uint32_t number;
	int	fd;
	size_t	len;
	char	*bytes;
};

void mapslot_start(struct mapslot *s, unsigned pages);
	/* New maps, with a slot SLOT that is full of 'a'. */
void mapslot_end(struct mapslot *s);	/* of it, and of the maps */

void mapslot_new(struct mapslot *s, uint32_t number, unsigned pages);
	/* One more. */
struct map *mapslot_add(const struct mapslot *s);	/* a map of it */
struct map *mapslot_hold(const struct mapslot *s);
	/* All of it, in a map that is free or a new one. */

size_t mapslot_others(const char *bytes, size_t len, char want);
	/* How many pages hold something else. */
bool mapslot_is_mapped(void *base);

#endif
