/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c: the order of an epoch.  Runs in clients.
 */

#include <config.h>

#include "loader/order.h"

#include "base/must.h"
#include "base/rng.h"

/* A place in base/rng.h has numbers for more draws than this. */
#define DRAWS_PER_PLACE	(UINT64_C(1) << 20)

/* Fisher and Yates, from the end. */
void
order_make(uint32_t *order, uint64_t nr, uint64_t seed, uint64_t epoch)
{
	struct rng rng;

	must(nr <= ORDER_MAX);
	for (uint64_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (uint64_t left = nr; left > 1; left--) {
		uint64_t j;
		uint32_t last = order[left - 1];

		if (left == nr || left % DRAWS_PER_PLACE == 0)
			rng_init(&rng, RNG_ORDER, seed, epoch,
			    left / DRAWS_PER_PLACE);
		j = rng_below(&rng, left);
		order[left - 1] = order[j];
		order[j] = last;
	}
}
