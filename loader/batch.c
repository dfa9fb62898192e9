/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c: the memory of a batch, and how far each of its samples is.
 * Runs in clients, in any of their threads.
 */

#include <config.h>

#include "loader/batch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/must.h"

/*--- memory --------------------------------------------------------------*/

#define HUGE_PAGE	((size_t)2 << 20)
#define LARGE		(2 * HUGE_PAGE)

/* Large memory begins at a huge page, where the system gives those on demand,
 * because every sample is written from end to end; and it goes back to the
 * system when it is freed. */
static void *
map_large(size_t bytes)
{
	size_t before, whole = bytes + HUGE_PAGE;
	char *p;

	if (whole < bytes)
		return NULL;
	p = mmap(NULL, whole, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)p % HUGE_PAGE;
	if (before > 0)
		(void)munmap(p, before);
	(void)munmap(p + before + bytes, HUGE_PAGE - before);
	(void)madvise(p + before, bytes, MADV_HUGEPAGE);	/* a wish */
	return p + before;
}

/* Whole pages, for devices that copy from them. */
static void *
find_memory(size_t *bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	if (*bytes >= LARGE) {
		*bytes = (*bytes + page - 1) / page * page;
		return map_large(*bytes);
	}
	return posix_memalign(&p, page, *bytes) == 0 ? p : NULL;
}

static void
free_memory(void *p, size_t bytes)
{
	if (p == NULL || bytes < LARGE)
		free(p);
	else
		(void)munmap(p, bytes);
}

/*--- batches -------------------------------------------------------------*/

struct batch *
batch_new_bare(uint32_t room, size_t sample_bytes)
{
	struct batch *b = calloc(1, sizeof *b);

	must(room > 0 && sample_bytes > 0);
	if (b == NULL)
		return NULL;
	b->magic = BATCH_MAGIC;
	b->room = room;
	b->given.sample_bytes = sample_bytes;
	b->cells = calloc(room, sizeof *b->cells);
	b->labels = calloc(room, sizeof *b->labels);
	b->items = calloc(room, sizeof *b->items);
	b->positions = calloc(room, sizeof *b->positions);
	b->states = calloc(room, sizeof *b->states);
	if (b->cells == NULL || b->labels == NULL || b->items == NULL ||
	    b->positions == NULL || b->states == NULL) {
		batch_free(b);
		return NULL;
	}
	return b;
}

struct batch *
batch_new(uint32_t room, size_t sample_bytes)
{
	struct batch *b = batch_new_bare(room, sample_bytes);

	if (b == NULL)
		return NULL;
	if (!__builtin_mul_overflow(room, sample_bytes, &b->bytes))
		b->memory = find_memory(&b->bytes);
	b->given.samples = b->memory;
	if (b->memory == NULL) {
		batch_free(b);
		return NULL;
	}
	return b;
}

void
batch_free(struct batch *b)
{
	must_be(b, BATCH_MAGIC);
	batch_clear(b);
	free_memory(b->memory, b->bytes);
	free(b->states);
	free(b->positions);
	free(b->items);
	free(b->labels);
	free(b->cells);
	b->magic = 0;
	free(b);
}

void
batch_clear(struct batch *b)
{
	for (uint32_t i = 0; i < b->nr; i++)
		free(b->cells[i].why);
	if (b->nr > 0)
		memset(b->cells, 0, b->nr * sizeof *b->cells);
	b->nr = b->nr_left = b->nr_ready = b->nr_wanted = b->first = 0;
	b->made_ns = 0;
	b->next = NULL;
}

struct batch *
batch_of(struct ds_batch *given)
{
	struct batch *b = (struct batch *)(void *)((char *)given -
	    offsetof(struct batch, given));

	must_be(b, BATCH_MAGIC);
	return b;
}

/*--- for the job ---------------------------------------------------------*/

static void
move_up(struct batch *b, uint32_t to, uint32_t from)
{
	if (to == from)
		return;
	memcpy(batch_sample(b, to), batch_sample(b, from),
	    b->given.sample_bytes);
	b->labels[to] = b->labels[from];
	b->items[to] = b->items[from];
	b->positions[to] = b->positions[from];
}

void
batch_finish(struct batch *b, bool substitutes)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < b->nr; i++) {
		int rc = b->cells[i].rc;

		must(b->cells[i].state == CELL_DONE);
		if (rc < 0 && !substitutes)
			continue;
		move_up(b, count, i);
		b->states[count++] = rc < 0 ? DS_SAMPLE_SUBSTITUTE :
		    (uint8_t)rc;
	}
	batch_give(b, count);
}

void
batch_give(struct batch *b, uint32_t count)
{
	b->given.count = count;
	b->given.skipped = b->nr - count;
	b->given.labels = b->labels;
	b->given.items = b->items;
	b->given.positions = b->positions;
	b->given.states = b->states;
}
