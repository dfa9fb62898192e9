/* SPDX-License-Identifier: Apache-2.0
 *
 * job_env.c: the environment of a job.  Runs in the command only.
 */

#include <config.h>

#include "launch/job_env.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

#define SEPARATORS	" :"	/* of the names in LD_PRELOAD */

/*--- LD_PRELOAD ----------------------------------------------------------*/

static const char *
name_of(const char *path, size_t len, size_t *name_len)
{
	size_t at = len;

	while (at > 0 && path[at - 1] != '/')
		at--;
	*name_len = len - at;
	return path + at;
}

/* The same file name in another folder is one of another build: two of them
 * would be in each other's way. */
static bool
is_ours(const char *object, const char *word, size_t len)
{
	size_t a_len, b_len;
	const char *a = name_of(object, strlen(object), &a_len);
	const char *b = name_of(word, len, &b_len);

	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* Adds a word, or drops it, with the separators before it. */
static const char *
take_word(char **out, const char *object, const char *at)
{
	size_t gap = strspn(at, SEPARATORS);
	size_t len = strcspn(at + gap, SEPARATORS);

	if (len > 0 && !is_ours(object, at + gap, len)) {
		if (gap == 0)
			*(*out)++ = ':';
		memcpy(*out, at, gap + len);
		*out += gap + len;
	}
	return at + gap + len;
}

char *
job_env_preload(const char *object, const char *before)
{
	size_t len = strlen(object);
	char *text, *out;

	if (before == NULL)
		before = "";
	text = malloc(len + 1 + strlen(before) + 1);
	if (text == NULL)
		return NULL;
	memcpy(text, object, len);
	out = text + len;
	while (*before != '\0')
		before = take_word(&out, object, before);
	*out = '\0';
	return text;
}

/*--- PYTHONPATH ----------------------------------------------------------*/

char *
job_env_python(const char *hook, const char *before)
{
	size_t hook_len = strlen(hook), len;
	char *text, *out;

	/* Set and empty, it has no entry, not an empty one. */
	if (before != NULL && before[0] == '\0')
		before = NULL;
	text = malloc(hook_len + 1 + (before != NULL ? strlen(before) : 0) + 1);
	if (text == NULL)
		return NULL;
	memcpy(text, hook, hook_len);
	out = text + hook_len;
	for (; before != NULL;
	    before = before[len] == ':' ? before + len + 1 : NULL) {
		len = strcspn(before, ":");
		if (len == hook_len && memcmp(before, hook, len) == 0)
			continue;
		*out++ = ':';
		memcpy(out, before, len);
		out += len;
	}
	*out = '\0';
	return text;
}

/*--- variables -----------------------------------------------------------*/

static bool
has_name(const char *variable, const char *name, size_t len)
{
	return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

const char *
job_env_find(char *const base[], const char *name)
{
	size_t len = strlen(name);

	for (; base != NULL && *base != NULL; base++)
		if (has_name(*base, name, len))
			return *base + len + 1;
	return NULL;
}

static char *
make_variable(const char *name, const char *value)
{
	char *text = NULL;

	if (value == NULL || asprintf(&text, "%s=%s", name, value) < 0)
		return NULL;
	return text;
}

static size_t
count(char *const list[])
{
	size_t nr = 0;

	while (list != NULL && list[nr] != NULL)
		nr++;
	return nr;
}

/* Takes the place of the first of its name, or the end of the list; the others
 * of that name go. */
static void
put_variable(char **list, char *variable)
{
	size_t len = strcspn(variable, "="), nr = 0;
	bool is_there = false;

	for (size_t i = 0; list[i] != NULL; i++) {
		if (!has_name(list[i], variable, len))
			list[nr++] = list[i];
		else if (!is_there)
			list[nr++] = variable;
		is_there |= has_name(list[i], variable, len);
	}
	if (!is_there)
		list[nr++] = variable;
	list[nr] = NULL;
}

/* False: no memory. */
static bool
set(struct job_env *e, unsigned *nr, const char *name, const char *value)
{
	char *text = make_variable(name, value);

	if (text == NULL)
		return false;
	must(*nr < JOB_ENV_VARIABLES);
	e->own[(*nr)++] = text;
	put_variable(e->list, text);
	return true;
}

/* Of a job that shares. */
static bool
set_shared(struct job_env *e, unsigned *nr, const struct job_settings *s)
{
	char job[17];

	(void)snprintf(job, sizeof job, "%016" PRIx64, s->job);
	return set(e, nr, "DESTALL", "1") &&
	    set(e, nr, "DESTALL_JOB", job) &&
	    (s->data == NULL || set(e, nr, "DESTALL_DATA", s->data)) &&
	    (s->cache == NULL || set(e, nr, "DESTALL_CACHE", s->cache));
}

static bool
set_profiled(struct job_env *e, unsigned *nr, const struct job_settings *s)
{
	return set(e, nr, "DESTALL", "0") &&
	    set(e, nr, "DESTALL_PROFILE", s->profile);
}

static bool
set_all(struct job_env *e, char *const base[], const struct job_settings *s)
{
	char *preload = s->object == NULL ? NULL : job_env_preload(s->object,
	    job_env_find(base, "LD_PRELOAD"));
	char *python = s->hook == NULL ? NULL : job_env_python(s->hook,
	    job_env_find(base, "PYTHONPATH"));
	unsigned nr = 0;
	bool ok;

	ok = (s->object == NULL || set(e, &nr, "LD_PRELOAD", preload)) &&
	    (s->hook == NULL || set(e, &nr, "PYTHONPATH", python)) &&
	    (s->profile != NULL ? set_profiled(e, &nr, s) :
	    set_shared(e, &nr, s));
	free(python);
	free(preload);
	return ok;
}

int
job_env_init(struct job_env *e, char *const base[],
    const struct job_settings *s, struct ds_err *err)
{
	size_t nr = count(base);

	*e = (struct job_env){ 0 };
	e->list = calloc(nr + JOB_ENV_VARIABLES + 1, sizeof *e->list);
	if (e->list != NULL && nr > 0)
		memcpy(e->list, base, nr * sizeof *e->list);
	if (e->list != NULL && set_all(e, base, s))
		return 0;
	job_env_fini(e);
	return err_fail(err, -ENOMEM, "out of memory");
}

void
job_env_fini(struct job_env *e)
{
	for (unsigned i = 0; i < JOB_ENV_VARIABLES; i++)
		free(e->own[i]);
	free(e->list);
	*e = (struct job_env){ 0 };
}
