/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_arrays.h: the demo's data set that costs reading and hardly any
 * preparing.  Runs in the command only.
 *
 *  1. The bytes are random: no storage makes them fewer.
 *  2. They are on the disk when the call returns, so that they can leave the page
 *     cache.
 */

#ifndef TOOL_DEMO_ARRAYS_H
#define TOOL_DEMO_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stop.h"

#define DEMO_ARRAYS_ITEMS	256u
#define DEMO_ARRAYS_BYTES	((size_t)1 << 20)	/* of each */

int demo_arrays_make(const char *dir, uint64_t seed, struct stop *stop,
    struct ds_err *err);
	/* In a new folder.  -EINTR: a signal came. */

#endif
