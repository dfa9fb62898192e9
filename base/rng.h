/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.h: random numbers that depend on where they are drawn, and on nothing
 * that was drawn before.  Runs in every process.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", 2011): a block of four numbers is a function of a key and
 * a counter.  Key: the seed.  Counter: purpose, epoch, position and how many
 * blocks were taken there.  So any process can draw again what another drew.
 */

#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

enum rng_purpose { RNG_ORDER = 1, RNG_SAMPLE = 2 };

struct rng {
	uint32_t	key[2];
	uint32_t	counter[4];	/* blocks and purpose, epoch, position */
	uint32_t	block[4];
	unsigned	left;		/* numbers of the block */
};

void rng_init(struct rng *r, enum rng_purpose purpose, uint64_t seed,
    uint64_t epoch, uint64_t position);
	/* Of the epoch the lower 32 bits count; up to 2^26 numbers. */

uint32_t rng_next(struct rng *r);

double rng_unit(struct rng *r);
	/* From 0 to below 1, in steps of 2^-53. */

uint64_t rng_below(struct rng *r, uint64_t limit);
	/* 0 to limit - 1, each as likely; limit is above 0. */

void rng_philox(const uint32_t key[2], const uint32_t counter[4],
    uint32_t block[4]);

#endif
