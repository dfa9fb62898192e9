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
put_rate(const char *label, const char *unit, const struct demo_jobs_sum *s)
{
	char rate[TEXT_FIGURE];

	printf("  %-11s %8s %s/s", label, text_count(rate,
	    (uint64_t)(demo_jobs_rate(s) + 0.5)), unit);
}

static void
put_run(const char *label, const struct demo_jobs_sum *s)
{
	put_rate(label, "images", s);
	printf(", %6.2f ms of a core each\n", 1000 * demo_jobs_cost(s));
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
	demo_print_text(t, text);
}

/* Plain jobs wait for nothing but processors. */
static bool
was_disturbed(const struct demo_jobs *j)
{
	unsigned cpus = cpus_granted("/");
	double most = j->plain.seconds * (cpus < j->nr ? cpus : j->nr);

	return j->plain.cpu_seconds < most * BUSY_PART;
}

/* False: it was not, and why is said. */
static bool
is_measured(const struct term *t, const struct demo_jobs *j, const char *what)
{
	char text[640];

	if (!j->is_measured) {
		(void)snprintf(text, sizeof text, "%s could not be measured: "
		    "%s.", what, j->why_not.text);
		demo_print_text(t, text);
	}
	return j->is_measured;
}

void
demo_print_jobs(struct demo_page *p, const struct demo_jobs *j)
{
	const struct term *t = &p->term;
	const char *what = j->is_torch ? "PyTorch jobs" :
	    "jobs ('destall emulate', for no Python here has PyTorch and "
	    "Pillow)";
	char text[640];

	demo_print_head(p, "What helps preparing: jobs that share");
	if (!is_measured(t, j, "Jobs that share"))
		return;
	(void)snprintf(text, sizeof text, "%u %s at the same time, %u epochs of "
	    "%u images each, which are in the page cache, for an accelerator "
	    "that takes no time:", j->nr, what, DEMO_JOBS_EPOCHS,
	    DEMO_JOBS_ITEMS);
	demo_print_text(t, text);
	put_run("plain", &j->plain);
	put_run("DESTALL=1", &j->shared);
	put_ratio(t, j);
	if (was_disturbed(j))
		demo_print_text(t, "Other programs kept the processors busy "
		    "meanwhile: the processor time is to be trusted, the speed "
		    "is not.");
}

void
demo_print_caching(struct demo_page *p, const struct demo_jobs *j)
{
	const struct term *t = &p->term;
	char text[256];

	demo_print_head(p, "What helps reading: the cache");
	if (!is_measured(t, j, "The job with its arrays in the cache"))
		return;
	demo_print_text(t, "The job with the arrays, as it is and behind "
	    "'destall run', which keeps them in memory that all jobs share; "
	    "without the first epoch, which fills it:");
	put_rate("plain", "arrays", &j->plain);
	putchar('\n');
	put_rate("destall run", "arrays", &j->shared);
	putchar('\n');
	(void)snprintf(text, sizeof text, "With its files in the cache it is "
	    "%.2f times as fast.", demo_jobs_rate(&j->shared) /
	    demo_jobs_rate(&j->plain));
	demo_print_text(t, text);
}
