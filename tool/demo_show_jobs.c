/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_show_jobs.c: what the demo's training jobs have measured, for a terminal.
 * Runs in the command only.
 */

#include <config.h>

#include "tool/demo.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/cpus.h"
#include "base/text.h"

#define BUSY_PART	0.7

static void
put_text(const struct term *t, const char *text)
{
	(void)term_wrap(t, 0, 0, text);
	putchar('\n');
}

static void
put_run(const char *label, const struct demo_jobs_sum *s)
{
	char rate[TEXT_FIGURE];

	printf("  %-11s %8s images/s, %6.2f ms of a core each\n", label,
	    text_count(rate, (uint64_t)(demo_jobs_rate(s) + 0.5)),
	    1000 * demo_jobs_cost(s));
}

static void
put_ratio(const struct term *t, const struct demo_jobs *j)
{
	char others[TEXT_FIGURE], samples[TEXT_FIGURE], text[512];

	if (j->shared.of_others == 0)
		(void)snprintf(text, sizeof text, "With DESTALL=1 no job had a "
		    "sample of another: they did not share here, and these "
		    "figures show nothing of it.");
	else
		(void)snprintf(text, sizeof text, "With DESTALL=1 they are "
		    "%.2f times as fast together, for %.2f of the processor "
		    "time: %s of %s samples were made by other jobs.",
		    demo_jobs_rate(&j->shared) / demo_jobs_rate(&j->plain),
		    demo_jobs_cost(&j->shared) / demo_jobs_cost(&j->plain),
		    text_count(others, j->shared.of_others),
		    text_count(samples, j->shared.samples));
	put_text(t, text);
}

/* Plain jobs wait for nothing but processors. */
static bool
was_disturbed(const struct demo_jobs *j)
{
	unsigned cpus = cpus_granted("/");
	double most = j->plain.seconds * (cpus < j->nr ? cpus : j->nr);

	return j->plain.cpu_seconds < most * BUSY_PART;
}

void
demo_print_jobs(const struct term *t, const struct demo_jobs *j)
{
	const char *what = j->is_torch ? "PyTorch jobs" :
	    "jobs ('destall emulate', for no Python here has PyTorch and "
	    "Pillow)";
	char text[640];

	if (j->nr == 0)
		return;
	putchar('\n');
	if (!j->is_measured) {
		(void)snprintf(text, sizeof text, "Jobs that share could not "
		    "be measured: %s.", j->why_not.text);
		put_text(t, text);
		return;
	}
	(void)snprintf(text, sizeof text, "%u %s at the same time, %u epochs of "
	    "%u images each, which are in the page cache, for an accelerator "
	    "that takes no time:", j->nr, what, DEMO_JOBS_EPOCHS,
	    DEMO_JOBS_ITEMS);
	put_text(t, text);
	put_run("plain", &j->plain);
	put_run("DESTALL=1", &j->shared);
	put_ratio(t, j);
	if (was_disturbed(j))
		put_text(t, "Other programs kept the processors busy "
		    "meanwhile: the processor time is to be trusted, the speed "
		    "is not.");
}
