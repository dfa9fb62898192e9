/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_python.c: a Python that can run the demo's job.
 * Runs in the command only, the Python as a child with a deadline.
 */

#include <config.h>

#include "tool/demo_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/hook.h"
#include "tool/doctor_child.h"

#define LIMIT_MS	10000u

/* To import them takes seconds. */
static const char question[] =
    "import importlib.util, sys\n"
    "sys.exit(any(importlib.util.find_spec(m) is None\n"
    "    for m in ('torch', 'PIL')))\n";

static void
ask(int out, void *arg)
{
	const char *python = arg;

	(void)out;
	(void)setenv("DESTALL", "0", 1);
	(void)execlp(python, python, "-c", question, (char *)NULL);
	_exit(127);
}

static bool
has_torch(const char *python)
{
	struct child c;
	char name[PATH_MAX];

	(void)snprintf(name, sizeof name, "%s", python);
	child_ask(&c, ask, name, LIMIT_MS);
	return c.end == CHILD_DONE && c.code == 0;
}

/* In the package, which is around the folder of the hook. */
static bool
find_script(char script[PATH_MAX])
{
	static const char name[] = "/_demo.py";
	char *slash;

	if (hook_find(script, NULL) < 0 || script[0] == '\0')
		return false;
	slash = strrchr(script, '/');
	if (slash == NULL || (size_t)(slash - script) + sizeof name > PATH_MAX)
		return false;
	strcpy(slash, name);
	return access(script, R_OK) == 0;
}

static bool
link_script(const char *dir)
{
	char script[PATH_MAX], path[PATH_MAX];

	(void)snprintf(path, sizeof path, "%s/" DEMO_SCRIPT, dir);
	return find_script(script) && symlink(script, path) == 0;
}

const char *
demo_python_find(const char *dir)
{
	static const char *const names[] = { "python3", "/usr/bin/python3" };

	if (!link_script(dir))
		return NULL;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (has_torch(names[i]))
			return names[i];
	return NULL;
}
