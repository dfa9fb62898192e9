/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_result_gate.c: tests of reports/gate.c.
 */

#include <config.h>

#include "reports/gate.h"

#include <errno.h>
#include <string.h>

#include "base/command.h"
#include "tests/harness/unit.h"

static struct result
make_result(void)
{
	struct result r;

	result_init(&r);
	r.share[SHARE_COMPUTE] = (struct figure){ true, 0.5, 0.4, 0.6 };
	r.share[SHARE_PREP] = (struct figure){ true, 0.25, 0.2, 0.3 };
	r.share[SHARE_FETCH] = (struct figure){ true, 0.1, 0.05, 0.15 };
	r.rate[RATE_ACTUAL] = (struct figure){ true, 1000, 990, 1010 };
	return r;
}

static void
conditions_are_asked(void **state)
{
	static const struct {
		const char *text;
		int want;
		const char *sentence;
	} cases[] = {
		{ "compute<50%", 0, NULL },
		{ "compute<=50%", 1, "compute is 50 %, which is <= 50 %" },
		{ "compute>=50%", 1, "which is >= 50 %" },
		{ "compute>50%", 0, NULL },
		{ "compute > 49.9%", 1, "which is > 49.9 %" },
		{ " prep_stall >10% ", 1, "prep_stall is 25 %" },
		{ "prep_stall>=100%", 0, NULL },
		{ "fetch_stall<10.5%", 1, "fetch_stall is 10 %" },
		{ "speed<1000", 0, NULL },
		{ "speed<1000.5", 1, "speed is 1000 samples/s, which is < "
		    "1000.5" },
		{ "speed>=1000", 1, "which is >= 1000" },
		{ "handover>0%", -ENODATA, "handover is not known" },
	};
	struct result r = make_result();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct gate g = { 0 };
		struct ds_err err = { 0 };

		assert_int_equal(gate_parse(cases[i].text, &g, &err), 0);
		assert_true(g.is_set);
		assert_int_equal(gate_ask(&g, &r, &err), cases[i].want);
		if (cases[i].sentence != NULL &&
		    strstr(err.text, cases[i].sentence) == NULL)
			fail_msg("%s: %s", cases[i].text, err.text);
	}
}

static void
what_makes_no_sense_is_refused(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *want;
	} cases[] = {
		{ "", -EINVAL, "has no < or >" },
		{ "compute", -EINVAL, "write it like 'fetch_stall>10%'" },
		{ "compute=50%", -EINVAL, "has no < or >" },
		{ "compute>", -EINVAL, "percentage" },
		{ "compute>50", -EINVAL, "'50' is no percentage" },
		{ "compute>101%", -ERANGE, "" },
		{ "compute>-1%", -EINVAL, "" },
		{ "compute>>1%", -EINVAL, "" },
		{ "compute>1%<2%", -EINVAL, "" },
		{ "compute>1% speed<2", -EINVAL, "" },
		{ "speed>10%", -EINVAL, "" },
		{ "speed>nan", -EINVAL, "" },
		{ "speed>1e9", -EINVAL, "" },
		{ "speed<", -EINVAL, "" },
		{ ">10%", -EINVAL, "'' is not known" },
		{ "fetch_stal>10%", -EINVAL, "did you mean 'fetch_stall'?" },
		{ "xyzzy>10%", -EINVAL, "compute, prep_stall, fetch_stall, "
		    "handover, speed are" },
		{ "compute\n>10%", -EINVAL, "" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>10%", -EINVAL,
		    "no condition" },
		{ "compute>1000000000000000000000000000000000%", -EINVAL,
		    "no condition" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct gate g = { .limit = 7 };
		struct ds_err err = { 0 };
		int rc = gate_parse(cases[i].text, &g, &err);

		if (rc != cases[i].rc || strstr(err.text, cases[i].want) == NULL)
			fail_msg("%s: %d: %s", cases[i].text, rc, err.text);
		assert_false(g.is_set);
		assert_true(g.limit == 7);
	}
}

static void
exit_statuses(void **state)
{
	struct result r = make_result();
	struct gate g = { 0 };
	struct ds_err err;

	(void)state;
	assert_int_equal(gate_status(&g, &r, &err), STATUS_OK);
	assert_int_equal(gate_parse("speed<1", &g, &err), 0);
	assert_int_equal(gate_status(&g, &r, &err), STATUS_OK);
	assert_int_equal(gate_parse("speed>1", &g, &err), 0);
	assert_int_equal(gate_status(&g, &r, &err), STATUS_GATE);
	assert_int_equal(gate_parse("handover<1%", &g, &err), 0);
	assert_int_equal(gate_status(&g, &r, &err), STATUS_FAILED);
}

UNIT_MAIN(
	UNIT(conditions_are_asked),
	UNIT(what_makes_no_sense_is_refused),
	UNIT(exit_statuses))
