/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_bench.h: what tests want to reach of the checks for benchmarks.
 * Runs in the command only.
 */

#ifndef TOOL_DOCTOR_BENCH_H
#define TOOL_DOCTOR_BENCH_H

#include "tool/doctor.h"

const struct doctor_verdict *doctor_group_verdict(int version, int e);
	/* What it means that a child cgroup, or the file in it that sets the
	 * limit (ENOENT), could not be had. */

const struct doctor_verdict *doctor_fuse_verdict(int e);
	/* The same of opening /dev/fuse. */

#endif
