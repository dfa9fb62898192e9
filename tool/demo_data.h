/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_data.h: the files that the demo reads.  Runs in the command only.
 */

#ifndef TOOL_DEMO_DATA_H
#define TOOL_DEMO_DATA_H

#include <stdint.h>

#include "base/err.h"
#include "base/stop.h"
#include "destall.h"
#include "tool/demo_law.h"

struct demo_data {
	struct ds_data	*data;		/* as it is listed; without a hub */
	int		dir;
	uint64_t	bytes;		/* of all items */
	uint64_t	digest;		/* of an epoch */
};

int demo_data_make(const char *path, uint64_t seed, uint64_t count,
    struct stop *stop, struct ds_err *err);
	/* Images, in a new folder.  -EINTR: a signal came. */

int demo_data_open(struct demo_data *d, const char *path,
    struct demo_law *law, struct stop *stop, struct ds_err *err);
	/* Lists it and reads it once; the law has the sizes then.  On failure
	 * too there must be a demo_data_close(). */
void demo_data_close(struct demo_data *d);

int demo_data_order(const struct demo_data *d, const struct demo_law *law,
    unsigned epoch, const char *path, struct ds_err *err);
	/* Writes the names of all items in the order of an epoch, a line
	 * each. */

int demo_data_evict(const struct demo_data *d, struct ds_err *err);
	/* Puts all items on the disk and out of the page cache; how far that
	 * goes is the file system's to say. */

uint64_t demo_digest(uint32_t item, uint32_t crc);
	/* Of one item.  Adding makes the order of items of no account. */

#endif
