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

#ifdef __cplusplus
}
#endif

#endif /* DESTALL_H */
