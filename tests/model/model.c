/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c: the model of the protocol of leases: the program.
 *
 *     tests/model/model [--all] [--break RULE] [--only CONFIGURATION]
 *
 * Explores every configuration; with --all also those that take minutes.  With
 * --break a step of the hub or of a client is wrong, and the search must find
 * out.  Exit status 0: all that must hold does; 1: a trace was printed.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "tests/model/world.h"

#define LIMIT	UINT64_C(20000000)	/* states */

const struct config configs[] = {
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

/* An action is a number: the rules in order, and for each all a and b. */
struct action {
	const struct rule *rule;
	uint8_t	a, b;
};
static struct action actions[512];
static unsigned nr_actions;

static void
list_actions(void)
{
	for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
		for (const struct rule *r = tables[i]; r->as > 0; r++)
			for (unsigned n = 0; n < r->as * r->bs; n++) {
				must(nr_actions < 512);
				actions[nr_actions++] = (struct action){
					r, (uint8_t)(n / r->bs),
					(uint8_t)(n % r->bs),
				};
			}
}

static void
start(const void *arg, void *state)
{
	world_start(arg, state);
}

static bool
step(const void *arg, void *state, unsigned action, struct step *s)
{
	struct turn t = { .cfg = arg, .step = s };
	const struct action *act = &actions[action];

	return act->rule->apply(state, &t, act->a, act->b);
}

static bool
is_hub(const void *arg, unsigned action)
{
	(void)arg;
	return actions[action].rule->hub;
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

/* True if nothing is broken. */
static bool
run(const struct config *cfg)
{
	struct model m = {
		.state_size = sizeof(struct world),
		.nr_actions = nr_actions,
		.arg = cfg, .start = start, .step = step, .is_hub = is_hub,
		.check = check, .check_step = check_step,
		.check_quiet = check_quiet, .blocked = blocked,
	};
	struct explored e;

	explore(&m, LIMIT, stdout, &e);
	printf("%-10s %9llu states %10llu steps, at most %u deep: %s\n",
	    cfg->name, (unsigned long long)e.states,
	    (unsigned long long)e.steps, e.depth,
	    e.broken != NULL ? "BROKEN" : e.all ? "all hold" : "NOT ALL SEEN");
	fflush(stdout);
	return e.broken == NULL && e.all;
}

static enum break_rule
break_of(const char *name)
{
	for (unsigned i = 0; i < BREAKS; i++)
		if (strcmp(name, break_names[i]) == 0)
			return (enum break_rule)i;
	fprintf(stderr, "model: no rule '%s' to break; there are:", name);
	for (unsigned i = 1; i < BREAKS; i++)
		fprintf(stderr, " %s", break_names[i]);
	fprintf(stderr, "\n");
	exit(2);
}

int
main(int argc, char **argv)
{
	enum break_rule broken = BREAK_NOTHING;
	const char *only = NULL;
	bool large = false, good = true, any = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--all") == 0) {
			large = true;
		} else if (strcmp(argv[i], "--break") == 0 && i + 1 < argc) {
			broken = break_of(argv[++i]);
		} else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
			only = argv[++i];
		} else {
			fprintf(stderr, "model: what is '%s'?\n", argv[i]);
			return 2;
		}
	}
	list_actions();
	for (const struct config *c = configs; c->name != NULL && good; c++) {
		struct config cfg = *c;

		if (only != NULL ? strcmp(only, c->name) != 0 :
		    c->large && !large)
			continue;
		any = true;
		cfg.broken = broken;
		good = run(&cfg);
	}
	return good && any ? 0 : 1;
}
