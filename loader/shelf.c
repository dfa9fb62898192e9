/* SPDX-License-Identifier: Apache-2.0
 *
 * shelf.c: where batches are kept that nobody uses.
 * Runs in clients, in any of their threads.
 */

#include <config.h>

#include "loader/shelf.h"

#include "base/must.h"

void
shelf_init(struct shelf *s)
{
	*s = (struct shelf){ .room = 0 };
	must(pthread_mutex_init(&s->lock, NULL) == 0);
}

void
shelf_set(struct shelf *s, uint32_t room, size_t sample_bytes, unsigned most,
    bool is_bare)
{
	must(s->newest == NULL);
	s->room = room;
	s->sample_bytes = sample_bytes;
	s->most = most;
	s->is_bare = is_bare;
}

void
shelf_abandon(struct shelf *s)
{
	struct batch *b = s->newest;

	while (b != NULL) {
		struct batch *older = b->older;

		batch_free(b);
		b = older;
	}
	s->newest = s->top = NULL;
}

void
shelf_fini(struct shelf *s)
{
	shelf_abandon(s);
	must(pthread_mutex_destroy(&s->lock) == 0);
}

/*--- among all -----------------------------------------------------------*/

static void
add(struct shelf *s, struct batch *b)
{
	b->older = s->newest;
	if (b->older != NULL)
		b->older->newer = b;
	s->newest = b;
	s->bytes += b->bytes;
	if (s->bytes > s->bytes_most)
		s->bytes_most = s->bytes;
}

static void
forget(struct shelf *s, struct batch *b)
{
	if (b->older != NULL)
		b->older->newer = b->newer;
	if (b->newer != NULL)
		b->newer->older = b->older;
	else
		s->newest = b->older;
	s->bytes -= b->bytes;
}

/*--- taking and putting --------------------------------------------------*/

struct batch *
shelf_take(struct shelf *s)
{
	struct batch *b;

	must(pthread_mutex_lock(&s->lock) == 0);
	b = s->top;
	if (b != NULL) {
		s->top = b->next;
		s->nr--;
		b->next = NULL;
	}
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (b != NULL)
		return b;
	b = s->is_bare ? batch_new_bare(s->room, s->sample_bytes) :
	    batch_new(s->room, s->sample_bytes);
	if (b == NULL)
		return NULL;
	must(pthread_mutex_lock(&s->lock) == 0);
	add(s, b);
	must(pthread_mutex_unlock(&s->lock) == 0);
	return b;
}

/* Giving back much memory takes long: not under the lock. */
void
shelf_put(struct shelf *s, struct batch *b)
{
	bool stays;

	batch_clear(b);
	must(pthread_mutex_lock(&s->lock) == 0);
	stays = s->nr < s->most;
	if (stays) {
		b->next = s->top;
		s->top = b;
		s->nr++;
	} else {
		forget(s, b);
	}
	must(pthread_mutex_unlock(&s->lock) == 0);
	if (!stays)
		batch_free(b);
}

uint64_t
shelf_bytes_most(struct shelf *s)
{
	uint64_t bytes;

	must(pthread_mutex_lock(&s->lock) == 0);
	bytes = s->bytes_most;
	must(pthread_mutex_unlock(&s->lock) == 0);
	return bytes;
}
