/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c: the model of the protocol of leases: the program (program.h).
 */

#include <config.h>

#include "tests/model/program.h"
#include "tests/model/world.h"

static const struct config configs[] = {
	{ .name = "orphan", .sets = 1, .items = 1, .clients = 2, .cap = 1,
	  .budget = 3, .visits = { { 1 }, { 1 } }, .orphans = 1, .mortal = 3,
	  .early = 1, .fails = true, .no_memory = true },
	{ .name = "two-items", .sets = 1, .items = 2, .clients = 2, .cap = 2,
	  .budget = 4, .visits = { { 1 }, { 1 } }, .mortal = 1 },
	{ .name = "one-fits", .sets = 1, .items = 2, .clients = 2, .cap = 1,
	  .budget = 2, .visits = { { 1 }, { 1 } }, .orphans = 1, .mortal = 1 },
	{ .name = "three", .sets = 1, .items = 1, .clients = 3, .cap = 1,
	  .budget = 2, .visits = { { 1 }, { 1 }, { 1 } }, .mortal = 3,
	  .last_cap_less = 1 },
	{ .name = "threads", .sets = 1, .items = 1, .clients = 3, .cap = 1,
	  .budget = 3, .visits = { { 1 }, { 1 }, { 1 } }, .threads = true,
	  .lies = 1, .fails = true },
	{ .name = "drop", .sets = 2, .items = 1, .clients = 2, .cap = 1,
	  .budget = 1, .visits = { { 1, 2 }, { 2, 1 } }, .orphans = 1,
	  .mortal = 1, .drops = true },
	{ .name = "corrupt", .sets = 1, .items = 2, .clients = 2, .cap = 1,
	  .budget = 2, .visits = { { 1 }, { 1 } }, .flips = 1, .lies = 1 },
	{ .name = "all-of-it", .large = true, .sets = 1, .items = 2,
	  .clients = 2, .cap = 2, .budget = 4, .visits = { { 1 }, { 1 } },
	  .orphans = 1, .mortal = 3, .early = 1, .fails = true,
	  .no_memory = true },
	{ .name = NULL },
};

static const struct rule *const tables[] = { client_rules, hub_rules };

static void
start(const void *arg, void *state)
{
	world_start(arg, state);
}

static bool
step(const void *arg, void *state, unsigned action, struct step *s)
{
	struct turn t = { .cfg = arg, .step = s };
	const struct action *act = action_at(action);
	const struct rule *rule = act->rule;

	return rule->apply(state, &t, act->a, act->b);
}

static bool
is_hub(const void *arg, unsigned action)
{
	const struct rule *rule = action_at(action)->rule;

	(void)arg;
	return rule->hub;
}

static const char *
check(const void *arg, const void *state)
{
	return world_check(arg, state);
}

static const char *
check_step(const void *arg, const void *before, const void *after)
{
	return world_check_step(arg, before, after);
}

static const char *
check_quiet(const void *arg, const void *state)
{
	return world_check_quiet(arg, state);
}

static unsigned
blocked(const void *arg, const void *state)
{
	return world_blocked(arg, state);
}

static struct choice
choice(unsigned i)
{
	return (struct choice){ configs[i].name, configs[i].large };
}

static void
prepare(unsigned i, unsigned broken, struct model *m)
{
	static struct config cfg;

	cfg = configs[i];
	cfg.broken = (enum break_rule)broken;
	for (unsigned k = 0; k < sizeof tables / sizeof tables[0]; k++)
		for (const struct rule *r = tables[k]; r->as > 0; r++)
			action_list(r, r->as, r->bs);
	*m = (struct model){
		.state_size = sizeof(struct world),
		.arg = &cfg, .start = start, .step = step, .is_hub = is_hub,
		.check = check, .check_step = check_step,
		.check_quiet = check_quiet, .blocked = blocked,
	};
}

int
main(int argc, char **argv)
{
	static const struct program p = {
		.name = "model", .breaks = break_names, .nr_breaks = BREAKS,
		.choice = choice, .prepare = prepare,
	};

	return program_run(&p, argc, argv);
}
