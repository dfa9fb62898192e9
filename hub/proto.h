/* SPDX-License-Identifier: Apache-2.0
 *
 * proto.h: the messages between the hub and its clients.
 * Runs in hub and clients.
 *
 * A client asks, the hub answers with the serial of the request; nothing comes
 * unasked.  A request that needs no answer is said to be told.
 *
 *  1. The first frame of a client is MSG_HELLO, and its layout never changes,
 *     so that two versions can refuse each other in words.
 *  2. Any request may be answered by MSG_REFUSED.
 *  3. A frame that cannot be read, or comes before the hello, ends the
 *     connection.
 *
 * Bodies, in order; u32, u64, and text or bytes with their count:
 *
 *   HELLO      text version, u64 job       -> WELCOME
 *   WELCOME    u64 generation, u32 client, fd control segment
 *   REFUSED    u32 errno, text sentence
 *   DONE       nothing
 *   PING       nothing                     -> DONE
 *   STOP       nothing                     -> DONE, and the hub leaves
 *
 * Those of the cache: cache/messages.h; of the stage: stage/messages.h.
 */

#ifndef HUB_PROTO_H
#define HUB_PROTO_H

enum hub_message {
	MSG_HELLO = 1,
	MSG_WELCOME,
	MSG_REFUSED,
	MSG_DONE,
	MSG_PING,
	MSG_STOP,
	MSG_CACHE_FIRST = 0x100,
	MSG_CACHE_LAST = 0x1ff,
	MSG_STAGE_FIRST = 0x200,
	MSG_STAGE_LAST = 0x2ff,
};

#define HUB_VERSION_MAX	64u	/* bytes of a version */

#endif
