/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.c: the model of the stage: the program.
 *
 *     tests/model/stage [--all] [--break RULE] [--only CONFIGURATION]
 *
 * Explores every configuration; with --all also those that take minutes.  With
 * --break a step of the hub or of a process is wrong, and the search must find
 * out.  Exit status 0: all that must hold does; 1: a trace was printed.
 */

#include <config.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "tests/model/stage_world.h"

#define LIMIT	UINT64_C(30000000)	/* states */

const struct stage_config stage_configs[] = {
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
		{ .job = 1, .seats = { 1 } },
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
	  .budget = 2, .joined = 3, .lag = 1,
	  .person = {
		{ .job = 1, .seats = { 1 }, .threads = 1, .mortal = true },
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

/* An action is a number: the rules in order, and for each all a and b. */
struct action {
	const struct stage_rule *rule;
	uint8_t	a, b;
};
static struct action actions[512];
static unsigned nr_actions;

/* How many there are of what a rule is about. */
static unsigned
count_of(const struct stage_config *cfg, unsigned as)
{
	return as == PEOPLE ? stage_people(cfg) :
	    as == PASSES ? stage_passes(cfg) : as;
}

static void
list_actions(const struct stage_config *cfg)
{
	nr_actions = 0;
	for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
		for (const struct stage_rule *r = tables[i]; r->as > 0; r++)
			for (unsigned n = 0; n < count_of(cfg, r->as) * r->bs;
			    n++) {
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
	stage_start(arg, state);
}

static bool
step(const void *arg, void *state, unsigned action, struct step *s)
{
	struct stage_turn t = { .cfg = arg, .step = s };
	const struct action *act = &actions[action];

	if (!act->rule->apply(state, &t, act->a, act->b))
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
	(void)arg;
	return actions[action].rule->goes_on;
}

static const char *
check(const void *arg, const void *state)
{
	return stage_check(arg, state);
}

static const char *
check_step(const void *arg, const void *before, const void *after)
{
	(void)arg;
	(void)before;
	(void)after;
	return NULL;
}

static const char *
check_quiet(const void *arg, const void *state)
{
	(void)arg;
	(void)state;
	return NULL;
}

static unsigned
blocked(const void *arg, const void *state)
{
	return stage_blocked(arg, state);
}

/* True if nothing is broken. */
static bool
run(const struct stage_config *cfg)
{
	struct model m = {
		.state_size = offsetof(struct stage_world, person) +
		    stage_people(cfg) * sizeof(struct m_person),
		.arg = cfg, .start = start, .step = step, .is_hub = goes_on,
		.check = check, .check_step = check_step,
		.check_quiet = check_quiet, .blocked = blocked,
	};
	struct explored e;

	list_actions(cfg);
	m.nr_actions = nr_actions;
	explore(&m, LIMIT, stdout, &e);
	printf("%-10s %9llu states %10llu steps, at most %u deep: %s\n",
	    cfg->name, (unsigned long long)e.states,
	    (unsigned long long)e.steps, e.depth,
	    e.broken != NULL ? "BROKEN" : e.all ? "all hold" : "NOT ALL SEEN");
	fflush(stdout);
	return e.broken == NULL && e.all;
}

static enum stage_break
break_of(const char *name)
{
	for (unsigned i = 0; i < STAGE_BREAKS; i++)
		if (strcmp(name, stage_break_names[i]) == 0)
			return (enum stage_break)i;
	fprintf(stderr, "stage: no rule '%s' to break; there are:", name);
	for (unsigned i = 1; i < STAGE_BREAKS; i++)
		fprintf(stderr, " %s", stage_break_names[i]);
	fprintf(stderr, "\n");
	exit(2);
}

int
main(int argc, char **argv)
{
	enum stage_break broken = BREAK_NONE;
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
			fprintf(stderr, "stage: what is '%s'?\n", argv[i]);
			return 2;
		}
	}
	for (const struct stage_config *c = stage_configs;
	    c->name != NULL; c++) {
		struct stage_config cfg = *c;

		if (only != NULL ? strcmp(only, c->name) != 0 :
		    c->large && !large)
			continue;
		any = true;
		cfg.broken = broken;
		good &= run(&cfg);
	}
	return good && any ? 0 : 1;
}
