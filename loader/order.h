/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h: the order of an epoch: a permutation of the samples.
 * Runs in clients.
 *
 *  1. It is a function of the number of samples, the seed and the epoch, on
 *     every machine: whoever knows them can make it again.
 *  2. Each permutation is as likely as any other.
 */

#ifndef LOADER_ORDER_H
#define LOADER_ORDER_H

#include <stdint.h>

#define ORDER_MAX	(UINT64_C(1) << 32)	/* samples */

void order_make(uint32_t *order, uint64_t nr, uint64_t seed, uint64_t epoch);
	/* order[position] is the sample; nr is at most ORDER_MAX. */

#endif
