/* SPDX-License-Identifier: Apache-2.0
 *
 * explore.h: every order of events of a model, breadth first.
 *
 * It knows nothing of what is modelled: a state is bytes, an action a number.
 *
 *  1. Every state that can be reached is seen once.  Two are taken for the
 *     same if 128 bits of hash agree: of a million states some two do by
 *     chance once in 10^26 runs.
 *  2. What is wrong is shown with a shortest trace that leads to it.
 *  3. Progress: from every state in which somebody is blocked, steps of the
 *     hub alone lead to one in which that somebody is not.
 */

#ifndef MODEL_EXPLORE_H
#define MODEL_EXPLORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct step {
	const char *broken;	/* a rule that only the step can see, or NULL */
	char	words[200];	/* what happened; only filled for a trace */
	bool	tell;		/* words are wanted */
};

void step_tell(struct step *s, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
	/* Adds to its words. */

struct model {
	size_t	state_size;	/* a multiple of 8, at most EXPLORE_STATE_MAX */
	unsigned nr_actions;
	const void *arg;
	void	(*start)(const void *arg, void *state);
	bool	(*step)(const void *arg, void *state, unsigned action,
		    struct step *s);
		/* False if it cannot happen here; the state is lost then. */
	bool	(*is_hub)(const void *arg, unsigned action);
		/* A step that comes without anybody outside doing something. */
	const char *(*check)(const void *arg, const void *state);
	const char *(*check_step)(const void *arg, const void *before,
		    const void *after);
	const char *(*check_quiet)(const void *arg, const void *state);
		/* Where the hub has nothing left to do.  This and check_step
		 * may be NULL. */
	unsigned (*blocked)(const void *arg, const void *state);
		/* Who waits for something: a bit for each. */
};

#define EXPLORE_STATE_MAX	1024u

struct explored {
	uint64_t states;
	uint64_t steps;
	unsigned depth;		/* the longest of the shortest ways */
	bool	 all;		/* false: there are more than the limit */
	const char *broken;	/* NULL: nothing */
};

void explore(const struct model *m, uint64_t limit, FILE *traces,
    struct explored *e);
	/* Writes the trace of what is broken; asserts that there is memory. */

#endif
