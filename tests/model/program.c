/* SPDX-License-Identifier: Apache-2.0
 *
 * program.c: what the program of a model does with its configurations.
 */

#include <config.h>

#include "tests/model/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"

#define LIMIT	UINT64_C(30000000)	/* states */
#define ACTIONS	512u

/*--- actions -------------------------------------------------------------*/

static struct action actions[ACTIONS];
static unsigned nr_actions;

void
action_list(const void *rule, unsigned as, unsigned bs)
{
	for (unsigned n = 0; n < as * bs; n++) {
		must(nr_actions < ACTIONS);
		actions[nr_actions++] = (struct action){
			rule, (uint8_t)(n / bs), (uint8_t)(n % bs),
		};
	}
}

const struct action *
action_at(unsigned action)
{
	return &actions[action];
}

/*--- configurations ------------------------------------------------------*/

/* True if nothing is broken. */
static bool
run(const struct program *p, unsigned i, unsigned broken)
{
	struct explored e;
	struct model m;

	nr_actions = 0;
	p->prepare(i, broken, &m);
	m.nr_actions = nr_actions;
	explore(&m, LIMIT, stdout, &e);
	printf("%-10s %9llu states %10llu steps, at most %u deep: %s\n",
	    p->choice(i).name, (unsigned long long)e.states,
	    (unsigned long long)e.steps, e.depth,
	    e.broken != NULL ? "BROKEN" : e.all ? "all hold" : "NOT ALL SEEN");
	fflush(stdout);
	return e.broken == NULL && e.all;
}

static unsigned
break_of(const struct program *p, const char *name)
{
	for (unsigned i = 0; i < p->nr_breaks; i++)
		if (strcmp(name, p->breaks[i]) == 0)
			return i;
	fprintf(stderr, "%s: no rule '%s' to break; there are:", p->name, name);
	for (unsigned i = 1; i < p->nr_breaks; i++)
		fprintf(stderr, " %s", p->breaks[i]);
	fprintf(stderr, "\n");
	exit(2);
}

int
program_run(const struct program *p, int argc, char **argv)
{
	const char *only = NULL;
	unsigned broken = 0;
	bool large = false, good = true, any = false;
	struct choice c;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--all") == 0) {
			large = true;
		} else if (strcmp(argv[i], "--break") == 0 && i + 1 < argc) {
			broken = break_of(p, argv[++i]);
		} else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
			only = argv[++i];
		} else {
			fprintf(stderr, "%s: what is '%s'?\n", p->name,
			    argv[i]);
			return 2;
		}
	}
	for (unsigned i = 0; (c = p->choice(i)).name != NULL; i++) {
		if (only != NULL ? strcmp(only, c.name) != 0 :
		    c.is_large && !large)
			continue;
		any = true;
		good &= run(p, i, broken);
	}
	return good && any ? 0 : 1;
}
