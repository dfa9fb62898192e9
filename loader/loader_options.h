/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_options.h: how a loader works, set by names and texts.
 * Runs in clients.
 */

#ifndef LOADER_LOADER_OPTIONS_H
#define LOADER_LOADER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/args.h"
#include "destall.h"

enum loader_order { ORDER_RANDOM, ORDER_LISTED };
enum on_bad { ON_BAD_FAIL, ON_BAD_SKIP, ON_BAD_SUBSTITUTE };

#define LOADER_PATH	4096u
#define LOADER_JOB	128u

struct loader_options {
	uint64_t	batch;
	uint64_t	epochs;		/* 0: no end */
	uint64_t	seed;
	unsigned	order;		/* enum loader_order */
	bool		drop_last;
	uint64_t	threads;	/* 0: as many as are granted */
	uint64_t	readers;
	uint64_t	prefetch;
	uint64_t	rank, ranks;
	unsigned	on_bad;		/* enum on_bad */
	bool		partial;
	bool		share;
	double		audit;		/* a share of units; below 0: as the
					 * environment says */
	char		job[LOADER_JOB];	/* "": the process's */
	char		labels[LOADER_PATH];
	char		ledger[LOADER_PATH];	/* "": none */
};

extern const struct arg_option loader_options_table[];

const struct ds_option *loader_options_all(void);
	/* As bindings see them, those of prep behind our own. */

void loader_options_init(struct loader_options *o);

int loader_options_set(struct loader_options *o, struct ds_prep *prep,
    const char *name, const char *value, struct ds_err *err);
	/* Of the loader, or else of prep. */

#endif
