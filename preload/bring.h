/* SPDX-License-Identifier: Apache-2.0
 *
 * bring.h: a file that is not cached is brought in, as a program opens it.
 * Runs in any program that the object is preloaded in, in any of its threads.
 *
 *  1. Its bytes are read through the program's own descriptor, without moving
 *     its offset, and count only if the file was the listed one before and
 *     after, and its last change is so long ago that another would show.
 *  2. A file that programs read here and there (container.h), and one that
 *     would take more than a quarter of the cache, stay with the kernel.  Once
 *     admission is closed no file is looked at: storage is not touched before
 *     the program does, and in its way.
 *  3. A file that could not be read is the program's own affair: it has a
 *     descriptor, and will see.
 */

#ifndef PRELOAD_BRING_H
#define PRELOAD_BRING_H

#include <sys/stat.h>

#include "cache/data.h"

enum bring {
	BRING_LEFT,	/* the program reads the file itself; counted */
	BRING_FETCHED,	/* it is cached, by us; counted */
	BRING_WAITED,	/* it is cached, by another; not counted yet */
};

enum bring bring_item(struct ds_data *d, uint64_t i, int fd,
    const struct stat *st);

void bring_missed(struct ds_data *d, const struct stat *st);
	/* Counts a file that the program reads from storage. */

#endif
