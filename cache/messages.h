/* SPDX-License-Identifier: Apache-2.0
 *
 * messages.h: what the cache and its clients say to each other, in the frames
 * of hub/proto.h.  Runs in hub and clients.
 *
 *   OPEN       text uri, u64 stamp, u32 share    -> OPENED or LIST
 *   LIST       nothing: please list it, and send
 *   LISTING    as OPEN, fd listing               -> OPENED
 *   OPENED     u32 set, fds index segment, view of the store, client page
 *   CLOSE      u32 set                           told
 *   LEASE      u32 set, u64 item, u64 since_ns   -> LEASED or NOT_LEASED
 *   LEASED     u32 generation, fd to write the item to
 *   NOT_LEASED u32 enum cache_why
 *   PUBLISH    u32 set, u64 item, u32 generation, u32 crc32c    told
 *   GIVE_UP    u32 set, u64 item, u32 generation, u32 errno     told
 *              0: not a fault of the item
 *   REPORT     u32 set, u64 item, u32 generation told: its bytes are not
 *              those that were published; the hub looks for itself
 *   STAT       u32 after                         -> STATED or DONE: the data
 *              set with the next larger number, or there is none
 *   STATED     u32 set, text uri, u32 flags, then CACHE_STAT_WORDS u64 in the
 *              order of enum cache_stat
 *   STAT_JOB   u32 after                         -> JOB or DONE
 *   JOB        u32 number (for after), u32 client, text name, u64 job,
 *              u32 live, u32 set, then CACHE_COUNTS u64 in the order of
 *              enum cache_count (page.h)
 *   DROP       text uri                          -> DONE when the memory is
 *              given back; -EBUSY in use, -ENOENT not cached
 *
 * share is a percentage of the data set in millionths, 0 for no share of its
 * own.  stamp tells the state of the source where that is known without a
 * listing (tar shards); 0 where it is not, and then it is listed each time.
 * CACHE_STAMP_ANY, in OPEN alone, takes it as it was listed last.
 * since_ns: an item that failed, and was asked for before this time (of
 * CLOCK_MONOTONIC), is tried again.
 */

#ifndef CACHE_MESSAGES_H
#define CACHE_MESSAGES_H

#include <stdint.h>

#include "hub/proto.h"

enum cache_message {
	MSG_OPEN = MSG_CACHE_FIRST,
	MSG_LIST,
	MSG_LISTING,
	MSG_OPENED,
	MSG_CLOSE,
	MSG_LEASE,
	MSG_LEASED,
	MSG_NOT_LEASED,
	MSG_PUBLISH,
	MSG_GIVE_UP,
	MSG_REPORT,
	MSG_STAT,
	MSG_STATED,
	MSG_STAT_JOB,
	MSG_JOB,
	MSG_DROP,
};

enum cache_why {
	CACHE_BUSY = 1,	/* look at the item again when the index wakes you */
	CACHE_LOOK,	/* look at the item again now: it is there, or failed */
	CACHE_CLOSED,	/* it will not be admitted: read it yourself */
};

#define CACHE_URI_MAX	3072u	/* bytes */
#define CACHE_SHARE_ONE	1000000u
#define CACHE_STAMP_ANY	UINT64_MAX

#define CACHE_SET_IN_USE	1u
#define CACHE_SET_CLOSED	2u	/* to admission */

enum cache_stat {
	CACHE_STAT_ITEMS,
	CACHE_STAT_BYTES,
	CACHE_STAT_CACHED_ITEMS,
	CACHE_STAT_CACHED_BYTES,	/* of the items themselves */
	CACHE_STAT_CACHED_PAGES_BYTES,	/* in whole pages: what they occupy */
	CACHE_STAT_INDEX_BYTES,
	CACHE_STAT_CAP_BYTES,		/* the share resolved; 0: none */
	CACHE_STAT_HITS,
	CACHE_STAT_MISSES,
	CACHE_STAT_STORAGE_READS,
	CACHE_STAT_STORAGE_BYTES,
	CACHE_STAT_FAILED_ITEMS,
	CACHE_STAT_LEASES,		/* out now */
	CACHE_STAT_LATE,		/* publishes refused by their generation */
	CACHE_STAT_EXPIRED,		/* leases taken back from living holders */
	CACHE_STAT_CORRUPT,		/* items dropped for their crc */
	CACHE_STAT_FETCH_P50_NS,
	CACHE_STAT_FETCH_P99_NS,
	CACHE_STAT_FETCH_MAX_NS,
	CACHE_STAT_PASSED_CONTAINERS,	/* opens left to the kernel: page.h */
	CACHE_STAT_PASSED_LARGE,
	CACHE_STAT_PASSED_CHANGED,
	CACHE_STAT_WORDS
};

#endif
