/* SPDX-License-Identifier: Apache-2.0
 *
 * marker.h: how far a program has come whose loader cannot be seen: lines on its
 * standard output, or of a file that grows.  Runs in the command only.
 *
 *     stdout          every line is a step
 *     stdout:TEXT     every line that has TEXT in it
 *     file:PATH       every line that is added to the file
 *
 * or, where none of them was chosen, by ds_step().
 *
 *  1. What the program writes to its standard output is passed on, byte by byte,
 *     whether or not it is a marker.
 */

#ifndef ANALYZER_MARKER_H
#define ANALYZER_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "reports/result.h"

enum marker_kind { MARKER_NONE, MARKER_LINES, MARKER_FILE };

struct marker_choice {
	enum marker_kind kind;
	const char	*text;		/* in the line, or the path */
};

int marker_parse(const char *text, void *choice, struct ds_err *err);
	/* An arg_parse_f for a struct marker_choice. */

struct marker {
	struct marker_choice choice;
	int		from, to;	/* of a pipe; -1 */
	off_t		at;		/* in the file */
	char		line[1024];	/* as much as there is of it */
	size_t		len;
	uint64_t	*steps;		/* when each was seen */
	size_t		nr;
	double		samples;	/* that were told with them; 0: none */
	uint64_t	opened_ns;
};

int marker_open(struct marker *m, const struct marker_choice *choice,
    struct ds_err *err);
	/* Before a start of the program, whose standard output is to be m->to,
	 * if that is not -1. */
void marker_look(struct marker *m);
	/* At what has come. */
void marker_note(struct marker *m, uint64_t at_ns, uint64_t samples);
	/* A step that the program told by itself (ds_step()), which is not
	 * believed: it counts where no other marker was chosen, and as late as
	 * it can have been. */
void marker_close(struct marker *m);
	/* What is still there is passed on first. */

double marker_step_samples(const struct marker *m, double otherwise);
	/* In a step: as told, or otherwise. */
struct figure marker_rate(const struct marker *m, double samples);
	/* By steps of so many samples each; the first fifth of the time, in which
	 * programs start, does not count. */

#endif
