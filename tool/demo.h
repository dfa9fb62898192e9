/* SPDX-License-Identifier: Apache-2.0
 *
 * demo.h: what `destall demo` found, for those who show it.
 * Runs in the command only.
 */

#ifndef TOOL_DEMO_H
#define TOOL_DEMO_H

#include <stdint.h>

#include "base/err.h"
#include "tool/demo_law.h"
#include "tool/demo_read.h"

#define DEMO_EPOCHS	3u
#define DEMO_RUNS	2u

struct demo_run {
	unsigned		jobs;
	struct demo_epoch	epoch[DEMO_EPOCHS];
	struct demo_held	held;
};

struct demo_found {
	uint64_t	bytes;		/* of all items */
	const char	*share;		/* of the cache, as given */
	double		part;		/* the same, 0 to 1 */
	uint64_t	digest;		/* of an epoch read without destall */
	uint64_t	elapsed_ns;
	struct demo_law	law;
	struct demo_run	run[DEMO_RUNS];
};

uint64_t demo_ideal(const struct demo_found *f, unsigned epoch);
	/* Reads of the best cache of that size in every epoch. */

int demo_check(const struct demo_found *f, struct ds_err *err);
	/* Is everything exactly as the law says?  -EBADMSG names what is
	 * not. */

void demo_print(const struct demo_found *f);
int demo_write_json(const struct demo_found *f, const char *path,
    struct ds_err *err);

#endif
