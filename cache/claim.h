/* SPDX-License-Identifier: Apache-2.0
 *
 * claim.h: who fetches an item that is not in the cache: we, by a lease, or
 * somebody else, whom we wait for.  Runs in clients, in any of their threads.
 *
 *  1. It waits for others patience_ns in all, and never for a hub that is
 *     gone: who waits asks again every quarter of a second.
 */

#ifndef CACHE_CLAIM_H
#define CACHE_CLAIM_H

#include <stdint.h>

#include "cache/ask.h"
#include "cache/data.h"

enum claim {
	CLAIM_READY,	/* *word is what the index says of it */
	CLAIM_LEASED,	/* fetch it: PUBLISH or GIVE_UP must follow */
	CLAIM_FAILED,	/* it could not be read, not longer ago than since_ns */
	CLAIM_ALONE,	/* not admitted, or nobody to ask: read it yourself */
};

enum claim claim_item(struct ds_data *d, uint64_t i, uint64_t since_ns,
    uint64_t *word, struct ask_lease *lease);

#endif
