/* SPDX-License-Identifier: Apache-2.0
 *
 * look.h: all that the hub tells of the stage, for `destall top`.
 * Runs in the command only.
 *
 *  1. One question is one pass, or one process at one: figures of two of them
 *     may be of slightly different times.
 *  2. Texts are as the hub has them, of any bytes: whoever shows them makes
 *     them fit for it.
 *  3. A stream is (group, key, seed); its passes are in one row.
 *  4. Every member has a row.  The other processes of its job have none; but a
 *     job without a member has one for each of its streams: it is between
 *     epochs.
 */

#ifndef STAGE_LOOK_H
#define STAGE_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "hub/link.h"
#include "stage/line.h"
#include "stage/messages.h"

#define LOOK_ID		13	/* 12 digits and a terminator */

struct look_pass {
	uint32_t	pass;
	char		*group, *key;
	uint64_t	epoch, units;
	uint32_t	unit;		/* samples in one */
	size_t		stream;		/* of look.streams */
	uint64_t	word[STAGE_PASS_WORDS];
};

struct look_place {		/* a process at a pass */
	uint32_t	place, client;
	char		*name;		/* "1234 (python3)" */
	uint64_t	pid, job;
	size_t		pass;		/* of look.passes */
	uint64_t	word[STAGE_MEMBER_WORDS];
};

struct look_stream {
	char		id[LOOK_ID];
	size_t		pass;		/* the one with the most members */
	uint64_t	passes, jobs, window;
	uint64_t	made, delivered, alone, late, revoked, detached, bytes;
};

struct look_job {
	const struct look_place *at;
	const struct look_pass *pass;
	const struct look_stream *stream;
	enum place_state state;		/* MAKER: it is between epochs */
	uint64_t	made;		/* by all its processes */
};

struct look {
	struct look_pass *passes;
	size_t		nr_passes;
	struct look_place *places;
	size_t		nr_places;
	struct look_stream *streams;
	size_t		nr_streams;
	struct look_job	*jobs;
	size_t		nr_jobs;
};

int look_take(struct look *k, struct link *l, struct ds_err *err);
	/* On failure too there must be a look_fini(). */
void look_fini(struct look *k);

void look_view(struct look *k);
	/* Streams and jobs, of passes and places.  look_take() has done so. */

#endif
