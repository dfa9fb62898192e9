/* SPDX-License-Identifier: Apache-2.0
 *
 * parties.c: two parties at a hub, and the steps that they take.
 */

#include <config.h>

#include "tests/harness/parties.h"

#include <unistd.h>

#include "tests/harness/payload.h"
#include "tests/harness/unit.h"

struct party a, b;

int
parties_start(void **state)
{
	leak_before(state);
	alarm(100);
	stagehub_start(0);
	return 0;
}

int
parties_stop(void **state)
{
	party_leave(&a);
	party_leave(&b);
	stagehub_stop();
	alarm(0);
	return leak_after(state);
}

/*--- steps ---------------------------------------------------------------*/

static void
expect(int rc, int want, const struct ds_err *err)
{
	if (rc != want)
		fail_msg("%d instead of %d: %s", rc, want,
		    rc < 0 ? err->text : "no failure");
}

void
party_join_with(struct party *p, const char *stream, const char *window,
    const char *lag)
{
	party_connect(p);
	party_open(p, stream, UNITS, BYTES);
	party_set(p, "window", window);
	party_set(p, "lag", lag);
	party_attend(p, 0);
}

void
party_join(struct party *p, const char *stream)
{
	party_join_with(p, stream, "", "auto");
}

void
party_begin(struct party *p)
{
	struct ds_err err;
	uint64_t at = 99;

	expect(ds_pass_begin(p->pass, 0, UNITS, &at, &err), 1, &err);
	assert_int_equal(at, 0);
}

void
party_lease(struct party *p, struct ds_lease *l)
{
	struct ds_err err;

	expect(ds_pass_lease(p->pass, SOON_MS, l, &err), 1, &err);
	assert_non_null(l->bytes);
	assert_true(l->room >= BYTES);
}

void
party_publish(struct party *p, struct ds_lease *l)
{
	struct ds_err err;

	payload_fill(l->bytes, BYTES, 0, l->unit);
	expect(ds_pass_publish(p->pass, l, BYTES, payload_hash(0, l->unit), 0,
	    &err), 0, &err);
}

void
party_make(struct party *p, uint64_t unit)
{
	struct ds_lease l;

	party_lease(p, &l);
	assert_int_equal(l.unit, unit);
	party_publish(p, &l);
}

void
party_take(struct party *p, uint64_t unit, struct ds_taken *t)
{
	struct ds_err err;

	expect(ds_pass_take(p->pass, unit, SOON_MS, t, &err), DS_TAKEN, &err);
	party_check(t, unit);
}

void
party_use(struct party *p, uint64_t unit)
{
	struct ds_taken t;

	party_take(p, unit, &t);
	ds_stage_release(p->stage, &t);
}

void
party_check(const struct ds_taken *t, uint64_t unit)
{
	assert_int_equal(t->unit, unit);
	assert_int_equal(t->len, BYTES);
	assert_true(t->hash == payload_hash(0, unit));
	assert_true(payload_is(t->bytes, BYTES, 0, unit));
}
