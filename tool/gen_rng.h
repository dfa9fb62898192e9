/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_rng.h: the random numbers of `destall gen`.  Runs in the command only.
 *
 * Counter-based: the n-th number of a stream is a function of (seed, image,
 * stream, n) and of nothing else, so an image does not depend on which thread
 * makes it, or when.  The function is the output mix of SplitMix64 (Steele,
 * Lea and Flood, 2014) over an arithmetic sequence.
 */

#ifndef TOOL_GEN_RNG_H
#define TOOL_GEN_RNG_H

#include <stdint.h>

/* What the numbers of an image are for; each has a sequence of its own, so
 * that drawing more of one does not change another. */
enum gen_stream {
	GEN_STREAM_SIZE = 1, GEN_STREAM_TEXTURE, GEN_STREAM_LEAVES,
	GEN_STREAM_NOISE,
	/* of the demo, for each epoch */
	GEN_STREAM_ORDER, GEN_STREAM_VICTIM,
};

struct gen_rng {
	uint64_t at;
};

static inline uint64_t
gen_rng_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#define GEN_RNG_STEP	UINT64_C(0x9e3779b97f4a7c15)

static inline void
gen_rng_init(struct gen_rng *r, uint64_t seed, uint64_t index,
    enum gen_stream stream)
{
	uint64_t key = gen_rng_mix(seed + GEN_RNG_STEP);

	key = gen_rng_mix(key + index * GEN_RNG_STEP);
	r->at = gen_rng_mix(key + (uint64_t)stream * GEN_RNG_STEP);
}

static inline uint64_t
gen_rng_next(struct gen_rng *r)
{
	r->at += GEN_RNG_STEP;
	return gen_rng_mix(r->at);
}

/* low to high, both included. */
static inline int
gen_rng_range(struct gen_rng *r, int low, int high)
{
	uint64_t span = (uint64_t)(high - low) + 1;

	return low + (int)(((gen_rng_next(r) >> 32) * span) >> 32);
}

#endif
