/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_options.h: how a stream is shared, set by names and texts.
 * Runs in clients.
 */

#ifndef STAGE_STAGE_OPTIONS_H
#define STAGE_STAGE_OPTIONS_H

#include <stdint.h>

#include "base/err.h"
#include "stage/lag.h"
#include "stage/messages.h"

struct stage_seed {
	enum stage_seeded seeded;
	uint64_t	seed;		/* 0 where the hub draws it */
};

struct stage_window {		/* 0: not said */
	uint64_t	units;
	uint64_t	bytes;
};

struct stage_options {
	char		stream[STAGE_KEY_MAX + 1];
	char		group[STAGE_GROUP_MAX + 1];
	struct stage_seed seed;
	uint64_t	samples;	/* in an epoch; 0: not set */
	uint64_t	unit;		/* samples */
	unsigned	order;		/* enum stage_order */
	uint64_t	bytes;		/* of a unit; 0: told by each lease */
	uint64_t	threads;	/* that make one unit */
	uint64_t	makers;		/* threads of the job that make units */
	uint64_t	ahead;		/* units */
	struct stage_window window;
	struct lag	lag;
};

int stage_options_init(struct stage_options *o, struct ds_err *err);
	/* The defaults, and what the environment says. */

int stage_options_set(struct stage_options *o, const char *name,
    const char *value, struct ds_err *err);

int stage_options_check(const struct stage_options *o, struct ds_err *err);
	/* Is everything there that a pass needs? */

#endif
