/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.c: random numbers that depend on where they are drawn.
 * Runs in every process.
 */

#include <config.h>

#include "base/rng.h"

#include "base/must.h"

#define ROUNDS		10
#define PURPOSE_SHIFT	24	/* above the number of blocks */

/* The constants of the paper. */
#define MULTIPLY_0	UINT64_C(0xd2511f53)
#define MULTIPLY_1	UINT64_C(0xcd9e8d57)
#define WEYL_0		UINT32_C(0x9e3779b9)
#define WEYL_1		UINT32_C(0xbb67ae85)

void
rng_philox(const uint32_t key[2], const uint32_t counter[4],
    uint32_t block[4])
{
	uint32_t k0 = key[0], k1 = key[1];
	uint32_t c0 = counter[0], c1 = counter[1];
	uint32_t c2 = counter[2], c3 = counter[3];

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t p0 = MULTIPLY_0 * c0, p1 = MULTIPLY_1 * c2;

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)p1;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)p0;
		k0 += WEYL_0;
		k1 += WEYL_1;
	}
	block[0] = c0;
	block[1] = c1;
	block[2] = c2;
	block[3] = c3;
}

void
rng_init(struct rng *r, enum rng_purpose purpose, uint64_t seed,
    uint64_t epoch, uint64_t position)
{
	*r = (struct rng){
	    .key = { (uint32_t)seed, (uint32_t)(seed >> 32) },
	    .counter = { (uint32_t)purpose << PURPOSE_SHIFT, (uint32_t)epoch,
		(uint32_t)position, (uint32_t)(position >> 32) },
	};
}

uint32_t
rng_next(struct rng *r)
{
	if (r->left == 0) {
		rng_philox(r->key, r->counter, r->block);
		r->counter[0]++;
		r->left = 4;
	}
	return r->block[--r->left];
}

static uint64_t
next_64(struct rng *r)
{
	uint64_t high = rng_next(r);

	return high << 32 | rng_next(r);
}

double
rng_unit(struct rng *r)
{
	return (double)(next_64(r) >> 11) * 0x1p-53;
}

/* Numbers past the last whole multiple of limit are drawn again. */
uint64_t
rng_below(struct rng *r, uint64_t limit)
{
	uint64_t rest, n;

	must(limit > 0);
	rest = (0 - limit) % limit;	/* 2^64 mod limit */
	do
		n = next_64(r);
	while (n < rest);
	return n % limit;
}
