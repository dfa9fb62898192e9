/* SPDX-License-Identifier: Apache-2.0
 *
 * top.h: what the files of `destall top` share.  Runs in the command only.
 */

#ifndef TOOL_TOP_H
#define TOOL_TOP_H

#include <stdbool.h>
#include <termios.h>

#include "base/err.h"
#include "base/term.h"
#include "cache/survey.h"
#include "stage/look.h"

struct top {
	struct survey	cache;
	struct look	stage;
};

void top_print(const struct top *t, const struct term *term);
	/* For people, to term->out. */
int top_write_json(const struct top *t, const char *path, struct ds_err *err);
	/* path as json_doc_write() has it. */

/*--- the terminal --------------------------------------------------------*/

/* A picture of some lines that is drawn again in its place, and a key. */
struct top_screen {
	struct term	term;		/* of standard output */
	unsigned	lines;		/* drawn last; the cursor is below */
	unsigned	rows, columns;	/* of the terminal then */
	bool		has_keys;	/* standard input is a terminal, */
	struct termios	before;		/* and this is how it was */
};

void top_screen_open(struct top_screen *s);
void top_screen_close(struct top_screen *s);
	/* Leaves the last picture. */
void top_screen_draw(struct top_screen *s, const struct top *t);
	/* In place of the last one; where the terminal cannot do that, behind
	 * it and a blank line. */
bool top_screen_wait(struct top_screen *s, int stop_fd, uint64_t until_ns);
	/* Until then, or until stop_fd is readable; true: somebody pressed q. */

#endif
