/* SPDX-License-Identifier: Apache-2.0
 *
 * claim.c: looking at an item, asking for it, waiting for it.  Runs in
 * clients, in any of their threads.
 */

#include <config.h>

#include "cache/claim.h"

#include "base/clock.h"

#define ASK_NS		(NS_PER_S / 4)
#define LOOKS_MAX	8u	/* "look again" that led nowhere */

enum look { ASK = -1 };		/* or an enum claim */

static bool
failed_since(const struct index_item *it, uint64_t since_ns)
{
	return atomic_load_explicit(&it->failed_ns, memory_order_relaxed) >=
	    since_ns;
}

static int
look(const struct index *x, uint64_t i, uint64_t since_ns, uint64_t *word)
{
	/* acquire: pairs with the hub's release (index.h, rule 1) */
	*word = atomic_load_explicit(&x->items[i].word, memory_order_acquire);
	switch (item_state(*word)) {
	case ITEM_READY:
		return CLAIM_READY;
	case ITEM_FAILED:
		return failed_since(&x->items[i], since_ns) ? CLAIM_FAILED :
		    ASK;
	case ITEM_LEASED:
		return ASK;
	case ITEM_EMPTY:
		/* relaxed: at worst the hub says so */
		return atomic_load_explicit(&x->closed, memory_order_relaxed) ?
		    CLAIM_ALONE : ASK;
	default:
		return CLAIM_ALONE;
	}
}

static uint32_t
load_wake(const struct index *x)
{
	/* acquire: pairs with the release of index_wake() */
	return atomic_load_explicit(&x->wake, memory_order_acquire);
}

/* Until the item is no longer leased, or it is time to ask again. */
static void
wait_for(const struct index *x, uint64_t i, uint32_t seen, uint64_t until_ns)
{
	while (index_wait(x, seen, until_ns) == 0) {
		seen = load_wake(x);
		if (item_state(atomic_load_explicit(&x->items[i].word,
		    memory_order_acquire)) != ITEM_LEASED)
			return;
	}
}

static uint64_t
earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

enum claim
claim_item(struct ds_data *d, uint64_t i, uint64_t since_ns, uint64_t *word,
    struct ask_lease *lease)
{
	const struct index *x = d->index.index;
	uint64_t deadline_ns = 0, now_ns;
	unsigned looks = 0;
	uint32_t seen;
	int found;

	for (;;) {
		seen = load_wake(x);	/* before the word: index.h, rule 4 */
		found = look(x, i, since_ns, word);
		if (found != ASK)
			return (enum claim)found;
		now_ns = clock_now_ns();
		if (deadline_ns == 0)
			deadline_ns = now_ns + d->patience_ns;
		else if (now_ns >= deadline_ns)
			return CLAIM_ALONE;
		switch (ask_lease(d, i, since_ns, lease)) {
		case ASK_LEASED:
			return CLAIM_LEASED;
		case ASK_BUSY:
			wait_for(x, i, seen, earlier(deadline_ns,
			    now_ns + ASK_NS));
			break;
		case ASK_LOOK:
			if (++looks < LOOKS_MAX)
				break;
			return CLAIM_ALONE;
		case ASK_ALONE:
			return CLAIM_ALONE;
		}
	}
}
