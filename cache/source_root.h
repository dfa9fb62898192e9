/* SPDX-License-Identifier: Apache-2.0
 *
 * source_root.h: the folder beneath which a source's files are.  Runs in
 * clients, in any of their threads.
 *
 * A job may close all descriptors that it does not know, and open its own
 * under the same numbers.
 *
 *  1. The descriptor is proved to be that folder before each use, and before
 *     it is closed.
 *  2. Where it is gone the folder is opened anew, by its path, for one use at
 *     a time: gets go on, and take no lock.
 */

#ifndef CACHE_SOURCE_ROOT_H
#define CACHE_SOURCE_ROOT_H

#include "base/err.h"
#include "cache/source.h"

int source_root_take(struct source *s, struct ds_err *err);
	/* Once s->root is open. */

int source_root_get(const struct source *s);
	/* A descriptor to use, or -errno.  It may be s->root itself. */
void source_root_put(const struct source *s, int *fd);

void source_root_close(struct source *s);

#endif
