/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.h: what a data set's user says to the hub (messages.h).
 * Runs in clients, in any of their threads.
 */

#ifndef CACHE_ASK_H
#define CACHE_ASK_H

#include <stdint.h>

#include "base/err.h"
#include "cache/data.h"

/* Opening. */

enum ask_opened { ASK_OPENED, ASK_LIST };

struct ask_set {
	uint32_t set;
	int	index, view, page;	/* descriptors */
};

int ask_open(struct link *l, const char *uri, uint64_t stamp, uint32_t share,
    int listing, struct ask_set *s, struct ds_err *err);
	/* With a listing, or -1.  ASK_OPENED: s is filled, its descriptors are
	 * the caller's; ASK_LIST; or -errno. */

void ask_close(struct link *l, uint32_t set);

/* Items. */

enum ask_answer {
	ASK_LEASED,
	ASK_BUSY,
	ASK_LOOK,
	ASK_ALONE,		/* closed, or there is nobody to ask */
};

struct ask_lease {
	uint32_t generation;
	int	fd;		/* to write the item to */
};

enum ask_answer ask_lease(struct ds_data *d, uint64_t i, uint64_t since_ns,
    struct ask_lease *lease);

void ask_publish(struct ds_data *d, uint64_t i, const struct ask_lease *lease,
    uint32_t crc32c);
void ask_give_up(struct ds_data *d, uint64_t i, const struct ask_lease *lease,
    uint32_t error);
void ask_report(struct ds_data *d, uint64_t i, uint32_t generation);
	/* All three are told: if the hub does not hear it, it learns from our
	 * death, or its lease runs out. */

#endif
