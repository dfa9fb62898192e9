/* SPDX-License-Identifier: Apache-2.0
 *
 * minio.h: who may fetch which item, and what is admitted.  Runs in the hub;
 * pure: no I/O, no clock, no memory of its own, so that a model can drive it
 * through every order of events (tests/model).
 *
 *  1. An item has one lease at a time.
 *  2. What a lease's holder says counts only with the generation of that
 *     lease: whoever is late is refused, and counted.
 *  3. admitted_bytes is the sum over items that are LEASED or READY; no lease
 *     makes it more than cap_bytes.
 *  4. The first item that does not fit closes admission; it is opened again
 *     only when a first user comes to a set that nobody used.
 *  5. READY stays READY while the set lives, unless its bytes are corrupt.
 *  6. Nobody holds a lease of a set that nobody uses: a user's leases end
 *     before it leaves.
 */

#ifndef CACHE_MINIO_H
#define CACHE_MINIO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MINIO_NO_CAP	UINT64_MAX

struct minio_set {
	uint64_t cap_bytes;
	uint64_t admitted_bytes;
	uint64_t ready_items;
	uint64_t ready_bytes;
	uint64_t failed_items;
	uint64_t late;			/* publishes refused: rule 2 */
	uint32_t leases;
	uint32_t users;
	bool	closed;
};

enum minio_answer {
	MINIO_GRANT,		/* leased to the asker now */
	MINIO_BUSY,		/* another has the lease */
	MINIO_LOOK,		/* it is READY or FAILED: look again */
	MINIO_CLOSED,
};

struct minio_item {
	_Atomic uint64_t *word;		/* cache/index.h */
	uint64_t bytes;
};

enum minio_answer minio_ask(struct minio_set *s, struct minio_item it,
    uint32_t client, bool again);
	/* again: an item that FAILED is to be tried once more. */

bool minio_holds(struct minio_item it, uint32_t client, uint32_t generation);
	/* Is this lease still out?  For what was begun for it and took a
	 * while; nobody is counted. */

void minio_no_room(struct minio_set *s, struct minio_item it, bool for_good);
	/* There was no memory for a lease that is still out: it is taken back;
	 * for good closes admission. */

int minio_publish(struct minio_set *s, struct minio_item it, uint32_t client,
    uint32_t generation);
	/* 0: READY.  -ESTALE: rule 2. */
int minio_check(struct minio_set *s, struct minio_item it, uint32_t client,
    uint32_t generation);
	/* Would it be published?  0, or -ESTALE and counted. */
int minio_fail(struct minio_set *s, struct minio_item it, uint32_t client,
    uint32_t generation);
	/* FAILED, admission given back.  0 or -ESTALE. */
int minio_return(struct minio_set *s, struct minio_item it, uint32_t client,
    uint32_t generation);
	/* EMPTY again, admission given back.  0 or -ESTALE. */
void minio_revoke(struct minio_set *s, struct minio_item it);
	/* From a holder who died or is late. */
void minio_corrupt(struct minio_set *s, struct minio_item it);
	/* A READY item is EMPTY again. */

void minio_adopt(struct minio_set *s, struct minio_item it);
	/* An EMPTY item is READY at once: another listing of the same source
	 * had it. */

void minio_join(struct minio_set *s, uint64_t cap_bytes);
	/* A user.  The first decides the cap, and opens admission; what is
	 * there from before stays, and the cap is not less than it. */
void minio_leave(struct minio_set *s);

const char *minio_broken(const struct minio_set *s,
    const struct minio_item items[], uint64_t nr_items);
	/* Which rule does not hold over all items of the set?  NULL: none. */
void minio_check_set(const struct minio_set *s,
    const struct minio_item items[], uint64_t nr_items);
	/* Asserts that none is broken. */

#endif
