/* SPDX-License-Identifier: Apache-2.0
 *
 * stagehub.c: a hub with nothing but the stage in it, and streams at it.
 */

#include <config.h>

#include "tests/harness/stagehub.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "stage/director.h"
#include "tests/harness/testhub.h"
#include "tests/harness/unit.h"

static pid_t hub;
static struct testhub_next next;

/* An empty one says nothing.  setenv() keeps what it replaces: what it allocates
 * would look like a leak. */
void
stagehub_clear(void)
{
	static char none[][24] = { "DESTALL_WINDOW=", "DESTALL_GROUP=",
	    "DESTALL_LAG=" };

	for (unsigned i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_int_equal(putenv(none[i]), 0);
}

int
stagehub_open(void **state)
{
	static char text[128];

	(void)state;
	testhub_open();
	stagehub_clear();
	(void)snprintf(text, sizeof text, "DESTALL_HUB=%s", testhub_socket());
	return putenv(text);
}

int
stagehub_close(void **state)
{
	(void)state;
	testhub_close();
	return 0;
}

static struct hub_options
choose_options(uint64_t stage_bytes)
{
	static const struct hub_module *const modules[] = {
		&director_module, NULL,
	};
	struct hub_options o = hub_defaults;

	o.stage_bytes = stage_bytes;
	testhub_use(modules);
	return o;
}

void
stagehub_start(uint64_t stage_bytes)
{
	struct hub_options o = choose_options(stage_bytes);

	hub = testhub_start(&o, 1);
}

void
stagehub_prepare(void)
{
	struct hub_options o = choose_options(0);

	next = testhub_prepare(&o);
}

void
stagehub_begin(void)
{
	hub = testhub_begin(&next);
}

void
stagehub_kill(void)
{
	assert_int_equal(kill(hub, SIGKILL), 0);
	assert_int_equal(testhub_wait(hub), 128 + SIGKILL);
	hub = 0;
}

void
stagehub_stop(void)
{
	if (hub != 0)
		assert_int_equal(testhub_stop(hub), 0);
	hub = 0;
}

/*--- a party -------------------------------------------------------------*/

/* Each is a job of its own. */
void
party_connect(struct party *p)
{
	static unsigned nr;
	char name[16];
	struct ds_err err;

	*p = (struct party){ 0 };
	(void)snprintf(name, sizeof name, "%u", nr++);
	if (ds_connect_as(&p->hub, name, DS_NO_START, &err) < 0)
		fail_msg("%s", err.text);
}

void
party_set(struct party *p, const char *name, const char *value)
{
	struct ds_err err;

	if (ds_stage_set(p->stage, name, value, &err) < 0)
		fail_msg("%s", err.text);
}

static void
set_number(struct party *p, const char *name, unsigned n)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%u", n);
	party_set(p, name, text);
}

void
party_open(struct party *p, const char *stream, unsigned units,
    unsigned bytes)
{
	struct ds_err err;

	if (ds_stage_open(&p->stage, p->hub, &err) < 0)
		fail_msg("%s", err.text);
	party_set(p, "stream", stream);
	party_set(p, "seed", "1");
	set_number(p, "unit", 4);
	set_number(p, "samples", units * 4);
	set_number(p, "bytes", bytes);
}

void
party_attend(struct party *p, uint64_t epoch)
{
	struct ds_err err;

	if (ds_pass_open(&p->pass, p->stage, epoch, DS_ANY, &p->info,
	    &err) < 0)
		fail_msg("%s", err.text);
}

void
party_leave(struct party *p)
{
	ds_pass_close(&p->pass);
	ds_stage_close(&p->stage);
	ds_disconnect(&p->hub);
}
