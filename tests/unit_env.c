/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_env.c: tests of base/env.c.
 */

#include <config.h>

#include "base/env.h"

#include <string.h>

#include "tests/harness/unit.h"

extern char **environ;

/* Instead of the environment, until it is restored; nothing is allocated. */
static char **own_environ;
#define USE(...) \
	char *list[] = { __VA_ARGS__, NULL }; \
	own_environ = environ; \
	environ = list

static void
restore(void)
{
	environ = own_environ;
}

static char hub_one[] = "DESTALL_HUB=/one", hub_two[] = "DESTALL_HUB=/two",
    xdg[] = "XDG_RUNTIME_DIR=/run/x", tmp[] = "TMPDIR=", job[] = "DESTALL_JOB=j",
    cache[] = "DESTALL_CACHE=1G", stage[] = "DESTALL_STAGE=64M", audit[] = "DESTALL_AUDIT=0.5",
    quiet[] = "DESTALL_LOG=quiet", other[] = "UNIT_ENV=any";

/* Keeping cannot be undone, so this one comes first. */
static void
is_the_environment_at_first(void **state)
{
	USE(hub_one, other);

	(void)state;
	assert_string_equal(env_get("DESTALL_HUB"), "/one");
	list[0] = hub_two;
	assert_string_equal(env_get("DESTALL_HUB"), "/two");
	assert_string_equal(env_get("UNIT_ENV"), "any");
	list[0] = NULL;
	assert_null(env_get("DESTALL_HUB"));
	restore();
}

static void
stays_as_it_was_kept(void **state)
{
	const char *hub;
	USE(hub_one, xdg, tmp, job, cache, stage, audit);

	(void)state;
	env_keep();
	hub = env_get("DESTALL_HUB");
	list[0] = hub_two;
	list[1] = quiet;
	list[2] = NULL;
	assert_string_equal(hub, "/one");
	assert_ptr_equal(env_get("DESTALL_HUB"), hub);
	assert_string_equal(env_get("XDG_RUNTIME_DIR"), "/run/x");
	assert_string_equal(env_get("DESTALL_JOB"), "j");
	assert_string_equal(env_get("DESTALL_CACHE"), "1G");
	assert_string_equal(env_get("DESTALL_STAGE"), "64M");
	assert_string_equal(env_get("DESTALL_AUDIT"), "0.5");
	assert_null(env_get("DESTALL_LOG"));
	environ = NULL;			/* as after clearenv() */
	assert_ptr_equal(env_get("DESTALL_HUB"), hub);
	restore();
}

/* A copy: the string itself may be changed, or freed. */
static void
keeps_copies(void **state)
{
	char text[] = "DESTALL_HUB=/here";
	USE(text);

	(void)state;
	env_keep();
	memset(text, 'x', sizeof text - 1);
	assert_string_equal(env_get("DESTALL_HUB"), "/here");
	restore();
}

/* Those that nobody will ask for, are not. */
static void
keeps_no_others(void **state)
{
	USE(other, hub_one);

	(void)state;
	env_keep();
	assert_null(env_get("UNIT_ENV"));
	assert_null(env_get("DESTALL_HUBS"));
	assert_null(env_get(""));
	restore();
}

static void
empty_is_not_unset(void **state)
{
	USE(tmp, quiet);

	(void)state;
	env_keep();
	assert_string_equal(env_get("TMPDIR"), "");
	assert_string_equal(env_get("DESTALL_LOG"), "quiet");
	assert_null(env_get("DESTALL_HUB"));
	restore();
}

static void
cuts_what_is_too_long(void **state)
{
	static char text[sizeof "DESTALL_HUB=" + ENV_VALUE + 100] =
	    "DESTALL_HUB=";
	char *value = text + strlen(text);
	USE(text, xdg);

	(void)state;
	memset(value, 'v', ENV_VALUE - 1);
	env_keep();
	assert_string_equal(env_get("DESTALL_HUB"), value);
	memset(value, 'v', ENV_VALUE + 100);
	env_keep();
	assert_int_equal(strlen(env_get("DESTALL_HUB")), ENV_VALUE - 1);
	assert_string_equal(env_get("XDG_RUNTIME_DIR"), "/run/x");
	restore();
}

UNIT_MAIN(
	UNIT(is_the_environment_at_first),
	UNIT(stays_as_it_was_kept),
	UNIT(keeps_copies),
	UNIT(keeps_no_others),
	UNIT(empty_is_not_unset),
	UNIT(cuts_what_is_too_long))
