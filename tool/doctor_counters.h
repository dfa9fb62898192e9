/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_counters.h: the checks of counters that have a file of their own,
 * and what tests want to reach.  Runs in the command only.
 */

#ifndef TOOL_DOCTOR_COUNTERS_H
#define TOOL_DOCTOR_COUNTERS_H

#include "tool/doctor.h"

enum perf_kind { PERF_SOFTWARE, PERF_CYCLES_USER, PERF_CYCLES_ALL };

const struct doctor_verdict *doctor_perf_verdict(enum perf_kind kind, int e);
	/* What it means that perf_event_open(2) gave this errno; 0 is none. */

const struct doctor_verdict *doctor_paranoid_verdict(int paranoid);
	/* Of the setting alone, -1 to 4; -2 where there is none. */

void doctor_pfm(struct doctor_report *r);
	/* libpfm4: the names of hardware events. */

#endif
