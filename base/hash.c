/* SPDX-License-Identifier: Apache-2.0
 *
 * hash.c: digests of what is compared.  Runs in every process; pure.
 */

#include <config.h>

#include "base/hash.h"

#include <string.h>

/*--- of 64 bits ----------------------------------------------------------*/

uint64_t
hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++)
		hash = hash_byte(hash, p[i]);
	return hash;
}

uint64_t
hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t
hash_number(uint64_t hash, uint64_t n)
{
	for (int i = 0; i < 8; i++, n >>= 8)
		hash = hash_byte(hash, n & 0xff);
	return hash;
}

/*--- of 128 bits ---------------------------------------------------------*/

/* The prime is 2^88 + PRIME_LOW. */
#define PRIME_LOW	UINT64_C(0x13b)

static void
multiply(struct hash128 *h)
{
	uint64_t lower = (h->low & UINT32_MAX) * PRIME_LOW;
	uint64_t upper = (h->low >> 32) * PRIME_LOW + (lower >> 32);

	h->high = h->high * PRIME_LOW + (upper >> 32) + (h->low << 24);
	h->low = upper << 32 | (lower & UINT32_MAX);
}

void
hash128_bytes(struct hash128 *hash, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++) {
		hash->low ^= p[i];
		multiply(hash);
	}
}

void
hash128_text(struct hash128 *hash, const char *text)
{
	hash128_bytes(hash, text, strlen(text) + 1);
}

void
hash128_number(struct hash128 *hash, uint64_t n)
{
	unsigned char bytes[8];

	for (int i = 0; i < 8; i++, n >>= 8)
		bytes[i] = n & 0xff;
	hash128_bytes(hash, bytes, sizeof bytes);
}
