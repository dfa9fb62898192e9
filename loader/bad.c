/* SPDX-License-Identifier: Apache-2.0
 *
 * bad.c: the first bad samples that a loader met.  Runs in clients.
 */

#include <config.h>

#include "loader/bad.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
bad_add(struct bad *b, const struct ds_bad *what, char *why)
{
	unsigned nr = atomic_load_explicit(&b->nr, memory_order_relaxed);

	if (nr == BAD_MAX) {
		free(why);
		return;
	}
	b->list[nr] = *what;
	b->list[nr].why = why != NULL ? why : strerrordesc_np(-what->code);
	b->why[nr] = why;
	/* release: pairs with the acquire of bad_get(), for the entry */
	atomic_store_explicit(&b->nr, nr + 1, memory_order_release);
}

int
bad_get(const struct bad *b, uint64_t i, struct ds_bad *what)
{
	/* acquire: pairs with the release of bad_add() */
	if (i >= atomic_load_explicit(&b->nr, memory_order_acquire))
		return -ENOENT;
	*what = b->list[i];
	return 0;
}

void
bad_fini(struct bad *b)
{
	for (unsigned i = 0; i < BAD_MAX; i++)
		free(b->why[i]);
}
