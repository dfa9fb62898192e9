/* SPDX-License-Identifier: Apache-2.0
 *
 * storage.h: the files of a program that tells nothing by itself: brought into
 * memory and out of it, and read alone.  Runs in the command only.
 */

#ifndef ANALYZER_STORAGE_H
#define ANALYZER_STORAGE_H

#include <stddef.h>
#include <stdint.h>

struct storage {
	char		**paths;	/* each once, once it is sorted */
	size_t		nr;
	uint64_t	bytes;		/* that were opened, each as often as it was */
	uint64_t	opens;
};

void storage_add(struct storage *s, const char *path, uint64_t bytes);
void storage_sort(struct storage *s);
	/* Each path is there once, afterwards. */
void storage_fini(struct storage *s);

double storage_resident(const struct storage *s);
	/* Of their pages, those in memory: 0 to 1; negative: not told. */
void storage_evict(const struct storage *s);

struct storage_read {
	double		s;
	double		bytes;
};

void storage_read(const struct storage *s, unsigned readers,
    uint64_t most_ns, struct storage_read *r);
	/* From the first to the last, by so many threads, or until it has taken
	 * so long. */

#endif
