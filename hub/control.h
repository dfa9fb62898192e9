/* SPDX-License-Identifier: Apache-2.0
 *
 * control.h: the control segment: what the hub tells everyone without being
 * asked.  Written by the hub; runs in hub and clients.
 *
 *  1. One writer, the hub's loop; every word is an atomic of its own, so a
 *     reader sees each of them whole, and any two of them at slightly
 *     different times.
 *  2. Nothing a client does depends on a number here: they are for people.
 */

#ifndef HUB_CONTROL_H
#define HUB_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/segment.h"

struct control {
	struct segment_head	head;
	uint64_t		pid;		/* in the hub's own namespace */
	uint64_t		started_ns;	/* CLOCK_MONOTONIC */
	_Atomic uint64_t	nr_clients;
	_Atomic uint64_t	nr_connects;	/* since the start */
	_Atomic uint64_t	nr_deaths;	/* clients gone without a close */
	_Atomic uint64_t	nr_refused;	/* hellos */
	_Atomic uint64_t	nr_expelled;	/* for what they sent */
	_Atomic uint64_t	turns;
	_Atomic uint64_t	turns_over_1ms;	/* of processor time */
	_Atomic uint64_t	longest_turn_cpu_ns;
	_Atomic uint64_t	longest_turn_wall_ns;
	_Atomic uint64_t	budget_bytes;
	_Atomic uint64_t	used_bytes;
};

extern const struct segment_kind control_kind;

#endif
