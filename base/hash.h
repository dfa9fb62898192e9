/* SPDX-License-Identifier: Apache-2.0
 *
 * hash.h: digests of what is compared, FNV-1a of 64 and of 128 bits.
 * Runs in every process; pure.
 *
 * Two things that differ by accident have different digests, but for the odds
 * of their length.  Who wants to can find others: nothing that is hostile may
 * be told apart by them.
 *
 * A digest goes on from an earlier one, beginning with HASH_BEGIN; numbers are
 * taken as eight bytes, the lowest first, on every machine.
 */

#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN	UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME	UINT64_C(0x100000001b3)

static inline uint64_t
hash_byte(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * HASH_PRIME;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len);
uint64_t hash_text(uint64_t hash, const char *text);
	/* With its end: two texts are not one longer one. */
uint64_t hash_number(uint64_t hash, uint64_t n);

struct hash128 {
	uint64_t high, low;
};

#define HASH128_BEGIN	{ UINT64_C(0x6c62272e07bb0142), \
			  UINT64_C(0x62b821756295c58d) }

void hash128_bytes(struct hash128 *hash, const void *bytes, size_t len);
void hash128_text(struct hash128 *hash, const char *text);
void hash128_number(struct hash128 *hash, uint64_t n);

#endif
