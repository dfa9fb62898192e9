/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate_step.c: what the emulated accelerator does to a batch.
 * Runs in the command only, in the job's thread.
 */

#include <config.h>

#include <string.h>

#include "loader/emulate_job.h"

#define PAGE_BYTES	4096u
#define UNROLLED	4u	/* words at a time: memory is the limit, then */

/* Up to 8 bytes, the missing ones as zeros. */
static uint64_t
load(const unsigned char *p, size_t left)
{
	uint64_t word = 0;

	memcpy(&word, p, left < sizeof word ? left : sizeof word);
	return word;
}

static uint64_t
sum_words(const unsigned char *p, size_t len)
{
	uint64_t sum[UNROLLED] = { 0 }, word[UNROLLED];
	size_t i;

	for (i = 0; len - i >= sizeof word; i += sizeof word) {
		memcpy(word, p + i, sizeof word);
		for (unsigned k = 0; k < UNROLLED; k++)
			sum[k] += word[k];
	}
	for (; i < len; i += sizeof word[0])
		sum[0] += load(p + i, len - i);
	return sum[0] + sum[1] + sum[2] + sum[3];
}

/* One byte of each page; what that adds to the sum. */
static uint64_t
write_pages(unsigned char *p, size_t len)
{
	uint64_t more = 0, before;

	for (size_t i = 0; i < len; i += PAGE_BYTES) {
		before = load(p + i, len - i);
		p[i] ^= 0xff;
		more += load(p + i, len - i) - before;
	}
	return more;
}

uint64_t
emulate_touch(void *bytes, size_t len, enum emulate_touch how)
{
	uint64_t sum;

	if (how == TOUCH_NONE)
		return 0;
	sum = sum_words(bytes, len);
	if (how == TOUCH_WRITE)
		sum += write_pages(bytes, len);
	/* Reading is the purpose, not the sum: it must not be left out. */
	__asm__ volatile("" : : "r"(sum) : "memory");
	return sum;
}
