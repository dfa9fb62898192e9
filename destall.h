/* SPDX-License-Identifier: Apache-2.0
 *
 * destall.h: the public interface of libdestall.
 *
 * The library is a guest in somebody's training job.  It never prints, never
 * exits, starts no thread before it is asked to, and leaves signals, standard
 * streams and the environment alone.
 *
 * Conventions
 *   A function returns >= 0 for success (0, a count, or a named outcome) or
 *   -errno, and then fills the caller's struct ds_err with one sentence: what
 *   failed, and why.  The struct is left alone on success; passing NULL is
 *   allowed.
 *   Handles are opaque; the function that frees one takes the address of the
 *   pointer and leaves NULL in it.
 *
 *   A handle that is none, NULL or freed, is the caller's bug: it ends the
 *   program with a line.
 *
 * Restrictions
 *   Handles belong to the process that made them.  A forked child connects and
 *   opens anew; with its parent's handles it can only read what was cached and
 *   close them.
 *   A handle may be used by several threads at once, but not while it is being
 *   closed.
 *   If the hub dies, nothing fails: gets are answered from what was cached and
 *   from storage.  To find a new hub, connect and open again.
 *
 * C11, safe to include from C++.
 */

#ifndef DESTALL_H
#define DESTALL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DS_EXPORT __attribute__((visibility("default")))

#define DS_ERR_TEXT 512

struct ds_err {
	int	code;			/* the -errno that was returned */
	char	text[DS_ERR_TEXT];	/* one sentence, always terminated */
};

DS_EXPORT const char *ds_version(void);
	/* The version of the library that is loaded, e.g. "0.1.0".
	 * Static memory: never freed. */

/*--- the hub -------------------------------------------------------------*/

struct ds_hub;

#define DS_NO_START	1u	/* only a hub that is running already */

DS_EXPORT int ds_connect(struct ds_hub **out, unsigned flags,
    struct ds_err *err);
	/* Connects this process to the user's hub, starting one if there is
	 * none.  0; -ENOENT with DS_NO_START; -EPROTO for a hub of another
	 * version; else why it could not be started.  A job can always do
	 * without: pass NULL for the hub below. */

DS_EXPORT int ds_connect_as(struct ds_hub **out, const char *job,
    unsigned flags, struct ds_err *err);
	/* The same for a process that is several jobs at a time, such as trials
	 * in threads: connections under one name are one job.  Nobody waits for
	 * a member of its own job; NULL: that of the process.  A name of 16
	 * hexadecimal digits is the same job in all processes. */

DS_EXPORT void ds_disconnect(struct ds_hub **hub);
	/* Data sets that were opened with it go on without. */

/*--- data sets -----------------------------------------------------------*/

struct ds_data;

DS_EXPORT int ds_data_open(struct ds_data **out, struct ds_hub *hub,
    const char *uri, const char *budget, struct ds_err *err);
	/* Lists the files below a folder ("/data/train"; names that begin with a
	 * dot are not data) or tar shards ("tar:/data/shards", a
	 * folder of them or one) and finds its cache at the hub; hub may be
	 * NULL: then every get reads storage.
	 * budget: the share of the data set to cache, "35%", or NULL for as
	 * much as the hub has room for.  The first job of a data set decides.
	 * -ENOENT, -EACCES, -EBADMSG (a broken shard)... */

DS_EXPORT void ds_data_close(struct ds_data **data);
	/* All items must have been put. */

DS_EXPORT uint64_t ds_data_count(const struct ds_data *data);

struct ds_info {
	const char *name;	/* relative to the data set; its own memory */
	uint64_t size;		/* bytes */
};

DS_EXPORT int ds_data_info(const struct ds_data *data, uint64_t i,
    struct ds_info *info);
	/* Item i of 0 .. count - 1, in ascending order of names as bytes.
	 * -ENOENT past the end. */

DS_EXPORT int64_t ds_data_find(const struct ds_data *data, const char *name);
	/* Its number, or -ENOENT. */

DS_EXPORT void ds_data_epoch(struct ds_data *data);
	/* A new pass over the data begins: items that could not be read are
	 * tried once more. */

/*--- items ---------------------------------------------------------------*/

struct ds_item {
	const void *bytes;
	size_t	len;
	void	*priv;		/* the library's */
};

DS_EXPORT int ds_get(struct ds_data *data, uint64_t i, struct ds_item *item,
    struct ds_err *err);
	/* The bytes of an item: from the cache, without copying, or from
	 * storage, and then cached for everyone if it is admitted.  They are
	 * read-only and valid until ds_put().  Any number of threads.
	 * -ESTALE: the file is no longer the one that was listed; other
	 * -errno: why it could not be read (remembered until the next epoch). */

DS_EXPORT void ds_put(struct ds_data *data, struct ds_item *item);

/*--- statistics ----------------------------------------------------------*/

struct ds_counts {
	uint64_t hits;		/* gets answered from the cache */
	uint64_t misses;	/* gets answered by reading storage */
	uint64_t storage_reads;	/* items read from storage */
	uint64_t storage_bytes;
	uint64_t failures;	/* gets answered by an error */
	int	cached;		/* 1 until this process finds the hub gone */
};

DS_EXPORT void ds_data_counts(const struct ds_data *data,
    struct ds_counts *counts);
	/* Of this process and data set; `destall cache stat` tells of all. */

DS_EXPORT const char *ds_data_uncached(const struct ds_data *data);
	/* Why counts.cached is 0, as half a sentence that is valid as long as
	 * the data set; NULL when it is cached. */

/*--- options by name -----------------------------------------------------*/

/* What follows is set up by names and texts, so that a binding needs to know
 * no layout.  `man destall-emulate` tells of each. */

struct ds_option {
	const char *name;
	const char *value;	/* what it is unless set */
	const char *help;	/* one sentence */
};

/*--- a picture to a sample -----------------------------------------------*/

struct ds_prep;

DS_EXPORT const struct ds_option *ds_prep_options(void);
	/* Static memory; ends with one that has no name. */

DS_EXPORT int ds_prep_new(struct ds_prep **out, struct ds_err *err);
DS_EXPORT void ds_prep_free(struct ds_prep **prep);
	/* One thread at a time uses it: make one for each. */

DS_EXPORT int ds_prep_set(struct ds_prep *prep, const char *name,
    const char *value, struct ds_err *err);
	/* -ENOENT: there is no such option; -EINVAL, -ERANGE: no such value.
	 * Whether all of them go together is looked at by who uses them. */

DS_EXPORT int64_t ds_prep_bytes(struct ds_prep *prep, struct ds_err *err);
	/* Of one sample; -EINVAL if the options do not go together. */

/* What becomes of a picture: its part at x, y is resized to to_width by
 * to_height pixels, of which the sample is the part at at_x, at_y. */
struct ds_cut {
	uint32_t x, y, width, height;	/* in the picture's pixels */
	uint32_t to_width, to_height;
	uint32_t at_x, at_y;
	uint32_t flip;			/* 1: mirrored left to right */
};

/* Which draw: all that its randomness comes from. */
struct ds_place {
	uint64_t seed;
	uint64_t epoch;
	uint64_t position;	/* in the order of the epoch */
};

DS_EXPORT int ds_prep_draw(struct ds_prep *prep, uint32_t width,
    uint32_t height, const struct ds_place *place, struct ds_cut *cut,
    struct ds_err *err);
	/* The cut of a picture of that size at that place. */

DS_EXPORT int ds_prep_size(struct ds_prep *prep, const void *bytes, size_t len,
    uint32_t *width, uint32_t *height, struct ds_err *err);
	/* Of an encoded picture, by its head. */

DS_EXPORT int ds_prep_run(struct ds_prep *prep, const void *bytes, size_t len,
    const struct ds_cut *cut, void *sample, size_t room, struct ds_err *err);
	/* An encoded picture to a sample of ds_prep_bytes(); room: how many
	 * bytes there are for it, else -ENOBUFS.
	 * -ENODATA: empty; -EBADMSG: damaged or cut short; -ENOTSUP: of a kind
	 * that is not read; -EFBIG, -ETIME: past a limit; -ENOMEM; -EINVAL:
	 * the cut is not within the picture. */

/*--- the stage -----------------------------------------------------------*/

/* Several jobs that want the same batches make each of them once.
 *
 * A stream is what a loader would deliver; its epochs are passes; a pass is
 * made in units of some samples each.  Whoever attaches to a pass may make
 * units: lease one, fill it, publish it.  Whoever begins a pass is a member: it
 * takes each unit once, in ascending order, or makes it itself, and is waited
 * for until it ends.  The two may be different processes of a job: workers make
 * and the main process takes.
 *
 * All that can go wrong here means the same: make it yourself.  Every unit can
 * be made by everyone, with the same bytes. */

struct ds_stage;
struct ds_pass;

DS_EXPORT const struct ds_option *ds_stage_options(void);

DS_EXPORT int ds_stage_open(struct ds_stage **out, struct ds_hub *hub,
    struct ds_err *err);
	/* A stream, as set up by ds_stage_set(); DESTALL_GROUP,
	 * DESTALL_WINDOW, DESTALL_LAG are what the options of those names are
	 * unless set.  -EINVAL: a variable that cannot be understood. */

DS_EXPORT int ds_stage_set(struct ds_stage *stage, const char *name,
    const char *value, struct ds_err *err);
	/* Before the first pass; as ds_prep_set(). */

DS_EXPORT void ds_stage_close(struct ds_stage **stage);
	/* Its passes must have been closed.  What is still held of it is gone
	 * then. */

#define DS_ANY UINT64_MAX	/* an epoch, a unit: where the others are */

struct ds_pass_info {
	uint64_t seed;		/* of the order and all else that is random */
	uint64_t epoch;
	uint64_t units;
	uint32_t unit;		/* samples in each but the last */
	uint32_t jobs;		/* that are members now */
};

DS_EXPORT int ds_pass_open(struct ds_pass **out, struct ds_stage *stage,
    uint64_t epoch, uint64_t at, struct ds_pass_info *info,
    struct ds_err *err);
	/* Attaches to an epoch, near the unit `at`.  -ESTALE: the hub is gone;
	 * -ENOSPC, -EUSERS...: load alone. */

DS_EXPORT void ds_pass_close(struct ds_pass **pass);
	/* Ends it, too.  Leases that are out are given up. */

/* Making. */

struct ds_lease {
	uint64_t unit;
	void	*bytes;		/* NULL: ds_pass_room() finds memory */
	size_t	room;
	uint32_t generation, slot;	/* the library's */
	uint64_t since_ns;
};

DS_EXPORT int ds_pass_lease(struct ds_pass *pass, unsigned wait_ms,
    struct ds_lease *lease, struct ds_err *err);
	/* 1: a unit to make, in memory of the size that the option "bytes"
	 * has; 0: nothing to make within wait_ms; -ESTALE: the hub is gone;
	 * -EBUSY: 64 are out already; -EFBIG: units of that size will never
	 * find enough room. */

DS_EXPORT int ds_pass_room(struct ds_pass *pass, struct ds_lease *lease,
    size_t bytes, struct ds_err *err);
	/* 0: there is memory; -ENOSPC: not now; -EFBIG: never.  Then the lease
	 * is ended: keep what was made for this job, if it needs it. */

DS_EXPORT int ds_pass_publish(struct ds_pass *pass, struct ds_lease *lease,
    size_t bytes, uint64_t hash, uint64_t make_ns, struct ds_err *err);
	/* hash: of what it is made of, in its order.  make_ns: the time it took,
	 * of all threads together; 0: since the lease. */

#define DS_GIVE_UP_LATER	0	/* another may try */
#define DS_GIVE_UP_ALONE	1	/* it failed: everyone makes it himself,
					 * and sees why */

DS_EXPORT void ds_pass_give_up(struct ds_pass *pass, struct ds_lease *lease,
    unsigned how);

/* Taking. */

DS_EXPORT int ds_pass_begin(struct ds_pass *pass, uint64_t at, uint64_t end,
    uint64_t *start, struct ds_err *err);
	/* Becomes a member, for units from `at` (or DS_ANY: *start tells) to
	 * before `end`.  1: begun; 0: `at` has been made and is gone already:
	 * make it yourself, and try again at the next; -ESTALE. */

struct ds_taken {
	void	*bytes;		/* the job may write to them */
	size_t	len;
	uint64_t unit, hash;
	uint64_t maker;		/* the job that made it: prove the first that
				 * another has made before you use it */
	uint32_t is_own;	/* that is this one */
	void	*priv;		/* the library's */
};

#define DS_TAKE_WAIT	0	/* not there yet */
#define DS_TAKEN	1
#define DS_TAKE_SELF	2	/* make this one yourself, then ds_pass_skip() */
#define DS_TAKE_DETACHED 3	/* this job was too slow for the others: make
				 * this and all later ones yourself */

DS_EXPORT int ds_pass_take(struct ds_pass *pass, uint64_t unit,
    unsigned wait_ms, struct ds_taken *taken, struct ds_err *err);
	/* One of the above, or -ESTALE: as DS_TAKE_DETACHED, for the hub is
	 * gone.  Units ascend, to the end (-EINVAL); one thread takes. */

DS_EXPORT void ds_pass_skip(struct ds_pass *pass, uint64_t unit);
	/* This job made it itself. */

DS_EXPORT void ds_pass_delivered(struct ds_pass *pass, uint64_t samples);
	/* For `destall top` and the policy of waiting. */

DS_EXPORT void ds_stage_release(struct ds_stage *stage,
    struct ds_taken *taken);
	/* At any time, in any order, also when the pass is closed. */

DS_EXPORT void ds_pass_end(struct ds_pass *pass);
	/* No member any more: nobody waits for it.  What it holds is private. */

DS_EXPORT int ds_pass_is_alive(struct ds_pass *pass);
	/* 1, or 0: the hub is gone. */

DS_EXPORT int64_t ds_pass_waits_for(struct ds_pass *pass);
	/* The process whose member holds this one up, or 0.  It asks the hub:
	 * for who has waited long, and wants to tell. */

DS_EXPORT int ds_pass_is_alone(struct ds_pass *pass);
	/* 1: nobody else takes units of it now: what is made for it need not be
	 * staged. */

DS_EXPORT unsigned ds_pass_jobs(struct ds_pass *pass);
	/* That have members now, this one's, too, if it is one.  Make units for
	 * others only if there are no others, or one of their units has proved
	 * to be what this job makes. */

/*--- the loader ----------------------------------------------------------*/

struct ds_loader;

DS_EXPORT const struct ds_option *ds_loader_options(void);
	/* Those of the loader and those of ds_prep_options(). */

DS_EXPORT int ds_loader_open(struct ds_loader **out, struct ds_data *data,
    struct ds_err *err);
	/* The pictures of a data set, which must be closed after it. */

DS_EXPORT void ds_loader_close(struct ds_loader **loader);
	/* Ends its threads; batches that were not released are gone, too. */

DS_EXPORT int ds_loader_set(struct ds_loader *loader, const char *name,
    const char *value, struct ds_err *err);
	/* Before the first batch; as ds_prep_set().  -EBUSY: too late. */

#define DS_SAMPLE_OK		0	/* as its picture is */
#define DS_SAMPLE_CUT_SHORT	1	/* of a damaged file, as far as it goes */
#define DS_SAMPLE_SUBSTITUTE	2	/* zeros, for a file that is bad */

#define DS_TYPE_UINT8	0
#define DS_TYPE_FP16	1
#define DS_TYPE_BF16	2
#define DS_TYPE_FP32	3

struct ds_batch {
	void	*samples;	/* count of them, one after the other; the job
				 * may write to them */
	size_t	sample_bytes;
	uint32_t type;		/* DS_TYPE_* of a value */
	uint32_t shape[3];	/* of a sample: 3, height, width as planes, or
				 * height, width, 3 as pixels */
	uint64_t epoch;		/* from 0 */
	uint64_t number;	/* in the epoch, from 0 */
	uint32_t count;		/* 0 if all were skipped */
	uint32_t skipped;	/* bad ones, left out */
	const int64_t *labels;	/* -1 where there is none */
	const uint64_t *items;	/* their numbers in the data set */
	const uint64_t *positions; /* in the order of the epoch, ascending
				 * unless it was joined late: then what was
				 * missed comes last */
	const uint8_t *states;	/* DS_SAMPLE_* */
};

DS_EXPORT int ds_loader_next(struct ds_loader *loader,
    struct ds_batch **batch, struct ds_err *err);
	/* 1: a batch, the job's until it releases it or closes the loader; it
	 * may keep any number.
	 * 0: the epoch is over; the next call begins the next one.
	 * -ENOENT: there are no more epochs, and nothing else.
	 * -errno: a sample that could not be made, named in the text.  If its
	 * file is to blame (damaged, gone, past a limit), the next call goes on
	 * behind its batch; if not (-ENOMEM, -EMFILE and the like), the next
	 * call tries again.  A ledger that cannot be written fails for ever. */

DS_EXPORT void ds_loader_interrupt(struct ds_loader *loader);
	/* From any thread, or a signal handler: a ds_loader_next() that waits
	 * for another job, now or later, returns -EINTR, once, within a
	 * second (or the 5 s that a hub which stands still is waited for).
	 * Nothing is lost: the next call goes on. */

DS_EXPORT void ds_loader_release(struct ds_loader *loader,
    struct ds_batch **batch);

DS_EXPORT int64_t ds_loader_samples(struct ds_loader *loader,
    struct ds_err *err);
	/* In an epoch, of this rank, bad ones included. */

DS_EXPORT const char *ds_loader_class(struct ds_loader *loader, int64_t label);
	/* The name of a label, or NULL; valid until an option is set or the
	 * loader is closed. */

DS_EXPORT int64_t ds_loader_classes(struct ds_loader *loader,
    struct ds_err *err);
	/* How many there are: labels are below; 0 if there are no labels. */

#define DS_POSITION_TEXT 256

DS_EXPORT int ds_loader_save(struct ds_loader *loader,
    char text[DS_POSITION_TEXT], struct ds_err *err);
	/* Where the next batch begins, as a line of text to keep with a
	 * checkpoint. */

DS_EXPORT int ds_loader_restore(struct ds_loader *loader, const char *text,
    struct ds_err *err);
	/* Before the first batch: begin there.  Batch size and threads may be
	 * others.  -ESTALE: it was saved with other data, seed or order;
	 * -EBADMSG: it is no such text. */

struct ds_loader_counts {
	uint64_t epochs, batches;	/* given to the job to the end */
	uint64_t samples;		/* in them */
	uint64_t skipped, substituted, cut_short;
	uint64_t wait_ns;		/* of the job, in ds_loader_next() */
	uint64_t fetch_ns;		/* of all threads, getting bytes */
	uint64_t prep_ns;		/* of all threads, making samples */
	uint64_t encoded_bytes;		/* that went in */
	uint64_t memory_bytes;		/* of batches, most at a time */
	uint32_t threads, readers;

	/* With share=yes. */
	uint64_t staged_batches;	/* of batches: by way of the stage */
	uint64_t staged_units;		/* taken from it */
	uint64_t others_units;		/* of them: made by other jobs */
	uint64_t own_units;		/* made for this job alone: there was
					 * nobody else, or no memory to stage
					 * them */
	uint64_t published_units;	/* made for all */
	uint64_t audited_units;		/* made here, too, and compared */
	uint64_t different_units;	/* of them: not as they should be */
	uint64_t detached;		/* how often it was too slow */
	uint64_t stage_wait_ns;		/* of wait_ns, for units */

	uint64_t others_samples;	/* of samples: made by other jobs */
	uint64_t staged_samples;	/* made by this one for all; the rest
					 * was for itself alone */
	uint64_t blocked_ns;		/* of stage_wait_ns, for members that
					 * were behind */
	uint64_t waits_ns;		/* it waits for a unit now, so long */
	int64_t	waits_pid;		/* for that process, if it is known; 0 */
};

DS_EXPORT void ds_loader_counts(const struct ds_loader *loader,
    struct ds_loader_counts *counts);

DS_EXPORT int ds_loader_shared(struct ds_loader *loader, char *text,
    size_t size);
	/* How it shares batches with other jobs: 1: "shared with 2 other jobs",
	 * or "ready to share: no other job of its stream yet"; 0: "alone: " and
	 * why; -EAGAIN: there was no batch yet.  What text has no room for is
	 * cut: DS_ERR_TEXT is enough. */

struct ds_bad {
	uint64_t item, epoch, position;
	int	code;		/* -errno */
	const char *why;	/* valid as long as the loader */
};

DS_EXPORT int ds_loader_bad(const struct ds_loader *loader, uint64_t i,
    struct ds_bad *bad);
	/* The i-th sample that was skipped or substituted; the first hundred
	 * are remembered.  -ENOENT past them. */

/*--- ledgers -------------------------------------------------------------*/

/* What a job was given, sample by sample, for `destall ledger check`.  The
 * native loader writes its own; this is for other loaders. */

struct ds_ledger;

struct ds_ledger_sample {
	uint64_t epoch, batch, position;
	const char *name;	/* relative to the data set; NULL: it has none */
	uint64_t item;		/* its number, if it has no name */
	uint32_t crc32c;	/* of what was delivered */
};

DS_EXPORT int ds_ledger_open(struct ds_ledger **out, const char *path,
    int64_t at, struct ds_err *err);
	/* A new file.  at > 0: one that is there, of which all behind this byte
	 * is cut, for a job that goes on from where it had been.  -EEXIST: it
	 * has lines; -EBUSY: another job writes it. */

DS_EXPORT int ds_ledger_put(struct ds_ledger *ledger,
    const struct ds_ledger_sample *sample, struct ds_err *err);

DS_EXPORT int ds_ledger_flush(struct ds_ledger *ledger, int64_t *size,
    struct ds_err *err);
	/* What was put is with the kernel: a job that is killed loses none of
	 * it.  *size: of the file now.  A ledger that failed once fails for
	 * ever. */

DS_EXPORT void ds_ledger_close(struct ds_ledger **ledger);
	/* What was not flushed is lost. */

DS_EXPORT uint32_t ds_crc32c(uint32_t crc, const void *bytes, size_t len);
	/* Begins with 0; what comes back goes on with the bytes that follow. */

/*--- steps, for destall profile -------------------------------------------*/

DS_EXPORT void ds_step(uint64_t samples);
	/* The program has done one step of its own training loop, with so many
	 * samples.  Where `destall profile` runs it, its speed is known by that,
	 * as by --step-marker; elsewhere nothing is done.  A program whose
	 * batches come from ds_loader_next() need not call it.  One thread at a
	 * time. */

#ifdef __cplusplus
}
#endif

#endif /* DESTALL_H */
