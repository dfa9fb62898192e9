/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper.h: the hub's side of the cache, shared by the files keeper*.c.
 * Runs in the hub only; all but the work() of jobs in the loop.
 *
 * A data set has an index segment that its users map, and files in the store.
 * An attachment is one use of a data set by one client.
 *
 *  1. A set is in the table from the turn in which its index is complete until
 *     the turn in which it begins to be dropped.
 *  2. A set that has an attachment, or is pinned by a job, is not dropped; nor
 *     is one whose items are also those of an older listing in use.
 *  3. A lease is in the list from the turn in which minio_ask() granted it
 *     until it is published, given up, or revoked: there is one for each item
 *     that is LEASED, and besides only those that were revoked while the helper
 *     had them.
 *  4. Jobs in the helper read what never changes (keys, names, the files of a
 *     set that is being dropped) and write only what is theirs.
 */

#ifndef CACHE_KEEPER_H
#define CACHE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/segment.h"
#include "base/wire.h"
#include "cache/index.h"
#include "cache/messages.h"
#include "cache/minio.h"
#include "cache/page.h"
#include "cache/store.h"
#include "hub/hub.h"
#include "hub/room.h"

#define KEEPER_MAGIC		0x4b454550u	/* "KEEP" */
#define DATASET_MAGIC		0x44534554u	/* "DSET" */
#define KEEPER_SETS_MAX		1024u
#define KEEPER_ATTACHED_MAX	64u	/* by one client */
#define KEEPER_LEASES_MAX	256u	/* by one client */
#define KEEPER_LEASE_LISTS	256u
#define KEEPER_JOBS_KEPT	64u	/* gone clients that stat still names */

/*--- room ----------------------------------------------------------------*/

struct room {			/* all that a job needs to judge it */
	const struct store *store;
	uint64_t budget_bytes;
	uint64_t besides_bytes;	/* indices and pages: not in the store */
	uint64_t stored_bytes;	/* our own sum, where the store has none */
	uint64_t granted_bytes;	/* ever, by the whole hub */
	const struct cgroup *cgroup;	/* NULL: none that limits memory */
};

uint64_t room_used(const struct room *r);

void room_read(const struct room *r, struct gauge *g);
	/* Some 20 files of /proc and the control group: not for the loop. */

bool room_is_fresh(const struct room *r, const struct gauge *g,
    uint64_t now_ns);

int room_check(const struct room *r, const struct gauge *g, uint64_t bytes,
    struct ds_err *err);
	/* May as many bytes be allocated now?  -ENOSPC for the budget,
	 * -ENOMEM for the memory of the machine or of the control group, from
	 * which all that was granted since they were read is taken off. */

/*--- data sets -----------------------------------------------------------*/

struct keeper;

struct attachment {
	struct attachment *next;	/* of the same set */
	uint32_t	number;		/* of no other in the hub's life */
	uint32_t	client;
	uint64_t	job;
	struct segment	page;		/* mapped read-only */
	struct page_copy copy;
	char		name[64];	/* of the client */
};

struct dataset {
	unsigned	magic;
	uint32_t	id;
	char		*uri;
	uint64_t	stamp;
	struct segment	seg;
	struct index	*index;		/* in seg */
	struct minio_set minio;
	uint64_t	stored_bytes;	/* in whole pages */
	uint64_t	last_used_ns;
	uint32_t	share;		/* as the first user wanted it */
	uint32_t	other_share;	/* that was said to be refused, last */
	uint32_t	pins;		/* jobs that read its index */
	struct dataset	*older;		/* whose items we have taken over */
	bool		whole;		/* it has taken over what it can of an
					 * older listing */
	bool		superseded;	/* by a newer listing */
	uint8_t		*given;		/* a bit per item that the newer has */
	struct attachment *attached;
	struct page_copy sum;		/* counts of those who left, and fetch
					 * times of all, as far as copied */
	uint64_t	expired, corrupt;
	struct dataset	*next;
};

struct dataset *dataset_find(struct keeper *k, const char *uri, size_t len);
	/* The current one, not those superseded. */
struct dataset *dataset_of(struct keeper *k, uint32_t id,
    const struct client *c);
	/* One that this client is attached to, or NULL. */
bool dataset_in_use(const struct dataset *d);
struct minio_item dataset_item(struct dataset *d, uint64_t i);
bool dataset_gave(const struct dataset *d, uint64_t i);
	/* Has a newer listing taken this item over? */
void dataset_changed(struct dataset *d);
	/* Tells admission to the index, and wakes who waits. */

int dataset_attach(struct keeper *k, struct dataset *d, struct client *c,
    uint32_t serial, uint32_t share, struct ds_err *err);
	/* And answers OPENED. */
void dataset_detach(struct keeper *k, struct dataset *d, struct attachment **at);
	/* Its counts are kept. */
int dataset_copy_page(struct dataset *d, struct attachment *a,
    struct ds_err *err);
	/* All of it: some ten microseconds. */

void dataset_free(struct dataset **dp);
	/* Memory and index; the files are somebody else's business. */

/*--- leases --------------------------------------------------------------*/

struct lease {
	struct helper_job	job;	/* finds the memory, or frees it */
	struct lease		*next, **link;	/* in its list */
	struct keeper		*keeper;
	struct dataset		*set;
	uint64_t		item;
	uint32_t		client, serial, generation;
	struct store_draft	draft;
	uint64_t		pages_bytes;	/* of the draft */
	uint64_t		grown_bytes;	/* of them, allocated */
	struct room		room;
	struct gauge		gauge;
	uint64_t		asked_ns, deadline_ns;
	bool			in_helper;
	bool			revoked;	/* while in the helper */
	bool			allocated;	/* the draft, and counted */
	int			rc;
	struct ds_err		err;
};

struct lease *lease_find(struct keeper *k, const struct dataset *d,
    uint64_t item, uint32_t client, uint32_t generation);
	/* One whose holder was given its draft, or NULL. */
void lease_end(struct lease *l);
	/* Out of the list, and its draft freed unless it has a name; the
	 * item's word is the caller's business. */

int lease_ask(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);
int lease_publish(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);
int lease_give_up(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);
void lease_revoke_all(struct keeper *k, uint32_t client,
    const struct dataset *set);
	/* Of a client that is gone, or has closed the set; NULL: all sets. */
void lease_expire(struct keeper *k, uint64_t now_ns);

/*--- listings, drops, audits, statistics ---------------------------------*/

int make_open(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);
int make_listing(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);

struct asker {			/* of an answer that takes a while */
	uint32_t client, serial;	/* client 0: nobody */
};

int drop_asked(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);
int drop_begin(struct keeper *k, struct dataset *d, struct asker asker);
	/* Out of the table now, its files removed in the helper.  -EBUSY,
	 * -ENOMEM. */
bool drop_unused(struct keeper *k);
	/* Begins with the set that was not used for longest.  True if one is
	 * being dropped, by this call or an earlier one. */
bool drop_is_near(const struct keeper *k);
	/* Is there a set that only a job of the helper holds, for a moment? */
void drop_superseded(struct keeper *k);
	/* Those that nobody uses. */

int audit_asked(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);

int stat_sets(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);
int stat_jobs(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err);
void stat_look(struct keeper *k);
	/* At the page of one attachment, the next in turn. */
void stat_keep(struct keeper *k, const struct dataset *d,
    const struct attachment *a);
	/* A client that left: for stat_jobs(). */

/*--- the whole -----------------------------------------------------------*/

struct job_kept {
	uint32_t	number, client, set;
	uint64_t	job;
	uint64_t	count[CACHE_COUNTS];
	char		name[64];
};

struct make;

struct keeper {
	unsigned	magic;
	struct hub	*hub;
	struct store	*store;
	struct machine	*machine;	/* the hub's */
	uint64_t	budget_bytes;
	uint64_t	index_bytes;	/* of all indices, those being dropped too */
	uint64_t	page_bytes;
	uint64_t	stored_bytes;	/* files and drafts, in whole pages */
	struct gauge	gauge;
	uint64_t	next_file;
	uint32_t	next_set;
	uint32_t	next_attachment;
	uint32_t	looked_at;	/* the attachment whose page was, last */
	unsigned	nr_sets;
	struct dataset	*sets;
	struct lease	*leases[KEEPER_LEASE_LISTS];	/* by client */
	unsigned	nr_leases;
	struct make	*makes;		/* the first is being worked on */
	unsigned	drops;		/* being worked on */
	bool		auditing;
	struct job_kept	kept[KEEPER_JOBS_KEPT];
	unsigned	nr_kept;	/* ever */
};

struct room keeper_room(const struct keeper *k);

void keeper_tell(struct keeper *k);
	/* Brings what the control segment says of memory up to date. */

extern const struct hub_module keeper_module;

#endif
