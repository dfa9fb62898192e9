/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_cuda.h: what tests want to reach of the CUDA checks.
 * Runs in the command only.
 */

#ifndef TOOL_DOCTOR_CUDA_H
#define TOOL_DOCTOR_CUDA_H

#include "tool/doctor.h"

const struct doctor_verdict *doctor_cuda_verdict(int result);
	/* What it means that a call of the driver gave this CUresult. */

#endif
