/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate.h: a training job with an emulated accelerator, over the public
 * interface of the loader.  Runs in the command only.
 *
 *     emulate_open() -> emulate_set() -> emulate_run() -> emulate_close()
 *
 * The job has a thread of its own, so that the main thread can listen to
 * signals and draw, whatever storage does to the job.
 */

#ifndef LOADER_EMULATE_H
#define LOADER_EMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/args.h"
#include "base/err.h"

enum emulate_touch { TOUCH_NONE, TOUCH_READ, TOUCH_WRITE };

struct emulate_options {
	const char	*data;
	uint64_t	batch, epochs, seed;
	uint64_t	threads;	/* 0: as the loader chooses */
	uint64_t	step_ns;
	unsigned	order, on_bad;	/* into the lists below */
	unsigned	touch;		/* enum emulate_touch */
	bool		keep;
	struct arg_list	set;		/* NAME=VALUE */
	const char	*ledger, *save, *resume;
	bool		json;
	const char	*output;
};

extern const char *const emulate_orders[], *const emulate_touches[],
    *const emulate_on_bad[];

/* What was measured of an epoch, or of a part of one. */
struct emulate_epoch {
	uint64_t	epoch;
	uint64_t	samples;	/* that the job was given */
	uint64_t	skipped;	/* that it was not */
	uint64_t	elapsed_ns;
	uint64_t	wait_ns;	/* of it, in ds_loader_next() */
	uint64_t	cpu_ns;		/* of the whole process, meanwhile */
};

struct emulate_result {
	struct emulate_epoch	*epochs;
	size_t			nr_epochs;
	struct emulate_epoch	all;
	uint64_t		samples;	/* in a whole epoch */
	uint64_t		cpu_ns;
	uint64_t		touch_ns;	/* of it: reading and writing
						 * batches */
	uint64_t		peak_bytes;
	int			signal;		/* that stopped it, or 0 */
	bool			is_sample;	/* it failed for a file that
						 * --on-bad could leave out */
	bool			is_begun;	/* it got a batch */
	bool			is_done;	/* all epochs are over */
	struct ds_err		unsaved;	/* why its position was not
						 * saved at the end, or "" */
};

struct emulate {
	const struct emulate_options *options;
	struct ds_hub		*hub;
	struct ds_data		*data;
	struct ds_loader	*loader;
	struct emulate_result	result;
	void	(*epoch_ended)(const struct emulate *e,
		    const struct emulate_epoch *at);
			/* May be NULL.  In the main thread. */
	void	(*waiting)(void);
			/* A signal came, and the job has not ended since. */
	void	(*sharing)(const char *how);
			/* With whom it shares, and why not any more. */
	char			how[DS_ERR_TEXT];	/* told last */
	bool			is_wait_told;		/* this one */
};

int emulate_open(struct emulate *e, const struct emulate_options *o,
    struct ds_err *note, struct ds_err *err);
	/* note.text: why there is no cache though there should be, or "". */
void emulate_close(struct emulate *e);
	/* Whatever has failed before. */

int emulate_set(struct emulate *e, struct ds_err *err);
	/* The options of the loader, of whom it is known then whether they go
	 * together.  -EINVAL, -ERANGE: they are wrong. */
int emulate_check_set(const struct arg_list *set, struct ds_err *err);
	/* Are these names of options, and not of ours?  -EINVAL. */

#define EMULATE_NAME	64
const char *emulate_split(const char *text, char name[EMULATE_NAME]);
	/* The name of NAME=VALUE; what stands behind it, or NULL. */

int emulate_run(struct emulate *e, struct ds_err *err);
	/* To the end, or until a signal comes.  The position is saved, once a
	 * batch was given.  What was measured is in result in each case. */

bool emulate_all_bad(const struct emulate *e);
	/* Were there samples, and was none of them good? */
double emulate_rate(const struct emulate_epoch *at);
double emulate_stall(const struct emulate_epoch *at);
	/* Samples per second; the share of time that the job has waited. */

struct ds_loader_counts;
uint64_t emulate_alone(const struct ds_loader_counts *c);
	/* Samples that did not come by way of the stage. */

const char *emulate_reason(const char *why, const char *name);
	/* Without the name or the path that it begins with, if it does. */

void emulate_print_epoch(const struct emulate *e,
    const struct emulate_epoch *at);
void emulate_print(const struct emulate *e);
	/* To standard output. */
int emulate_write_json(const struct emulate *e, const char *failed,
    const char *path, struct ds_err *err);
	/* failed: why it ended, or NULL. */

#endif
