/* SPDX-License-Identifier: Apache-2.0
 *
 * job.c: which job this process belongs to.  Runs in clients, in any of their
 * threads, and in the command.
 */

#include <config.h>

#include "hub/job.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/hash.h"

#define DIGITS	16u

/* 0: none; so is anything that is no token. */
static uint64_t
read_token(const char *text)
{
	if (text == NULL || strlen(text) != DIGITS ||
	    strspn(text, "0123456789abcdefABCDEF") != DIGITS)
		return 0;
	return strtoull(text, NULL, 16);
}

static uint64_t
not_zero(uint64_t n)
{
	return n != 0 ? n : 1;
}

/* Early in the life of a machine the kernel has no random numbers yet. */
uint64_t
job_draw(void)
{
	uint64_t n;

	if (getrandom(&n, sizeof n, GRND_NONBLOCK) != sizeof n)
		n = hash_number(hash_number(HASH_BEGIN, (uint64_t)getpid()),
		    clock_now_ns());
	return not_zero(n);
}

/* Of several threads that ask at the same time one draws it for all. */
static uint64_t
find_own(void)
{
	static _Atomic uint64_t own;
	uint64_t found = 0, drawn = job_draw();

	/* relaxed: the number speaks for nothing else */
	return atomic_compare_exchange_strong_explicit(&own, &found, drawn,
	    memory_order_relaxed, memory_order_relaxed) ? drawn : found;
}

uint64_t
job_token(const char *name)
{
	uint64_t job = read_token(name);

	if (job != 0)
		return job;
	job = read_token(env_get("DESTALL_JOB"));
	if (job == 0)
		job = find_own();
	return name == NULL ? job :
	    not_zero(hash_text(hash_number(HASH_BEGIN, job), name));
}
