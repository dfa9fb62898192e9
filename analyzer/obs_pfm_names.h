/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_pfm_names.h: hardware events by name.  Runs in the command only.
 */

#ifndef ANALYZER_OBS_PFM_NAMES_H
#define ANALYZER_OBS_PFM_NAMES_H

#include <stdint.h>

#include "base/err.h"

enum pfm_event { PFM_CYCLES, PFM_INSTRUCTIONS, PFM_LLC_REFERENCES,
    PFM_LLC_MISSES, PFM_EVENTS };

struct pfm_code {		/* as struct perf_event_attr has it */
	uint32_t	type;
	uint64_t	config, config1, config2;
};

int pfm_names_find(struct pfm_code code[PFM_EVENTS], struct ds_err *err);
	/* As libpfm4 knows them on this processor.  -errno if it is not there:
	 * then, as for names that it does not know, the kernel's generic ones,
	 * so that code[] is filled always. */

#endif
