/* SPDX-License-Identifier: Apache-2.0
 *
 * json_fields.c: the members of a profile's JSON that are plain numbers.
 * Runs in the command only.
 */

#include <config.h>

#include "reports/json_fields.h"

#define RUN(member)	.offset = offsetof(struct result, member)
#define JOB(member)	.offset = offsetof(struct result_job, member)

const struct json_field json_run_fields[] = {
	{ "seconds", FIELD_NUMBER, RUN(seconds) },
	{ "startup_seconds", FIELD_NUMBER, RUN(startup_s) },
	{ "measured_seconds", FIELD_NUMBER, RUN(measured_s) },
	{ "starts", FIELD_COUNT, RUN(starts) },
	{ .key = NULL },
};

const struct json_field json_job_fields[] = {
	{ "batch_size", FIELD_COUNT, JOB(batch_size) },
	{ "workers", FIELD_COUNT, JOB(workers) },
	{ "prefetch", FIELD_COUNT, JOB(prefetch) },
	{ "ranks", FIELD_COUNT, JOB(ranks) },
	{ "samples_per_epoch", FIELD_COUNT, JOB(samples),
	  .zero_is_unknown = true },
	{ "cores", FIELD_NUMBER, JOB(cores) },
	{ "bytes_per_sample", FIELD_NUMBER, JOB(bytes_per_sample),
	  .zero_is_unknown = true },
	{ "resident_share", FIELD_NUMBER, JOB(resident),
	  .negative_is_unknown = true },
	{ "fetch_s_per_sample", FIELD_NUMBER, JOB(fetch_s) },
	{ "prep_s_per_sample", FIELD_NUMBER, JOB(prep_s) },
	{ "prep_cpu_s_per_sample", FIELD_NUMBER, JOB(prep_cpu_s) },
	{ "handover_s_per_sample", FIELD_NUMBER, JOB(handover_s) },
	{ "is_pipelined", FIELD_FLAG, JOB(is_pipelined) },
	{ "is_iterable", FIELD_FLAG, JOB(is_iterable) },
	{ .key = NULL },
};
