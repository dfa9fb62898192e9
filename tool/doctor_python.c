/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_python.c: the Python interpreters that a job may be run with, whether
 * they have PyTorch, without importing it, and whether DESTALL=1 alone makes
 * them start destall.
 * Runs in the command only, the interpreters as children with a deadline.
 *
 * Two names are one interpreter if program and prefix are the same: the python
 * of a virtual environment is only a link to the system's, but has packages of
 * its own.
 */

#include <config.h>

#include "tool/doctor_python.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "launch/hook.h"
#include "launch/part.h"
#include "tool/doctor_child.h"

#define LIMIT_MS	5000u
#define MAX_PYTHONS	12u
#define MARK		"destall-doctor"

/* For any Python, 2 included.  The current directory is taken off the path
 * first: nothing of it may be imported. */
static const char question[] =
    "import sys\n"
    "if sys.path and sys.path[0] in ('', '.'): del sys.path[0]\n"
    "import os\n"
    "torch = ''\n"
    "try:\n"
    "    from importlib import metadata\n"
    "    torch = metadata.version('torch')\n"
    "except Exception:\n"
    "    pass\n"
    "hook = ''\n"
    "if 'destall._start' in sys.modules:\n"
    "    hook = sys.modules['destall'].__version__\n"
    "sys.stdout.write('" MARK "\\n%d.%d.%d\\n%s\\n%s\\n%s %s\\n' % (\n"
    "    sys.version_info[0], sys.version_info[1], sys.version_info[2],\n"
    "    torch, hook, os.path.realpath(sys.executable), sys.prefix))\n";

struct python {
	char			path[PATH_MAX];
	struct python_answer	answer;
	bool			answered;
};

struct pythons {
	unsigned	nr;
	unsigned	left_out;	/* more than we look at */
	struct python	list[MAX_PYTHONS];
	struct child	children[MAX_PYTHONS];	/* list[i] is children[i] */
};

/*--- finding -------------------------------------------------------------*/

static void
find_one(struct pythons *all, const char *dir, size_t len, const char *name)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct stat st;
	int n;

	/* A relative entry means another directory for everyone who asks. */
	if (dir[0] != '/' || len >= sizeof path)
		return;
	(void)snprintf(path, sizeof path, "%.*s", (int)len, dir);
	if (realpath(path, real) == NULL)
		return;
	n = snprintf(path, sizeof path, "%s/%s", real, name);
	if (n < 0 || (size_t)n >= sizeof path)
		return;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
	    access(path, X_OK) != 0)
		return;
	for (unsigned i = 0; i < all->nr; i++) {
		if (strcmp(all->list[i].path, path) == 0)
			return;
	}
	if (all->nr == MAX_PYTHONS) {
		all->left_out++;
		return;
	}
	strcpy(all->list[all->nr++].path, path);
}

static void
find_in(struct pythons *all, const char *dir, size_t len)
{
	find_one(all, dir, len, "python3");
	find_one(all, dir, len, "python");
}

/* bin/ of what a variable names. */
static void
find_in_prefix(struct pythons *all, const char *variable)
{
	const char *prefix = getenv(variable);
	char dir[PATH_MAX];

	if (prefix == NULL || strlen(prefix) + 5 > sizeof dir)
		return;
	(void)snprintf(dir, sizeof dir, "%s/bin", prefix);
	find_in(all, dir, strlen(dir));
}

static void
find_all(struct pythons *all)
{
	const char *path = getenv("PATH");
	char mine[PATH_MAX];
	size_t len;

	/* Whom pip has installed stands beside the Python it is for. */
	if (part_folder(mine))
		find_in(all, mine, strlen(mine));
	find_in_prefix(all, "VIRTUAL_ENV");
	find_in_prefix(all, "CONDA_PREFIX");
	for (; path != NULL; path = path[len] == ':' ? path + len + 1 : NULL) {
		len = strcspn(path, ":");
		find_in(all, path, len);
	}
	find_in(all, "/usr/bin", strlen("/usr/bin"));
}

/*--- asking --------------------------------------------------------------*/

static void
ask(int out, void *arg)
{
	struct python *p = arg;
	static char no_bytecode[] = "-B", command[] = "-c";
	static char text[sizeof question];
	char *argv[] = { p->path, no_bytecode, command, text, NULL };

	memcpy(text, question, sizeof text);
	if (setenv("DESTALL", "1", 1) != 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(1);
	execv(p->path, argv);
	_exit(127);
}

static bool
is_number(const char *s, size_t len)
{
	return len > 0 && strspn(s, "0123456789.") >= len;
}

static bool
is_version(const char *s, size_t len)
{
	return strspn(s, "0123456789.abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ+!_-") >= len;
}

/* Cuts the next line off; NULL when there is none. */
static char *
cut_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (end == NULL)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

int
doctor_python_parse(const char *text, size_t len, struct python_answer *a)
{
	char copy[CHILD_OUTPUT + 1];
	char *at = copy, *mark, *version, *torch, *hook, *where;

	if (len > CHILD_OUTPUT || memchr(text, '\0', len) != NULL)
		return -EBADMSG;
	memcpy(copy, text, len);
	copy[len] = '\0';
	mark = cut_line(&at);
	version = mark != NULL ? cut_line(&at) : NULL;
	torch = version != NULL ? cut_line(&at) : NULL;
	hook = torch != NULL ? cut_line(&at) : NULL;
	where = hook != NULL ? cut_line(&at) : NULL;
	if (where == NULL || *at != '\0' || strcmp(mark, MARK) != 0 ||
	    !is_number(version, strlen(version)) ||
	    !is_version(torch, strlen(torch)) ||
	    !is_version(hook, strlen(hook)) ||
	    strlen(version) >= sizeof a->version ||
	    strlen(torch) >= sizeof a->torch ||
	    strlen(hook) >= sizeof a->hook ||
	    strlen(where) >= sizeof a->where)
		return -EBADMSG;
	strcpy(a->version, version);
	strcpy(a->torch, torch);
	strcpy(a->hook, hook);
	strcpy(a->where, where);
	return 0;
}

static void
ask_all(struct pythons *all)
{
	const struct child *c;

	for (unsigned i = 0; i < all->nr; i++)
		child_start(&all->children[i], ask, &all->list[i]);
	child_wait(all->children, all->nr, LIMIT_MS);
	for (unsigned i = 0; i < all->nr; i++) {
		c = &all->children[i];
		all->list[i].answered = c->end == CHILD_DONE && c->code == 0 &&
		    doctor_python_parse(c->output, c->len,
		    &all->list[i].answer) == 0;
	}
}

/*--- the rows ------------------------------------------------------------*/

static bool
was_seen(const struct pythons *all, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		if (all->list[i].answered && strcmp(all->list[i].answer.where,
		    all->list[nr].answer.where) == 0)
			return true;
	}
	return false;
}

static void
add_python(struct doctor_report *r, const struct python *p,
    const struct child *c)
{
	static const struct doctor_verdict old = {
		DOCTOR_LIMITED,
		"jobs run with this one load their data as if destall were not "
		"there",
		"use Python 3.8 or later", false,
	}, silent = {
		DOCTOR_LIMITED,
		"it is not known what jobs run with this one will do",
		"run it by hand with --version, and mend or remove it", false,
	};
	const struct python_answer *a = &p->answer;
	char why[128];

	if (!p->answered) {
		child_explain(c, why, sizeof why);
		doctor_add(r, "Python", child_blame(c, &silent), "%.200s %s",
		    p->path, why);
		return;
	}
	doctor_add(r, "Python", doctor_version_below(a->version, 3, 8) ?
	    &old : &doctor_fine, "%s, %s%s, %s%s: %.200s", a->version,
	    a->torch[0] != '\0' ? "torch " : "no torch", a->torch,
	    a->hook[0] != '\0' ? "destall " : "no destall", a->hook, p->path);
}

static void
add_torch(struct doctor_report *r, const struct pythons *all)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING,
		"the Python hook has nothing to do here; destall's own loader "
		"and programs in C work",
		"pip install torch, in the environment that runs the job", false,
	}, old = {
		DOCTOR_LIMITED,
		"the hook knows PyTorch from 1.13 on; older ones load their data "
		"as before",
		"pip install --upgrade torch", false,
	};
	const struct python_answer *best = NULL;
	unsigned nr = 0;

	for (unsigned i = 0; i < all->nr; i++) {
		const struct python_answer *a = &all->list[i].answer;

		if (!all->list[i].answered || a->torch[0] == '\0' ||
		    was_seen(all, i))
			continue;
		nr++;
		if (best == NULL || (doctor_version_below(best->torch, 1, 13) &&
		    !doctor_version_below(a->torch, 1, 13)))
			best = a;
	}
	if (best == NULL)
		doctor_add(r, "PyTorch", &none,
		    "in none of the interpreters found");
	else
		doctor_add(r, "PyTorch",
		    doctor_version_below(best->torch, 1, 13) ? &old :
		    &doctor_fine, "%s, in %u of the interpreters", best->torch,
		    nr);
}

/* What `destall run` and `destall env` give to every Python. */
static void
add_hook(struct doctor_report *r)
{
	static const struct doctor_verdict lost = {
		DOCTOR_LIMITED,
		"PyTorch jobs under destall run do not share batches; the cache "
		"works",
		"install destall again", false,
	}, none = {
		DOCTOR_MISSING,
		"PyTorch jobs do not share batches; the cache works",
		"install python3, then configure and build again", false,
	};
	char path[PATH_MAX];
	struct ds_err err;

	if (hook_find(path, &err) < 0)
		doctor_add(r, "Python hook", &lost, "%.300s", err.text);
	else if (path[0] == '\0')
		doctor_add(r, "Python hook", &none, "built without Python");
	else
		doctor_add(r, "Python hook", &doctor_fine, "%.300s", path);
}

/* Where destall is installed into an interpreter. */
static void
add_alone(struct doctor_report *r, const struct pythons *all)
{
	static const struct doctor_verdict none = {
		DOCTOR_LIMITED,
		"jobs share batches under destall run and destall env only",
		"pip install destall's wheel (make wheel), in the environment "
		"that runs the job", false,
	}, other = {
		DOCTOR_LIMITED,
		"jobs of two versions do not share with each other",
		"install the same version in both places", false,
	};
	const struct python *odd = NULL;
	unsigned nr = 0;

	for (unsigned i = 0; i < all->nr; i++) {
		const struct python *p = &all->list[i];

		if (!p->answered || p->answer.hook[0] == '\0' ||
		    was_seen(all, i))
			continue;
		nr++;
		if (strcmp(p->answer.hook, PACKAGE_VERSION) != 0)
			odd = p;
	}
	if (odd != NULL)
		doctor_add(r, "DESTALL=1 alone", &other,
		    "starts destall %s, and this is " PACKAGE_VERSION ": %.200s",
		    odd->answer.hook, odd->path);
	else if (nr == 0)
		doctor_add(r, "DESTALL=1 alone", &none,
		    "starts destall in none of the interpreters found");
	else
		doctor_add(r, "DESTALL=1 alone", &doctor_fine,
		    "starts destall in %u of the interpreters", nr);
}

void
doctor_python(struct doctor_report *r)
{
	static const struct doctor_verdict none = {
		DOCTOR_MISSING,
		"jobs in Python cannot be profiled; the rest works",
		"install Python 3.8 or later, and put it on PATH", false,
	};
	struct pythons *all = calloc(1, sizeof *all);

	if (all == NULL)
		say_no_memory();
	find_all(all);
	if (all->nr > 0)
		ask_all(all);
	else
		doctor_add(r, "Python", &none, "no python3 on PATH");
	for (unsigned i = 0; i < all->nr; i++) {
		if (!all->list[i].answered || !was_seen(all, i))
			add_python(r, &all->list[i], &all->children[i]);
	}
	if (all->left_out > 0)
		doctor_add(r, "Python", &doctor_fine,
		    "%u more on PATH were not asked", all->left_out);
	add_torch(r, all);
	add_hook(r);
	add_alone(r, all);
	free(all);
}
