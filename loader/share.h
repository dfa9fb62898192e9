/* SPDX-License-Identifier: Apache-2.0
 *
 * share.h: the loader as a client of the stage: batches that several jobs want
 * are made once.  Runs in clients: the job's thread takes units, a thread of
 * its own, the feeder, leases units to make, and makers publish them.
 *
 *     feeder: lease -> pipeline -> maker: publish ==> stage ==> job: take ->
 *     a view of the unit, or a batch gathered from several
 *
 * A job that is alone makes its units in memory of its own (share_own.c).
 *
 * The payload of a unit is its samples one after the other, then one DS_SAMPLE_*
 * for each, then the root of its maker; labels and numbers are every job's own.
 *
 *  1. What the stage does not give the job makes itself, with the same bytes,
 *     from exactly there: nothing here fails a job.
 *  2. Nothing that another job made is given to the job before one such unit
 *     was made here, too, and compared.  By its first proof a job takes over
 *     the root of the other: those of one root have proved to make the same,
 *     and one proof is enough for all of them; of each maker of another root
 *     one unit is compared.  Nor is one given whose hash is not that of the
 *     job's own order.  Before it is proven a job makes nothing for others,
 *     unless there are none, or they make nothing; once a difference was
 *     found, nothing.  (A root guards against accidents.  A program of the same
 *     user that lies about its own is found by DESTALL_AUDIT only.)
 *  3. A unit with a sample that failed is never published.
 *  4. The lock is taken after `turn` of the loader, and held for no call of the
 *     stage that sends or waits.  What is marked as the job's is used in its
 *     thread alone.
 *  5. Stages, passes and units live until their last user has dropped them:
 *     batches outlive passes, and hubs.
 */

#ifndef LOADER_SHARE_H
#define LOADER_SHARE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "destall.h"
#include "loader/batch.h"
#include "loader/plan.h"
#include "loader/shelf.h"

#define SHARE_KEY	96	/* characters of the key of a stream */
#define SHARE_NEVER	UINT64_MAX
#define SHARE_SLICE_MS	25u	/* of a wait; then all is looked at again */
#define SHARE_COMPARED	64u	/* makers; one that is forgotten is compared
				 * again */
#define SHARE_AHEAD	2u	/* units are made ahead beside the batches
				 * prefetched */

struct ds_loader;

struct share_stage {		/* a connection, and the stream there */
	struct ds_hub	*hub;
	struct ds_stage	*stage;
	unsigned	users;
};

struct share_pass {		/* an epoch */
	struct share_stage *stage;
	struct ds_pass	*pass;
	struct ds_pass_info info;
	uint64_t	epoch;
	struct plan	plan;		/* the feeder's */
	unsigned	users;
	bool		feeds;		/* the feeder leases units of it; of
					 * `now` changed by the job alone */
	bool		is_dead;	/* its hub is gone */
};

struct share_lease {		/* of a batch in the pipeline, or kept */
	struct share_pass *pass;
	struct ds_lease	lease;
	uint64_t	hash;
};

struct share_unit {		/* that was taken */
	struct share_unit *next, *prev;
	struct share_stage *stage;	/* NULL: it is one's own */
	struct shelf	*shelf;		/* of one's own: where its memory */
	struct batch	*own;		/* goes; else NULL */
	struct ds_taken	taken;
	const uint8_t	*states;	/* DS_SAMPLE_* of each */
	uint64_t	turn;		/* the first */
	uint32_t	count;
	unsigned	users;
};

/* How the job is at its epoch. */
enum share_mode {
	SHARE_NOT_BEGUN,
	SHARE_MEMBER,
	SHARE_BEHIND,		/* it makes batches itself, and will be */
	SHARE_ALONE,		/* to the end of the epoch */
};

struct share_counts {
	uint64_t	batches, units, foreign, own, published;
	uint64_t	audited, different, detached, wait_ns;
	uint64_t	foreign_samples, own_samples, blocked_ns;
	uint64_t	waits_since_ns;	/* now, or 0 */
	int64_t		waits_pid;
};

struct share {
	bool		is_on;		/* set before the feeder starts; the
					 * job's, as what is marked so */
	bool		is_abandoned;	/* by a forked child: its memory goes
					 * with the shelf */
	char		key[SHARE_KEY];
	uint64_t	salt;		/* of this job, for the audit */
	double		audit;
	struct shelf	views;		/* bare batches */
	pthread_t	feeder;

	/* The job's. */
	enum share_mode	mode;
	bool		for_good;	/* no more, ever */
	uint64_t	compared[SHARE_COMPARED];	/* rule 2: makers */
	uint64_t	nr_compared;	/* ever; the last of them are known */
	uint64_t	not_before_ns;	/* a hub that did not answer is tried */
	uint64_t	made_ns;	/* the batch that it made itself last */
	uint64_t	until;		/* so many of the epoch are behind when
					 * its shared part ends */
	uint64_t	tried;		/* to begin at this unit */
	struct share_unit *unit;	/* the one taken last */
	uint64_t	self;		/* the unit that it makes itself */
	unsigned	selfs;		/* in a row */

	pthread_mutex_t	lock;		/* guards what follows */
	pthread_cond_t	changed;
	bool		stops, is_opening, is_paused, is_next_tried;
	bool		is_proven;	/* rule 2: its units are as others' */
	uint64_t	root;		/* its own, or that of another */
	bool		is_different;	/* they are not */
	struct share_stage *stage;
	struct share_pass *now, *next;
	uint64_t	at;		/* the unit that the job takes next */
	unsigned	in_work;	/* leases */
	uint64_t	no_room_for;	/* this unit of now there was no memory */
	uint64_t	too_large;	/* units of so many bytes never fit */
	uint64_t	failed_epoch, failed_unit;	/* by our own fault */
	struct share_unit *units;	/* that are held */
	struct batch	*kept;		/* share_own.c */
	unsigned	nr_kept;
	unsigned	company;	/* there were others a moment ago, if
					 * not 0 */
	struct share_counts counts;
	char		how[DS_ERR_TEXT];
	bool		is_known, is_shared;	/* what `how` says */
};

/* share.c */
void share_init(struct share *s);
void share_start(struct ds_loader *l);
	/* The threads of the loader run; if it cannot, it says why. */
void share_stop(struct ds_loader *l);
	/* Before the threads end: nothing is leased any more. */
void share_quit(struct ds_loader *l);
	/* In the job's thread: it goes on alone, for good, and has the memory
	 * back that sharing takes. */
void share_fini(struct ds_loader *l);
	/* When they have ended. */
void share_abandon(struct ds_loader *l);
	/* The same in a forked child. */
void share_say(struct share *s, bool is_shared, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
	/* How it shares, or, behind "alone: ", why not. */
void share_add_counts(struct share *s, struct ds_loader_counts *counts);

/* share_key.c */
void share_key(const struct ds_loader *l, char key[SHARE_KEY]);
uint64_t share_hash(const struct batch *b);
	/* Of which samples are where in it. */

/* share_pass.c */
int share_pass_open(struct ds_loader *l, uint64_t epoch, uint64_t at,
    bool may_connect, struct share_pass **out, struct ds_err *err);
	/* The caller's to drop. */
void share_lost(struct share *s, uint64_t since_ns);
	/* There is no hub any more, for one who has waited since then: if that
	 * was long it stands still, and is not asked again for a while. */
void share_pass_drop(struct share *s, struct share_pass *sp);
void share_stage_drop(struct share *s, struct share_stage *st);

static inline size_t
share_bytes(uint32_t count, size_t sample_bytes)	/* of a payload */
{
	return count * (sample_bytes + 1) + sizeof(uint64_t);
}

static inline uint32_t
share_count(const struct share_pass *sp, uint64_t turns, uint64_t unit)
{
	uint64_t left = turns - unit * sp->info.unit;

	return (uint32_t)(left < sp->info.unit ? left : sp->info.unit);
}

/* share_own.c; the first three with the lock held */
bool share_makes_own(const struct ds_loader *l, const struct share_pass *sp);
	/* Are its units made in our own memory now? */
bool share_has_enough(const struct ds_loader *l);
	/* Of such units. */
bool share_publish_kept(struct ds_loader *l);
	/* One, if others may want it; else false. */
void share_note_company(struct share *s);
	/* When the job begins to look for a unit. */
void share_keep(struct ds_loader *l, struct batch *b);
	/* By a maker: none of its samples has failed. */
void share_drop_kept(struct ds_loader *l, const struct share_pass *sp);
bool share_take_own(struct ds_loader *l, uint64_t unit, struct batch **out);
	/* Is the job alone?  Then out is that unit of now, if it is there, and
	 * the caller's; else NULL. */
void share_wait_own(struct ds_loader *l, uint64_t unit);
	/* A slice at most. */

/* share_feed.c */
void *share_feed(void *loader);		/* the thread */
void share_made(void *loader, struct batch *b);
	/* By a maker: to be published, kept or given up. */
void share_publish_unit(struct share *s, struct batch *b);
int share_find_room(struct ds_loader *l, struct share_pass *sp,
    struct ds_lease *lease, size_t bytes);
	/* 1: it has memory; 0: it has ended; -ESTALE. */
void share_free_lease(struct ds_loader *l, struct batch *b);
	/* Of a batch that is in no list, and the batch. */
void share_wait_slice(struct share *s);
	/* With the lock held: until something has changed. */

bool share_may_feed(const struct share *s, const struct share_pass *sp);
	/* By rule 2; with the lock held. */

/* share_prove.c */
enum share_proof {
	PROVED,			/* or there was no need to */
	UNPROVED,		/* no memory to do so */
	DISPROVED,		/* and said why */
};

enum share_proof share_prove(struct ds_loader *l, const struct share_unit *u);
	/* By rule 2, and for the audit.  The job has nothing in the
	 * pipeline. */

/* share_unit.c */
enum share_found {
	FOUND_UNIT,		/* s->unit */
	FOUND_SELF,		/* to be made here */
	FOUND_NONE,		/* so are all from there on */
	FOUND_INTERRUPT,	/* nothing: somebody wants it to end */
};

enum share_found share_find(struct ds_loader *l, uint64_t unit);
	/* A unit of the pass that the job is a member of. */
void share_unit_drop(struct share *s, struct share_unit *u);
void share_forget_unit(struct ds_loader *l);
	/* The one taken last. */

/* share_join.c */
void share_begin_epoch(struct ds_loader *l);
void share_catch_up(struct ds_loader *l);
	/* Of one that is BEHIND. */
void share_leave(struct ds_loader *l);
	/* The job is no member any more, and goes on alone in its epoch. */
void share_end_epoch(struct ds_loader *l);

/* share_next.c */
int share_next(struct ds_loader *l, struct ds_batch **out,
    struct ds_err *err);
	/* There is a batch left in the epoch; as ds_loader_next().  Only if
	 * is_on. */
void share_put(struct ds_loader *l, struct batch *b);
	/* The job has released it. */

#endif
