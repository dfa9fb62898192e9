/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_show_profile.c: what the demo's profiles found, and what is around them, for
 * a terminal.  Runs in the command only.
 */

#include <config.h>

#include "tool/demo.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "reports/out_term.h"
#include "tool/demo_arrays.h"

/*--- around the parts ----------------------------------------------------*/

void
demo_print_text(const struct term *t, const char *text)
{
	(void)term_wrap(t, 0, 0, text);
	putchar('\n');
}

void
demo_print_head(struct demo_page *p, const char *text)
{
	if (p->parts > 0)
		putchar('\n');
	p->parts++;
	printf("%s%u. %s%s\n\n", term_on(&p->term, TERM_BOLD), p->parts, text,
	    term_off(&p->term));
}

void
demo_print_end(struct demo_page *p, const struct demo_found *f)
{
	char text[256], time[TEXT_FIGURE];

	(void)snprintf(text, sizeof text, "It took %s, and all that it made is "
	    "removed. For jobs of your own: destall profile -- python "
	    "train.py", text_duration(time, f->elapsed_ns));
	if (p->parts > 0)
		putchar('\n');
	demo_print_text(&p->term, text);
}

/*--- a profile -----------------------------------------------------------*/

static const struct {
	const char	*head;
	const char	*job;
	enum share	expected;
	const char	*otherwise;
} kinds[DEMO_KINDS] = {
	[DEMO_PICTURES] = {
		"Where does the time go? A job that prepares pictures",
		"pictures, in memory, decoded, cut and turned by two workers, "
		"for an emulated accelerator:",
		SHARE_PREP,
		"Preparing is not what this job waits for most on this machine.",
	},
	[DEMO_ARRAYS] = {
		"Where does the time go? A job that reads arrays",
		"arrays of 1 MiB, read whole and hardly prepared, which are "
		"out of the page cache when an epoch begins, as those of a set "
		"that is larger than memory are:",
		SHARE_FETCH,
		"Reading is not what this job waits for most here: the disk is "
		"fast enough for it, or the folder is in memory (TMPDIR chooses "
		"another).",
	},
};

_Static_assert(DEMO_ARRAYS_BYTES == 1 << 20, "kinds[] says so");

/* On two lines: it is that long. */
static void
put_command(const char *command)
{
	static const char between[] = " -- ";
	const char *job = strstr(command, between);

	/* There is none of a job that there cannot be. */
	if (job != NULL)
		printf("  $ %.*s -- \\\n        %s\n\n", (int)(job - command),
		    command, job + sizeof between - 1);
}

void
demo_print_profile(struct demo_page *p, const struct demo_profile *found,
    enum demo_kind kind)
{
	const struct result *r = &found->result;
	const struct term *t = &p->term;
	char text[640];

	demo_print_head(p, kinds[kind].head);
	(void)snprintf(text, sizeof text, "%u %s", kind == DEMO_ARRAYS ?
	    DEMO_ARRAYS_ITEMS : DEMO_JOBS_ITEMS, kinds[kind].job);
	demo_print_text(t, text);
	put_command(found->command);
	if (!found->is_measured) {
		(void)snprintf(text, sizeof text, "It could not be profiled: "
		    "%s.", found->why_not.text);
		demo_print_text(t, text);
		return;
	}
	out_term_brief(r, t);
	if (r->nr_fixes == 0)
		demo_print_text(t, "It knows of nothing that would help.");
	if (r->has_verdict && r->bottleneck != kinds[kind].expected)
		demo_print_text(t, kinds[kind].otherwise);
}
