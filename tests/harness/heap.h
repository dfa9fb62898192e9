/* SPDX-License-Identifier: Apache-2.0
 *
 * heap.h: how much of the heap is in use, to the byte.
 *
 * mallinfo(3) cannot tell: what was freed and lies in a thread's cache counts
 * as used there.
 */

#ifndef HARNESS_HEAP_H
#define HARNESS_HEAP_H

#include <stddef.h>

/* A sanitizer has its own allocator, and its own leak check at exit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_IS_SANITIZED 1
#endif
#endif
#ifndef HEAP_IS_SANITIZED
#define HEAP_IS_SANITIZED 0
#endif

size_t heap_bytes_in_use(void);
size_t heap_blocks_in_use(void);
	/* By all threads; 0 under a sanitizer.  A block may have up to 16 bytes
	 * more than were asked for, as it happens. */

#endif
