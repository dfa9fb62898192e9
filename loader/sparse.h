/* SPDX-License-Identifier: Apache-2.0
 *
 * sparse.h: a long row of words of which few may be used, all 0 at first; and
 * a set of words.  Runs in the command only.
 */

#ifndef LOADER_SPARSE_H
#define LOADER_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPARSE_MAX	(UINT64_C(1) << 32)	/* words */

struct sparse {			/* all 0 is an empty one */
	uint64_t	**chunks;
	size_t		nr;
};

uint64_t *sparse_at(struct sparse *s, uint64_t i);
	/* i is below SPARSE_MAX; NULL: no memory. */
uint64_t sparse_get(const struct sparse *s, uint64_t i);
void sparse_clear(struct sparse *s);
	/* All 0 again; memory is kept. */
void sparse_fini(struct sparse *s);

struct word_set {		/* all 0 is an empty one */
	uint64_t	*words;
	size_t		room;	/* a power of two, or 0 */
	size_t		nr;
};

int word_set_add(struct word_set *s, uint64_t word);
	/* 1: added; 0: it is there already; -ENOMEM.  0 and 1 are one word. */
void word_set_clear(struct word_set *s);
void word_set_fini(struct word_set *s);

#endif
