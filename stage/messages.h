/* SPDX-License-Identifier: Apache-2.0
 *
 * messages.h: what the stage and its clients say to each other, in the frames
 * of hub/proto.h.  Runs in hub and clients.
 *
 *   ATTACH     text group, text key, u32 seeded, u64 seed, u64 epoch,
 *              u64 samples, u32 unit, u32 order, u64 at, u32 ahead,
 *              u64 window, u64 window_bytes     -> ATTACHED
 *   ATTACHED   u32 pass, u32 place, u64 seed, u64 epoch, u32 unit, u64 units,
 *              fds board segment, seat, floor segment
 *   BEGIN      u32 pass, u64 at, u64 end, u32 lag, u64 lag_ns, u32 makers
 *                                               -> BEGUN or BEHIND
 *   BEGUN      u64 start
 *   BEHIND     u64 base: that unit has left the window
 *   LEASE      u32 pass, u64 bytes, u32 threads -> LEASED or NOT_LEASED
 *   LEASED     u64 unit, u32 generation, u32 slot, u64 room, and, when the
 *              slot is new to this process, fd of it.  slot 0: no memory yet
 *              (bytes was 0): ROOM asks for it
 *   NOT_LEASED u32 enum stage_why
 *   ROOM       u32 pass, u64 unit, u32 generation, u64 bytes
 *                                               -> LEASED or NOT_LEASED
 *   PUBLISH    u32 pass, u64 unit, u32 generation, u64 bytes, u64 hash,
 *              u64 make_ns (of one thread, for all of it)       told
 *   GIVE_UP    u32 pass, u64 unit, u32 generation, u32 enum stage_give_up
 *                                                               told
 *   MAP        u32 pass, u32 slot               -> MAPPED, or refused
 *   MAPPED     u64 room, fd of the slot
 *   UNMAPPED   u32 slot                                         told
 *   NEWS       u32 pass: look at my seat        told
 *   END        u32 pass: no member any more; what it held is private  told
 *   LEAVE      u32 pass: not attached any more  told
 *   STAGE_STAT u32 after                        -> PASS_IS or DONE
 *   PASS_IS    u32 pass, text group, text key, u64 epoch, u64 units, u32 unit,
 *              then STAGE_PASS_WORDS u64 in the order of enum stage_pass_word
 *   STAGE_JOB  u32 pass, u32 after (a place + 1) -> MEMBER_IS or DONE
 *   MEMBER_IS  u32 place, u32 client, text name, u64 pid, u64 job,
 *              then STAGE_MEMBER_WORDS u64 in the order of
 *              enum stage_member_word
 *
 * group and key say which stream it is, byte for byte.  seeded: enum
 * stage_seeded.  unit is what the asker would like; the first one decides.
 * at: the unit where the asker begins, or STAGE_ANY; in ATTACH units of the
 * size that it would like, in BEGIN of the size that it was told.
 * pass: what ATTACHED said, which is the number of that attachment: a process
 * may have several at one pass.  In PASS_IS, STAGE_JOB and the board it is the
 * number of the pass itself.
 * All times are of CLOCK_MONOTONIC.
 */

#ifndef STAGE_MESSAGES_H
#define STAGE_MESSAGES_H

#include <stdint.h>

#include "hub/proto.h"

enum stage_message {
	MSG_ATTACH = MSG_STAGE_FIRST,
	MSG_ATTACHED,
	MSG_BEGIN,
	MSG_BEGUN,
	MSG_BEHIND,
	MSG_STAGE_LEASE,
	MSG_STAGE_LEASED,
	MSG_STAGE_NOT_LEASED,
	MSG_ROOM,
	MSG_STAGE_PUBLISH,
	MSG_STAGE_GIVE_UP,
	MSG_MAP,
	MSG_MAPPED,
	MSG_UNMAPPED,
	MSG_NEWS,
	MSG_END,
	MSG_LEAVE,
	MSG_STAGE_STAT,
	MSG_PASS_IS,
	MSG_STAGE_JOB,
	MSG_MEMBER_IS,
};

#define STAGE_GROUP_MAX		256u	/* bytes */
#define STAGE_KEY_MAX		2048u
#define STAGE_ANY		UINT64_MAX	/* wherever the others are */
#define STAGE_BYTES_MAX		(UINT64_C(1) << 40)

enum stage_seeded {
	STAGE_SEED_OWN,		/* the order is that of this seed */
	STAGE_SEED_HUB,		/* of the hub's, from the epoch it is in */
	STAGE_SEED_KEPT,	/* the hub's, as an earlier hub gave it */
};

enum stage_order {
	STAGE_RANDOM,		/* may be begun anywhere, and rotated */
	STAGE_ORDERED,
};

enum stage_why {
	STAGE_WAIT = 1,	/* nothing to make now: wait for your wake word */
	STAGE_NO_ROOM,	/* no memory: whoever needs the next unit now makes it
			 * for itself; else as STAGE_WAIT */
	STAGE_TOO_LARGE,/* it will never fit: the unit is ALONE now */
	STAGE_OVER,	/* all units of the pass are made; as STAGE_WAIT, for
			 * a maker may die */
};

enum stage_give_up {
	STAGE_LATER,	/* another may try */
	STAGE_ALONE,	/* it failed, or cannot be shared: each makes it */
};

enum stage_lag { STAGE_LAG_AUTO, STAGE_LAG_WAIT, STAGE_LAG_DETACH };

enum stage_pass_word {
	STAGE_PASS_BASE,	/* the first unit that is kept */
	STAGE_PASS_FRONT,	/* the first that nobody was given yet */
	STAGE_PASS_WINDOW,
	STAGE_PASS_MEMBERS,
	STAGE_PASS_MADE,	/* units published */
	STAGE_PASS_DELIVERED,	/* units taken, by all members */
	STAGE_PASS_ALONE,	/* units that each makes itself */
	STAGE_PASS_LATE,	/* publishes refused by their generation */
	STAGE_PASS_REVOKED,	/* leases of those who died or were late */
	STAGE_PASS_DETACHED,	/* members that were, ever */
	STAGE_PASS_BYTES,	/* of slots in use */
	STAGE_PASS_SEED,	/* of the stream's order */
	STAGE_PASS_WORDS
};

enum stage_member_word {
	STAGE_MEMBER_STATE,	/* enum place_state (line.h) */
	STAGE_MEMBER_TAKEN,
	STAGE_MEMBER_RELEASED,
	STAGE_MEMBER_SAMPLES_PER_KS,	/* received in the last 10 s, per 1000 s */
	STAGE_MEMBER_WAITS_PID,		/* of whom it waits for; 0: nobody */
	STAGE_MEMBER_WAITS_NS,		/* for how long now */
	STAGE_MEMBER_WAITED_NS,		/* in all, for other members */
	STAGE_MEMBER_MADE,		/* units that it made */
	STAGE_MEMBER_LEASES,		/* out now */
	STAGE_MEMBER_WORDS
};

#endif
