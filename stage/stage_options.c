/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_options.c: how a stream is shared, set by names and texts.
 * Runs in clients.
 *
 * As in prep/settings.c the texts of options[] are the defaults.
 */

#include <config.h>

#include "stage/stage_options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/args.h"
#include "base/env.h"
#include "base/must.h"
#include "base/parse.h"
#include "stage/line.h"

#define SAMPLES_MAX	(UINT64_C(1) << 40)
#define UNIT_MAX	(UINT64_C(1) << 30)
#define THREADS_MAX	4096u
#define KEPT		"kept:"

/*--- values that have two forms ------------------------------------------*/

static int
copy_text(char *field, size_t max, const char *text, struct ds_err *err)
{
	size_t len = strlen(text);

	if (len > max)
		return err_fail(err, -ERANGE, "longer than %zu bytes", max);
	memcpy(field, text, len + 1);
	return 0;
}

static int
copy_stream(const char *text, void *field, struct ds_err *err)
{
	return copy_text(field, STAGE_KEY_MAX, text, err);
}

static int
copy_group(const char *text, void *field, struct ds_err *err)
{
	return copy_text(field, STAGE_GROUP_MAX, text, err);
}

static int
read_seed(const char *text, void *field, struct ds_err *err)
{
	struct stage_seed s = { .seeded = STAGE_SEED_OWN };
	int rc;

	if (strcmp(text, "hub") == 0) {
		*(struct stage_seed *)field =
		    (struct stage_seed){ .seeded = STAGE_SEED_HUB };
		return 0;
	}
	if (strncmp(text, KEPT, strlen(KEPT)) == 0) {
		s.seeded = STAGE_SEED_KEPT;
		text += strlen(KEPT);
	}
	rc = parse_count(text, 0, UINT64_MAX, &s.seed, err);
	if (rc < 0)
		return rc;
	*(struct stage_seed *)field = s;
	return 0;
}

/* A bare number counts batches; everything else is a size. */
static int
read_window(const char *text, void *field, struct ds_err *err)
{
	struct stage_window w = { 0 };
	int rc = 0;

	if (text[0] != '\0' && strspn(text, "0123456789") == strlen(text))
		rc = parse_count(text, 1, SAMPLES_MAX, &w.units, err);
	else if (text[0] != '\0')
		rc = parse_size(text, &w.bytes, err);
	if (rc == 0 && text[0] != '\0' && w.units == 0 && w.bytes == 0)
		rc = err_fail(err, -ERANGE, "no bytes are no window");
	if (rc < 0)
		return rc;
	*(struct stage_window *)field = w;
	return 0;
}

static int
read_lag(const char *text, void *field, struct ds_err *err)
{
	return lag_parse(text, field, err);
}

/*--- the tables ----------------------------------------------------------*/

static const char *const orders[] = { "random", "listed", NULL };

#define FIELD(member)	offsetof(struct stage_options, member)

static const struct arg_option table[] = {
	{ .name = "stream", .kind = ARG_PARSED, .offset = FIELD(stream),
	  .value = "TEXT", .parse = copy_stream },
	{ .name = "group", .kind = ARG_PARSED, .offset = FIELD(group),
	  .value = "NAME", .parse = copy_group },
	{ .name = "seed", .kind = ARG_PARSED, .offset = FIELD(seed),
	  .value = "N, hub or kept:N", .parse = read_seed },
	{ .name = "samples", .kind = ARG_COUNT, .offset = FIELD(samples),
	  .value = "N", .max = SAMPLES_MAX },
	{ .name = "unit", .kind = ARG_COUNT, .offset = FIELD(unit),
	  .value = "N", .min = 1, .max = UNIT_MAX },
	{ .name = "order", .kind = ARG_CHOICE, .offset = FIELD(order),
	  .value = "random or listed", .choices = orders },
	{ .name = "bytes", .kind = ARG_COUNT, .offset = FIELD(bytes),
	  .value = "N", .max = STAGE_BYTES_MAX },
	{ .name = "threads", .kind = ARG_COUNT, .offset = FIELD(threads),
	  .value = "N", .min = 1, .max = THREADS_MAX },
	{ .name = "makers", .kind = ARG_COUNT, .offset = FIELD(makers),
	  .value = "N", .max = THREADS_MAX },
	{ .name = "ahead", .kind = ARG_COUNT, .offset = FIELD(ahead),
	  .value = "N", .min = 1, .max = LINE_RING },
	{ .name = "window", .kind = ARG_PARSED, .offset = FIELD(window),
	  .value = "N or SIZE", .parse = read_window },
	{ .name = "lag", .kind = ARG_PARSED, .offset = FIELD(lag),
	  .value = "auto, wait:60s or detach:5s", .parse = read_lag },
	{ .name = NULL },
};

static const struct ds_option options[] = {
	{ "stream", "", "what is delivered: equal for two jobs exactly if they "
	  "would make the same bytes" },
	{ "group", "", "jobs share only within one; DESTALL_GROUP" },
	{ "seed", "hub", "of the order: a number; hub: drawn by the hub, the "
	  "same for all; kept:N: what the hub drew, saved by an earlier job" },
	{ "samples", "0", "in an epoch; must be set" },
	{ "unit", "1", "samples that are made together, usually a batch; the "
	  "first job decides" },
	{ "order", "random", "random: an epoch may be begun anywhere; listed: "
	  "it is delivered from its first sample" },
	{ "bytes", "0", "of a unit; 0: only known when it is made" },
	{ "threads", "1", "that make a unit together" },
	{ "makers", "1", "threads or processes of this job that make units" },
	{ "ahead", "4", "units that are made before a job asks for them" },
	{ "window", "", "how far jobs may be apart: units (16) or bytes (2G); "
	  "DESTALL_WINDOW" },
	{ "lag", "auto", "how long to wait for slower jobs: auto, wait:60s or "
	  "detach:5s; DESTALL_LAG" },
	{ NULL, NULL, NULL },
};

static const struct { const char *variable, *name; } variables[] = {
	{ "DESTALL_GROUP", "group" },
	{ "DESTALL_WINDOW", "window" },
	{ "DESTALL_LAG", "lag" },
};

const struct ds_option *
ds_stage_options(void)
{
	return options;
}

/*--- setting -------------------------------------------------------------*/

static int
read_environment(struct stage_options *o, struct ds_err *err)
{
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *value = env_get(variables[i].variable);
		struct ds_err why = { 0 };
		int rc;

		if (value == NULL || value[0] == '\0')
			continue;
		rc = args_set(table, o, variables[i].name, value, &why);
		if (rc < 0)
			return err_fail(err, -EINVAL, "%s: %s",
			    variables[i].variable, why.text);
	}
	return 0;
}

int
stage_options_init(struct stage_options *o, struct ds_err *err)
{
	*o = (struct stage_options){ .stream = "" };
	for (const struct ds_option *d = options; d->name != NULL; d++)
		must(args_set(table, o, d->name, d->value, NULL) == 0);
	return read_environment(o, err);
}

int
stage_options_set(struct stage_options *o, const char *name,
    const char *value, struct ds_err *err)
{
	return args_set(table, o, name, value, err);
}

int
stage_options_check(const struct stage_options *o, struct ds_err *err)
{
	if (o->stream[0] == '\0')
		return err_fail(err, -EINVAL, "a stream needs a text that says "
		    "what it is: set the option 'stream'");
	if (o->samples == 0)
		return err_fail(err, -EINVAL, "a stream needs samples: set the "
		    "option 'samples'");
	return 0;
}
