/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_doctor.c: `destall doctor`: what works on this machine, what does not,
 * what that means, and how to enable it.  Runs in the command only.
 */

#include <config.h>

#include <stdlib.h>

#include "base/command.h"
#include "base/say.h"
#include "tool/doctor.h"

extern const struct command cmd_doctor;

struct doctor_options {
	bool		json;
	const char	*output;
};

static const struct arg_option options[] = {
	{ .name = "json", .kind = ARG_FLAG,
	  .offset = offsetof(struct doctor_options, json),
	  .help = "write one JSON document instead of text" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT,
	  .offset = offsetof(struct doctor_options, output), .value = "FILE",
	  .help = "with --json: write it to FILE instead of standard output" },
	{ .name = NULL },
};

static const struct doctor_options defaults = { 0 };

static const struct {
	const char *name;
	void (*run)(struct doctor_report *r);
} groups[] = {
	{ "Kernel", doctor_kernel },
	{ "Limits", doctor_limits },
	{ "Limits", doctor_runtime },
	{ "Limits", doctor_hub },
	{ "Counters", doctor_counters },
	{ "Accelerator", doctor_cuda },
	{ "Python", doctor_python },
	{ "Benchmarks and tests", doctor_bench },
	{ "This build", doctor_build },
};

static int
run(const void *opts, int nr, char **operands)
{
	const struct doctor_options *o = opts;
	struct doctor_report *r;
	struct ds_err err;
	int rc;

	(void)nr;
	(void)operands;
	if (o->output != NULL && !o->json) {
		say("doctor: -o goes with --json (see 'destall doctor --help')");
		return STATUS_USAGE;
	}
	r = calloc(1, sizeof *r);
	if (r == NULL)
		say_no_memory();
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		r->group = groups[i].name;
		groups[i].run(r);
	}
	rc = o->json ? doctor_write_json(r, o->output, &err) :
	    doctor_print(r, &err);
	free(r);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "show what works on this machine, and how to enable the rest",
	.operands = "",
	.about = "Tries what destall needs and what it can use: kernel features, "
	    "limits of memory, processors and descriptors, hardware counters, "
	    "CUDA, Python and PyTorch, and what benchmarks need. Each row is "
	    "ok, limited or missing; for what is not ok it says what that "
	    "means and how to enable it. Nothing is changed or left behind.",
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
