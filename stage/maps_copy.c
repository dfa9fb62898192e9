/* SPDX-License-Identifier: Apache-2.0
 *
 * maps_copy.c: memory for copies of units, for jobs that write to them (maps.h,
 * rule 5).  Runs in clients, with the caller's lock held.
 *
 * New memory costs as much as what is to be saved: so what was released is used
 * again.
 */

#include <config.h>

#include "stage/maps.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/must.h"
#include "stage/maps_state.h"

#define SPARE_MAX	2u	/* not held */
#define SPARE_UNITS	64u	/* so many without a copy: nobody writes */

static void
unmap_copy(struct map **at)
{
	struct map *copy = *at;

	*at = copy->next;
	munmap(copy->base, copy->len);
	free(copy);
}

static struct map *
find_spare(struct maps *m, size_t len)
{
	struct map *copy = m->copies;

	while (copy != NULL && (copy->is_held || copy->len < len))
		copy = copy->next;
	if (copy != NULL)
		m->nr_spare--;
	return copy;
}

static struct map *
new_copy(struct maps *m, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct map *copy = calloc(1, sizeof *copy);

	if (copy == NULL)
		return NULL;
	copy->len = (len + page - 1) / page * page;
	copy->base = mmap(NULL, copy->len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy->base == MAP_FAILED) {
		free(copy);
		return NULL;
	}
	copy->is_copy = copy->is_private = true;
	copy->next = m->copies;
	m->copies = copy;
	return copy;
}

struct map *
maps_copy(struct maps *m, size_t len)
{
	struct map *copy;

	must_be(m, MAPS_MAGIC);
	if (len == 0)
		return NULL;
	copy = find_spare(m, len);
	if (copy == NULL) {
		/* They are too small. */
		maps_drop_spare(m);
		copy = new_copy(m, len);
	}
	if (copy == NULL)
		return NULL;
	m->nr_since = 0;
	copy->is_held = true;
	copy->used = len;
	return copy;
}

void
maps_put_copy(struct maps *m, struct map *copy)
{
	struct map **at = &m->copies;

	copy->is_held = false;
	if (m->nr_spare < SPARE_MAX) {
		m->nr_spare++;
		return;
	}
	while (*at != copy)
		at = &(*at)->next;
	unmap_copy(at);
}

void
maps_note_map(struct maps *m)
{
	if (m->nr_spare > 0 && ++m->nr_since >= SPARE_UNITS)
		maps_drop_spare(m);
}

void
maps_drop_spare(struct maps *m)
{
	struct map **at = &m->copies;

	while (*at != NULL)
		if ((*at)->is_held)
			at = &(*at)->next;
		else
			unmap_copy(at);
	m->nr_spare = 0;
}

void
maps_forget_copies(struct maps *m, bool is_mapped)
{
	while (m->copies != NULL) {
		struct map *copy = m->copies;

		m->copies = copy->next;
		if (is_mapped)
			munmap(copy->base, copy->len);
		free(copy);
	}
}
