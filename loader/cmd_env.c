/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_env.c: `destall env`: lines for eval, after which jobs that are started
 * with DESTALL=1 read their data from the cache.  Runs in the command only.
 *
 *  1. Nothing is printed unless all of it holds.
 *  2. A shell reads back the same bytes, whatever they are; what it has evaluated
 *     once may be evaluated again.
 */

#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/say.h"
#include "loader/cmd_job.h"
#include "launch/job_env.h"
#include "launch/object.h"

/* Jobs may be a while in coming, and those that only read never start a hub. */
#define HUB_IDLE	"--idle=1h"

extern const struct command cmd_env;

static void
print_export(const char *name, const char *value)
{
	printf("export %s='", name);
	for (; *value != '\0'; value++) {
		if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	}
	puts("'");
}

/* What is put into jobs. */
struct parts {
	char	object[PATH_MAX];
	char	hook[PATH_MAX];		/* "": none */
};

static int
print_all(const struct job *j, const struct job_options *o,
    const struct parts *parts, struct ds_err *err)
{
	char *preload = job_env_preload(parts->object, getenv("LD_PRELOAD"));
	char *python = job_env_python(parts->hook, getenv("PYTHONPATH"));
	char *data = NULL;
	int rc = 0;

	if (preload == NULL || python == NULL)
		rc = err_fail(err, -ENOMEM, "out of memory");
	if (rc == 0 && j->roots.nr > 0)
		rc = roots_text(&j->roots, &data, err);
	if (rc == 0) {
		print_export("LD_PRELOAD", preload);
		if (parts->hook[0] != '\0')
			print_export("PYTHONPATH", python);
		if (data != NULL)
			print_export("DESTALL_DATA", data);
		if (o->cache != NULL)
			print_export("DESTALL_CACHE", o->cache);
	}
	free(data);
	free(python);
	free(preload);
	return rc;
}

static int
prepare(struct job *j, const struct job_options *o, struct parts *parts,
    struct ds_err *err)
{
	char idle[] = HUB_IDLE, *hub_options[] = { idle, NULL };
	int rc;

	rc = job_init(j, "env", o, err);
	if (rc == 0)
		rc = job_find_roots(j, o, 0, NULL, err);
	if (rc == 0)
		rc = object_find(parts->object, err);
	if (rc == 0)
		job_find_hook(j, parts->hook);
	if (rc == 0)
		rc = job_connect(j, hub_options, err);
	return rc == 0 ? job_open_data(j, err) : rc;
}

static int
run(const void *opts, int nr, char **operands)
{
	const struct job_options *o = opts;
	struct parts parts;
	struct ds_err err;
	struct job j;
	int rc;

	(void)nr;
	(void)operands;
	rc = prepare(&j, o, &parts, &err);
	if (rc == 0)
		rc = print_all(&j, o, &parts, &err);
	if (rc == 0 && j.roots.nr == 0)
		job_tell_none(&j, parts.hook);
	job_fini(&j);
	if (rc == 0)
		return STATUS_OK;
	say("env: %s", err.text);
	return STATUS_FAILED;
}

const struct command cmd_env = {
	.name = "env",
	.summary = "print the variables that let jobs use the cache, for eval",
	.operands = "",
	.about = "Starts the hub, lists the data sets, and prints lines for the "
	    "shell: eval \"$(destall env --data DIR)\". After that every command "
	    "of the shell that is started with DESTALL=1 reads the data sets "
	    "through the cache, and shares with others, as with destall run.",
	.options = job_options,
	.defaults = &job_defaults,
	.options_size = sizeof job_defaults,
	.run = run,
};
