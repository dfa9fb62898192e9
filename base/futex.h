/* SPDX-License-Identifier: Apache-2.0
 *
 * futex.h: waiting for a word in memory that processes share.
 * Runs in hub and clients.
 *
 * Who waits loads the word, looks at what it waits for, and sleeps until the
 * word is no longer what it was.  Who changes something increments the word
 * afterwards.  Nobody owns anything here: whoever is killed leaves nothing
 * behind.
 */

#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

int futex_wait(const _Atomic uint32_t *word, uint32_t seen,
    uint64_t deadline_ns);
	/* Until the word is no longer what was seen; a read-only map will do.
	 * 0, or -ETIMEDOUT.  The deadline is of CLOCK_MONOTONIC. */

void futex_wake(_Atomic uint32_t *word);
	/* Increments it, and wakes all who wait. */

#endif
