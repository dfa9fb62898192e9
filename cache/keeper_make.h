/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_make.h: a data set in the making.  Runs in the hub only.
 */

#ifndef CACHE_KEEPER_MAKE_H
#define CACHE_KEEPER_MAKE_H

#include "cache/keeper.h"
#include "cache/listing.h"

struct make {
	struct helper_job job;
	struct make	*next;
	struct keeper	*keeper;
	struct asker	asker;
	char		*uri;
	uint64_t	stamp;
	uint32_t	share;
	int		fd;		/* of the listing */
	struct dataset	*old;		/* of the same source, pinned */
	uint32_t	id;
	uint64_t	generation;
	struct room	room;
	bool		waiting;	/* for room */

	/* the helper's */
	struct listing	listing;
	struct segment	seg;		/* the index */
	unsigned	step;
	uint64_t	at;		/* in this step */
	uint64_t	total;		/* bytes seen */
	bool		same;		/* as the old one */
	int		rc;
	struct ds_err	err;
};

void make_answer(struct make *m, struct dataset *d);
	/* To who sent the listing; then the next one is begun. */
void make_resume(struct keeper *k);
	/* There may be room now. */
void make_forget(struct keeper *k, uint32_t client);
	/* What a client that is gone sent and nobody has begun with. */
void make_stop(struct keeper *k);

#endif
