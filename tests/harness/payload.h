/* SPDX-License-Identifier: Apache-2.0
 *
 * payload.h: what tests of the stage make units of: bytes that are a function
 * of epoch and unit, so that every one of them can be checked.
 */

#ifndef HARNESS_PAYLOAD_H
#define HARNESS_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t
payload_word(uint64_t epoch, uint64_t unit, size_t i)
{
	uint64_t x = (epoch + 1) * UINT64_C(0x9e3779b97f4a7c15) + unit + 1;

	x = (x ^ (uint64_t)i * UINT64_C(0xff51afd7ed558ccd)) *
	    UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 29;
}

static inline uint64_t
payload_hash(uint64_t epoch, uint64_t unit)
{
	return payload_word(epoch, unit, SIZE_MAX);
}

/* The last bytes that make no word are left alone. */
static inline void
payload_fill(void *bytes, size_t len, uint64_t epoch, uint64_t unit)
{
	for (size_t i = 0; i < len / 8; i++) {
		uint64_t word = payload_word(epoch, unit, i);

		memcpy((char *)bytes + i * 8, &word, sizeof word);
	}
}

static inline bool
payload_is(const void *bytes, size_t len, uint64_t epoch, uint64_t unit)
{
	for (size_t i = 0; i < len / 8; i++) {
		uint64_t word = payload_word(epoch, unit, i);

		if (memcmp((const char *)bytes + i * 8, &word,
		    sizeof word) != 0)
			return false;
	}
	return true;
}

#endif
