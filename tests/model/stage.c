/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.c: the model of the stage: the program (program.h).
 */

#include <config.h>

#include <stddef.h>

#include "tests/model/program.h"
#include "tests/model/stage_world.h"

static const struct stage_config configs[] = {
	/* Two jobs: one dies at any point, is late once, or fails once. */
	{ .name = "pair", .units = 2, .window = 1, .ahead = 1, .budget = 2,
	  .lates = 1, .fails = 1, .joined = 2,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .mortal = true,
		  .keeps = RELEASES_AFTER },
		{ .job = 2, .seats = { 1 }, .threads = 1 },
	} },
	/* More units than the window. */
	{ .name = "window", .units = 3, .window = 2, .ahead = 1, .budget = 2,
	  .joined = 2, .splits = true,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .mortal = true,
		  .keeps = RELEASES_AFTER },
		{ .job = 2, .seats = { 1 }, .threads = 1 },
	} },
	/* One joins an ordered stream late, one wherever it can. */
	{ .name = "ordered", .units = 3, .window = 1, .ahead = 1, .budget = 2,
	  .joined = 1,
	  .person = {
		{ .job = 1, .seats = { 1 }, .at = AT(0), .threads = 1,
		  .leaves = true },
		{ .job = 2, .seats = { 1 }, .at = AT(0), .threads = 1,
		  .mortal = true },
	} },
	{ .name = "join", .units = 3, .window = 2, .ahead = 1, .budget = 2,
	  .joined = 1,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .quits = true,
		  .leaves = true },
		{ .job = 2, .seats = { 1 }, .threads = 1 },
	} },
	/* Kept batches; memory that is mapped, and wanted elsewhere. */
	{ .name = "keep", .units = 3, .window = 1, .ahead = 1, .budget = 1,
	  .joined = 2, .maps = true, .splits = true,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .keeps = KEEPS_ALL },
		{ .job = 2, .seats = { 1 }, .threads = 1,
		  .keeps = KEEPS_FIRST },
	} },
	/* The slow are detached, at any time and while they take. */
	{ .name = "detach", .units = 3, .window = 1, .ahead = 2, .budget = 2,
	  .joined = 2, .lag = 2,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1 },
		{ .job = 2, .seats = { 1 }, .threads = 1, .mortal = true,
		  .keeps = RELEASES_AFTER },
	} },
	/* One is stopped. */
	{ .name = "stop", .units = 2, .window = 1, .ahead = 1, .budget = 2,
	  .joined = 2, .lag = 1,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1 },
		{ .job = 2, .seats = { 1 }, .threads = 1, .stops = true },
	} },
	/* Several makers in one process; late ones. */
	{ .name = "threads", .units = 3, .window = 2, .ahead = 2, .budget = 3,
	  .joined = 2, .lates = 1,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 2 },
		{ .job = 2, .seats = { 1 }, .threads = 0 },
	} },
	/* A job of a process that takes and one that makes; another job. */
	{ .name = "workers", .units = 2, .window = 1, .ahead = 1, .budget = 2,
	  .joined = 3,
	  .person = {
		{ .job = 1, .seats = { 1 }, .mortal = true },
		{ .job = 1, .seats = { 1 }, .threads = 1, .no_member = true,
		  .mortal = true, .stops = true },
		{ .job = 2, .seats = { 1 }, .threads = 1 },
	} },
	/* Two jobs with two streams each. */
	{ .name = "1:1", .units = 2, .window = 1, .ahead = 1, .budget = 4,
	  .quick = true, .joined = 2,
	  .person = {
		{ .job = 1, .seats = { 1, 2 }, .threads = 2, .pattern = "01" },
		{ .job = 2, .seats = { 1, 2 }, .threads = 0, .pattern = "10" },
	} },
	{ .name = "1:2", .units = 2, .window = 1, .ahead = 1, .budget = 4,
	  .quick = true, .joined = 2,
	  .person = {
		{ .job = 1, .seats = { 1, 2 }, .threads = 2, .pattern = "01" },
		{ .job = 2, .seats = { 1, 2 }, .threads = 0,
		  .pattern = "011" },
	} },
	{ .name = "1:5", .units = 5, .window = 1, .ahead = 1, .budget = 4,
	  .quick = true, .joined = 2,
	  .person = {
		{ .job = 1, .seats = { 1, 2 }, .threads = 2, .pattern = "01" },
		{ .job = 2, .seats = { 1, 2 }, .threads = 0,
		  .pattern = "011111" },
	} },
	/* An iterator within another one of the same loader. */
	{ .name = "nested", .units = 2, .window = 1, .ahead = 1, .budget = 2,
	  .quick = true, .joined = 2,
	  .person = {
		{ .job = 1, .seats = { 1, 1 }, .threads = 1,
		  .pattern = "011" },
		{ .job = 2, .seats = { 1 }, .threads = 1 },
	} },
	/* A job of two processes that go in step, and one that takes from both
	 * streams. */
	{ .name = "ranks", .units = 3, .window = 1, .ahead = 1, .budget = 4,
	  .quick = true, .joined = 3, .lockstep = true,
	  .person = {
		{ .job = 1, .seats = { 1 }, .keeps = RELEASES_AFTER },
		{ .job = 1, .seats = { 2 }, .keeps = RELEASES_AFTER },
		{ .job = 2, .seats = { 1, 2 }, .threads = 2,
		  .pattern = "000111" },
	} },
	/* Epochs: between them nobody is waited for. */
	{ .name = "epochs", .units = 2, .window = 1, .ahead = 1, .budget = 3,
	  .quick = true, .joined = 2,
	  .person = {
		{ .job = 1, .seats = { 1, 2 }, .threads = 2, .leaves = true },
		{ .job = 2, .seats = { 1 }, .threads = 1 },
	} },

	/* And larger ones. */
	{ .name = "pair-all", .large = true, .units = 2, .window = 2,
	  .ahead = 2, .budget = 2, .lates = 1, .fails = 1,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .mortal = true,
		  .keeps = RELEASES_AFTER },
		{ .job = 2, .seats = { 1 }, .threads = 1, .mortal = true },
	} },
	{ .name = "join-4", .large = true, .units = 4, .window = 2, .ahead = 2,
	  .budget = 3, .joined = 1, .maps = true,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .quits = true,
		  .leaves = true },
		{ .job = 2, .seats = { 1 }, .threads = 1 },
	} },
	{ .name = "window-3", .large = true, .units = 4, .window = 3,
	  .ahead = 2, .budget = 3, .joined = 2,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .mortal = true,
		  .keeps = KEEPS_FIRST },
		{ .job = 2, .seats = { 1 }, .threads = 1 },
	} },
	{ .name = "stop-2", .large = true, .units = 3, .window = 2, .ahead = 2,
	  .budget = 3, .joined = 2, .lag = 1,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .stops = true },
		{ .job = 2, .seats = { 1 }, .threads = 1, .stops = true },
	} },
	{ .name = "three", .large = true, .units = 2, .window = 1, .ahead = 1,
	  .budget = 3, .joined = 3, .lag = 1,
	  .person = {
		{ .job = 1, .seats = { 1 }, .mortal = true },
		{ .job = 2, .seats = { 1 }, .threads = 1, .keeps = KEEPS_ALL },
		{ .job = 3, .seats = { 1 }, .threads = 1, .stops = true },
	} },
	{ .name = "1:2-slow", .large = true, .units = 2, .window = 1,
	  .ahead = 1, .budget = 2, .joined = 2,
	  .person = {
		{ .job = 1, .seats = { 1, 2 }, .threads = 2, .pattern = "01" },
		{ .job = 2, .seats = { 1, 2 }, .threads = 0,
		  .pattern = "011" },
	} },
	{ .name = "ranks-4", .large = true, .units = 3, .window = 1, .ahead = 1,
	  .budget = 4, .quick = true, .joined = 4, .lockstep = true,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1,
		  .keeps = RELEASES_AFTER },
		{ .job = 1, .seats = { 2 }, .threads = 1 },
		{ .job = 2, .seats = { 1 } },
		{ .job = 2, .seats = { 2 }, .keeps = RELEASES_AFTER },
	} },
	{ .name = "epochs-2", .large = true, .units = 2, .window = 1,
	  .ahead = 1, .budget = 3, .quick = true,
	  .person = {
		{ .job = 1, .seats = { 1, 2 }, .threads = 2, .leaves = true },
		{ .job = 2, .seats = { 1, 2 }, .threads = 2, .mortal = true },
	} },
	{ .name = NULL },
};

static const struct stage_rule *const tables[] = {
	taker_rules, maker_rules, hub_rules, time_rules, fault_rules
};

/* How many there are of what a rule is about. */
static unsigned
count_of(const struct stage_config *cfg, unsigned as)
{
	return as == PEOPLE ? stage_people(cfg) :
	    as == PASSES ? stage_passes(cfg) : as;
}

static void
start(const void *arg, void *state)
{
	stage_start(arg, state);
}

static bool
step(const void *arg, void *state, unsigned action, struct step *s)
{
	struct stage_turn t = { .cfg = arg, .step = s };
	const struct action *act = action_at(action);
	const struct stage_rule *rule = act->rule;

	if (!rule->apply(state, &t, act->a, act->b))
		return false;
	for (unsigned p = 0; t.cfg->quick && p < stage_people(arg);)
		if (!hub_handle(state, &t, p, 0))
			p++;
	stage_normalise(arg, state);
	return true;
}

static bool
goes_on(const void *arg, unsigned action)
{
	const struct stage_rule *rule = action_at(action)->rule;

	(void)arg;
	return rule->goes_on;
}

static const char *
check(const void *arg, const void *state)
{
	return stage_check(arg, state);
}

static unsigned
blocked(const void *arg, const void *state)
{
	return stage_blocked(arg, state);
}

static struct choice
choice(unsigned i)
{
	return (struct choice){ configs[i].name, configs[i].large };
}

static void
prepare(unsigned i, unsigned broken, struct model *m)
{
	static struct stage_config cfg;

	cfg = configs[i];
	cfg.broken = (enum stage_break)broken;
	for (unsigned k = 0; k < sizeof tables / sizeof tables[0]; k++)
		for (const struct stage_rule *r = tables[k]; r->as > 0; r++)
			action_list(r, count_of(&cfg, r->as), r->bs);
	*m = (struct model){
		.state_size = offsetof(struct stage_world, person) +
		    stage_people(&cfg) * sizeof(struct m_person),
		.arg = &cfg, .start = start, .step = step, .is_hub = goes_on,
		.check = check, .blocked = blocked,
	};
}

int
main(int argc, char **argv)
{
	static const struct program p = {
		.name = "stage", .breaks = stage_break_names,
		.nr_breaks = STAGE_BREAKS,
		.choice = choice, .prepare = prepare,
	};

	return program_run(&p, argc, argv);
}
