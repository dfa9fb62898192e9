/* SPDX-License-Identifier: Apache-2.0
 *
 * program.h: what the program of a model does with its configurations.
 *
 *     tests/model/NAME [--all] [--break RULE] [--only CONFIGURATION]
 *
 * Explores every configuration; with --all also those that take minutes.  With
 * --break a step of the hub or of a client is wrong, and the search must find
 * out.  Exit status 0: all that must hold does; 1: a trace was printed, or not
 * all was seen.
 */

#ifndef MODEL_PROGRAM_H
#define MODEL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/model/explore.h"

struct choice {			/* a configuration, for the command line */
	const char *name;	/* NULL: there are no more */
	bool	is_large;	/* only when all are asked for */
};

struct program {
	const char *name;
	const char *const *breaks;	/* their names; the first: nothing */
	unsigned nr_breaks;
	struct choice (*choice)(unsigned i);
	void	(*prepare)(unsigned i, unsigned broken, struct model *m);
		/* All of it but its actions, which it lists; arg stays until
		 * the next. */
};

int program_run(const struct program *p, int argc, char **argv);

/* An action is a number: the rules in order, and for each all a and b. */
struct action {
	const void *rule;
	uint8_t	a, b;
};

void action_list(const void *rule, unsigned as, unsigned bs);
	/* For each a below as and b below bs. */
const struct action *action_at(unsigned action);

#endif
