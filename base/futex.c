/* SPDX-License-Identifier: Apache-2.0
 *
 * futex.c: waiting for a word in memory that processes share.
 * Runs in hub and clients.
 */

#include <config.h>

#include "base/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* Not private: hub and clients have maps of their own, a read-only one will
 * do to wait. */
static int
sleep_on(const _Atomic uint32_t *word, uint32_t seen, uint64_t left_ns)
{
	struct timespec left = {
		.tv_sec = (time_t)(left_ns / NS_PER_S),
		.tv_nsec = (long)(left_ns % NS_PER_S),
	};

	if (syscall(SYS_futex, word, FUTEX_WAIT, seen, &left, NULL, 0) == 0)
		return 0;
	return -errno;
}

int
futex_wait(const _Atomic uint32_t *word, uint32_t seen, uint64_t deadline_ns)
{
	uint64_t now;
	int rc;

	for (;;) {
		/* acquire: pairs with the release in futex_wake() */
		if (atomic_load_explicit(word, memory_order_acquire) != seen)
			return 0;
		now = clock_now_ns();
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		rc = sleep_on(word, seen, deadline_ns - now);
		if (rc < 0 && rc != -EINTR && rc != -EAGAIN && rc != -ETIMEDOUT)
			return rc;
	}
}

void
futex_wake(_Atomic uint32_t *word)
{
	/* release: pairs with the acquire of those who load the word before
	 * they look; what changed comes first */
	atomic_fetch_add_explicit(word, 1, memory_order_release);
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
