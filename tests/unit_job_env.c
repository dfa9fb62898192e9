/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_job_env.c: tests of the environment of a job.
 */

#include <config.h>

#include "launch/job_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

#define OBJECT	"/lib/destall/libdestall-preload.so"
#define OTHER	"/opt/build/.libs/libdestall-preload.so"
#define MAX	16

static void
the_object_is_first_and_once(void **state)
{
	static const struct {
		const char *before, *want;
	} cases[] = {
		{ NULL, OBJECT },
		{ "", OBJECT },
		{ ":", OBJECT },
		{ "a.so", OBJECT ":a.so" },
		{ "a.so b.so", OBJECT ":a.so b.so" },
		{ " a.so", OBJECT " a.so" },
		{ "/x/a.so:/y/b.so ", OBJECT ":/x/a.so:/y/b.so" },
		{ OBJECT, OBJECT },
		{ OBJECT ":" OBJECT, OBJECT },
		{ OBJECT ":a.so", OBJECT ":a.so" },
		{ "a.so:" OBJECT, OBJECT ":a.so" },
		{ "a.so " OBJECT "  b.so", OBJECT ":a.so  b.so" },
		/* of another build, or found by the loader */
		{ OTHER ":a.so", OBJECT ":a.so" },
		{ "libdestall-preload.so", OBJECT },
		/* not ours, though they look alike */
		{ OBJECT ".1", OBJECT ":" OBJECT ".1" },
		{ "/x/notlibdestall-preload.so",
		    OBJECT ":/x/notlibdestall-preload.so" },
		{ "/libdestall-preload.so/", OBJECT ":/libdestall-preload.so/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = job_env_preload(OBJECT, cases[i].before);
		char *again = job_env_preload(OBJECT, text);

		assert_string_equal(text, cases[i].want);
		assert_string_equal(again, text);
		free(text);
		free(again);
	}
}

static void
the_hook_is_first_and_once(void **state)
{
	static const struct {
		const char *before, *want;
	} cases[] = {
		{ NULL, "/h" },
		{ "", "/h" },
		{ "/a", "/h:/a" },
		{ "/a:/b c", "/h:/a:/b c" },
		{ "/h", "/h" },
		{ "/h:/h", "/h" },
		{ "/a:/h:/b", "/h:/a:/b" },
		{ "/h/x:/hh:h", "/h:/h/x:/hh:h" },
		/* empty entries are the current folder */
		{ ":", "/h::" },
		{ "/a::/b:", "/h:/a::/b:" },
		{ "/h:", "/h:" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = job_env_python("/h", cases[i].before);
		char *again = job_env_python("/h", text);

		assert_string_equal(text, cases[i].want);
		assert_string_equal(again, text);
		free(text);
		free(again);
	}
}

/* What the list is, as one line. */
static const char *
show(char *const *list)
{
	static char text[1024];
	size_t len = 0;

	text[0] = '\0';
	for (; *list != NULL; list++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s",
		    len > 0 ? "|" : "", *list);
	return text;
}

static void
only_these_variables_differ(void **state)
{
	static const struct {
		const char *base[MAX];
		struct job_settings s;
		const char *want;
	} cases[] = {
		{ { NULL }, { "/o.so", "/d", "8G", 0x1f, NULL, NULL },
		    "LD_PRELOAD=/o.so|DESTALL=1|DESTALL_JOB=000000000000001f|"
		    "DESTALL_DATA=/d|DESTALL_CACHE=8G" },
		{ { "A=1", "DESTALL=0", "B", "LD_PRELOAD=x.so", "=C" },
		    { "/o.so", NULL, NULL, UINT64_MAX, NULL, NULL },
		    "A=1|DESTALL=1|B|LD_PRELOAD=/o.so:x.so|=C|"
		    "DESTALL_JOB=ffffffffffffffff" },
		/* as they were where nothing is said of them */
		{ { "DESTALL_DATA=/a:/b", "DESTALL_CACHE=1G", "Z=" },
		    { "/o.so", NULL, NULL, 1, NULL, NULL },
		    "DESTALL_DATA=/a:/b|DESTALL_CACHE=1G|Z=|LD_PRELOAD=/o.so|"
		    "DESTALL=1|DESTALL_JOB=0000000000000001" },
		/* twice: the first, which is what getenv() has */
		{ { "LD_PRELOAD=a.so", "DESTALL_JOB=2", "LD_PRELOAD=b.so",
		    "DESTALL_JOB=3" }, { "/o.so", "/d", NULL, 1, NULL, NULL },
		    "LD_PRELOAD=/o.so:a.so|DESTALL_JOB=0000000000000001|"
		    "DESTALL=1|DESTALL_DATA=/d" },
		/* the hook, before what Python's path was */
		{ { "PYTHONPATH=/p", "A=1" }, { "/o.so", NULL, NULL, 1, "/h", NULL },
		    "PYTHONPATH=/h:/p|A=1|LD_PRELOAD=/o.so|DESTALL=1|"
		    "DESTALL_JOB=0000000000000001" },
		/* a job that is profiled does not share */
		{ { "DESTALL=1", "A=1" },
		    { "/o.so", NULL, NULL, 0, "/h", "/p" },
		    "DESTALL=0|A=1|LD_PRELOAD=/o.so|PYTHONPATH=/h|"
		    "DESTALL_PROFILE=/p" },
		/* names that only begin like ours */
		{ { "DESTALL_JOBS=2", "LD_PRELOADS=b", "DESTALLX=1" },
		    { "/o.so", NULL, NULL, 1, NULL, NULL },
		    "DESTALL_JOBS=2|LD_PRELOADS=b|DESTALLX=1|LD_PRELOAD=/o.so|"
		    "DESTALL=1|DESTALL_JOB=0000000000000001" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *base[MAX];
		struct job_env e;
		struct ds_err err;

		memcpy(base, cases[i].base, sizeof base);
		assert_int_equal(job_env_init(&e, base, &cases[i].s, &err), 0);
		assert_string_equal(show(e.list), cases[i].want);
		job_env_fini(&e);
		assert_null(e.list);
		/* ours to read, not to write */
		assert_memory_equal(base, cases[i].base, sizeof base);
	}
}

static void
no_environment_at_all(void **state)
{
	static const struct job_settings s = { .object = "/o.so", .job = 1 };
	struct job_env e;

	(void)state;
	assert_int_equal(job_env_init(&e, NULL, &s, NULL), 0);
	assert_string_equal(show(e.list), "LD_PRELOAD=/o.so|DESTALL=1|"
	    "DESTALL_JOB=0000000000000001");
	job_env_fini(&e);
	assert_null(job_env_find(NULL, "A"));
}

static void
without_an_object_nothing_is_preloaded(void **state)
{
	static const struct job_settings s = { .profile = "/session" };
	char preload[] = "LD_PRELOAD=/theirs.so";
	char *const base[] = { preload, NULL };
	struct job_env e;

	(void)state;
	assert_int_equal(job_env_init(&e, base, &s, NULL), 0);
	assert_string_equal(show(e.list), "LD_PRELOAD=/theirs.so|DESTALL=0|"
	    "DESTALL_PROFILE=/session");
	job_env_fini(&e);
}

static void
finds_the_first(void **state)
{
	char a[] = "AB=1", b[] = "A=2", c[] = "A=3", d[] = "A";
	char *const list[] = { a, d, b, c, NULL };

	(void)state;
	assert_string_equal(job_env_find(list, "A"), "2");
	assert_string_equal(job_env_find(list, "AB"), "1");
	assert_null(job_env_find(list, "B"));
}

UNIT_MAIN(
	UNIT(the_object_is_first_and_once),
	UNIT(the_hook_is_first_and_once),
	UNIT(only_these_variables_differ),
	UNIT(no_environment_at_all),
	UNIT(without_an_object_nothing_is_preloaded),
	UNIT(finds_the_first))
