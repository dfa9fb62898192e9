/* SPDX-License-Identifier: Apache-2.0
 *
 * saved.h: what the cache spared a job.  Runs in the command only.
 */

#ifndef LOADER_SAVED_H
#define LOADER_SAVED_H

#include <stddef.h>
#include <stdint.h>

#include "cache/survey.h"

struct saved {
	uint64_t	opens;		/* of files that may be cached */
	uint64_t	hits;		/* of them from the cache */
	uint64_t	left;		/* opens of others, left to the kernel */
	uint64_t	storage_bytes;	/* read */
	uint64_t	plain_bytes;	/* that would have been */
};

#define SAVED_TEXT	256u

void saved_sum(struct saved *out, const struct survey *s, uint64_t job);
	/* Of all processes of a job, those that live and those that ended. */

const char *saved_text(char out[SAVED_TEXT], const struct saved *s);
	/* Half a sentence for people. */

#endif
