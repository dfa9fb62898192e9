/* SPDX-License-Identifier: Apache-2.0
 *
 * content.h: bytes that tell from which item they are, so that a test can see
 * that a reader got the right ones without reading them from storage again.
 */

#ifndef TESTS_HARNESS_CONTENT_H
#define TESTS_HARNESS_CONTENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t
content_mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Of an item by its last name, whatever folder it is in, and its length. */
static inline uint64_t
content_seed(const char *name, size_t len)
{
	const char *slash = strrchr(name, '/');
	uint64_t seed = len;

	for (name = slash != NULL ? slash + 1 : name; *name != '\0'; name++)
		seed = content_mix(seed ^ (uint64_t)(unsigned char)*name);
	return seed;
}

static inline void
content_fill(uint8_t *bytes, size_t len, uint64_t seed)
{
	for (size_t at = 0; at < len; at += 8) {
		uint64_t word = content_mix(seed + at);

		memcpy(bytes + at, &word, len - at < 8 ? len - at : 8);
	}
}

static inline int
content_is(const void *bytes, size_t len, uint64_t seed)
{
	const uint8_t *b = bytes;

	for (size_t at = 0; at < len; at += 8) {
		uint64_t word = content_mix(seed + at);

		if (memcmp(b + at, &word, len - at < 8 ? len - at : 8) != 0)
			return 0;
	}
	return 1;
}

#endif
