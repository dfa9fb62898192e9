/* SPDX-License-Identifier: Apache-2.0
 *
 * inquiry.h: questions to the hub that have many answers, one frame each.
 * Runs in the command only.
 *
 * Whoever wants them all asks again with the number of the last, until there
 * are no more: so no turn of the hub is long.  Without memory the command ends.
 */

#ifndef HUB_INQUIRY_H
#define HUB_INQUIRY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wire.h"
#include "hub/link.h"

struct inquiry {
	uint16_t	question, answer;	/* types of message */
	struct wire_frame f;
	struct wire_reader r;		/* of the last answer */
};

int inquiry_ask(struct inquiry *q, struct link *l, const uint32_t *words,
    unsigned nr, struct ds_err *err);
	/* 1: an answer, to be read from q->r; 0: there are no more. */
int inquiry_check(const struct inquiry *q, uint32_t number, uint32_t after,
    struct ds_err *err);
	/* All of the answer was read, and its number is a later one. */

char *inquiry_text(struct inquiry *q);
	/* A copy of the next text of the answer, to be freed. */
void *inquiry_grow(void *array, size_t nr, size_t size);
	/* The array with room for one more than nr, which is zeroed. */

#endif
