/* SPDX-License-Identifier: Apache-2.0
 *
 * mapslot.c: a client's maps with a slot in them.
 */

#include <config.h>

#include "tests/harness/mapslot.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/memfd.h"
#include "tests/harness/unit.h"

struct maps *maps;
struct floor fl;
size_t page;

void
mapslot_start(struct mapslot *s, unsigned pages)
{
	struct ds_err err;

	page = (size_t)sysconf(_SC_PAGESIZE);
	memset(&fl, 0, sizeof fl);
	if (maps_new(&maps, &fl, &err) < 0)
		fail_msg("%s", err.text);
	mapslot_new(s, SLOT, pages);
	memset(s->bytes, 'a', s->len);
}

void
mapslot_end(struct mapslot *s)
{
	io_close(&s->fd);
	maps_free(&maps);
}

void
mapslot_new(struct mapslot *s, uint32_t number, unsigned pages)
{
	struct ds_err err;
	void *base = NULL;

	s->number = number;
	s->len = pages * page;
	s->fd = memfd_new("unit", s->len, &err);
	if (s->fd < 0 ||
	    maps_add_own(maps, number, s->fd, s->len, &base, &err) < 0 ||
	    memfd_seal_new_writers(s->fd, &err) < 0)
		fail_msg("%s", err.text);
	s->bytes = base;
}

struct map *
mapslot_add(const struct mapslot *s)
{
	struct map *map;
	struct ds_err err;

	if (maps_add(maps, s->number, s->fd, s->len, &map, &err) < 0)
		fail_msg("%s", err.text);
	return map;
}

struct map *
mapslot_hold(const struct mapslot *s)
{
	struct map *map = maps_find(maps, s->number);

	if (map == NULL)
		map = mapslot_add(s);
	maps_hold(map, s->len);
	return map;
}

size_t
mapslot_others(const char *bytes, size_t len, char want)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i += page)
		nr += bytes[i] != want || bytes[i + page - 1] != want;
	return nr;
}

bool
mapslot_is_mapped(void *base)
{
	unsigned char in;

	return mincore(base, page, &in) == 0;
}
