/* SPDX-License-Identifier: Apache-2.0
 *
 * bad.h: the first bad samples that a loader met, for people.
 * Runs in clients; one thread at a time adds, any read.
 *
 *  1. They are in the order of delivery, and never change.
 */

#ifndef LOADER_BAD_H
#define LOADER_BAD_H

#include <stdatomic.h>

#include "destall.h"

#define BAD_MAX	100u

struct bad {
	struct ds_bad	list[BAD_MAX];
	char		*why[BAD_MAX];	/* theirs */
	_Atomic unsigned nr;
};

void bad_add(struct bad *b, const struct ds_bad *what, char *why);
	/* why is freed in the end, or at once where there are enough; NULL
	 * where there was no memory for it. */
int bad_get(const struct bad *b, uint64_t i, struct ds_bad *what);
	/* -ENOENT */
void bad_fini(struct bad *b);

#endif
