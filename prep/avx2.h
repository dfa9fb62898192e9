/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2.h: words of what is compiled for processors with AVX2, FMA and F16C.
 * Runs in clients, where kernels_avx2 works.
 */

#ifndef PREP_AVX2_H
#define PREP_AVX2_H

#include <immintrin.h>

#include "prep/kernels.h"

#define AVX2	__attribute__((target("avx2,fma,f16c")))
#define INLINE	AVX2 __attribute__((always_inline)) static inline

/* 16 bytes for each lane. */
INLINE __m256i
load_lanes(const void *lane0, const void *lane1)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(
	    _mm_loadu_si128(lane0)), _mm_loadu_si128(lane1), 1);
}

INLINE __m256i
load(const void *p)
{
	return _mm256_loadu_si256(p);
}

INLINE void
store(void *p, __m256i v)
{
	_mm256_store_si256(p, v);
}

void emit_avx2(void *sample, const struct emit *e, uint32_t y,
    const uint8_t *line, size_t plane);

#endif
