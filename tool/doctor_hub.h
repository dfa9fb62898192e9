/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_hub.h: whose limits the hub lives under.  Runs in the command only.
 */

#ifndef TOOL_DOCTOR_HUB_H
#define TOOL_DOCTOR_HUB_H

#include <stdint.h>

#include "tool/doctor.h"

const struct doctor_verdict *doctor_hub_verdict(const char *group,
    const char *ours, uint64_t limit_bytes);
	/* For the hub's memory group and ours, and the least limit above the
	 * hub's (CGROUP_NO_LIMIT if there is none). */

#endif
