/* SPDX-License-Identifier: Apache-2.0
 *
 * out_term_lists.c: a result on a terminal: times, loaders, what would help, what
 * could not be told.  Runs in the command only.
 */

#include <config.h>

#include "reports/out_term_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/say.h"

#define LABEL_COLUMN	2u
#define TEXT_COLUMN	16u
#define GAIN_COLUMN	11u	/* of the text after "+31 %" */
#define SECONDS_MAX	1e9	/* past it, they are printed as they are */

/*--- a line under a label --------------------------------------------------*/

struct line {
	FILE	*out;
	char	*text;
	size_t	size;
};

static void
line_begin(struct line *l)
{
	*l = (struct line){ 0 };
	l->out = open_memstream(&l->text, &l->size);
	if (l->out == NULL)
		say_no_memory();
}

/* What was printed into it, broken into lines; nothing of an empty one. */
static void
line_end(struct line *l, const struct term *t, const char *label)
{
	if (fclose(l->out) != 0)
		say_no_memory();
	if (l->text[0] != '\0') {
		fprintf(t->out, "%*s%s%-*s%s", (int)LABEL_COLUMN, "",
		    term_on(t, TERM_DIM), (int)(TEXT_COLUMN - LABEL_COLUMN),
		    label, term_off(t));
		term_wrap(t, TEXT_COLUMN, TEXT_COLUMN, l->text);
		fputc('\n', t->out);
	}
	free(l->text);
}

static void
put_text(FILE *out, const char *text)
{
	char *clean = out_term_clean(text != NULL ? text : "?");

	fputs(clean, out);
	free(clean);
}

static const char *
format_seconds(char out[TEXT_FIGURE], double s)
{
	if (s >= 0 && s < SECONDS_MAX)
		return text_duration(out, (uint64_t)(s * (double)NS_PER_S));
	(void)snprintf(out, TEXT_FIGURE, "%.3g s", s);
	return out;
}

/*--- times -----------------------------------------------------------------*/

static void
print_figure(const struct figure *f, const char *label, const char *unit,
    const struct term *t)
{
	struct line l;

	line_begin(&l);
	if (f->is_known)
		fprintf(l.out, "%.3g %s (%.3g to %.3g)", f->value, unit,
		    f->low, f->high);
	line_end(&l, t, label);
}

struct range {
	double	low, high, sum;
};

static void
range_add(struct range *g, double value, bool is_first)
{
	if (is_first || value < g->low)
		g->low = value;
	if (is_first || value > g->high)
		g->high = value;
	g->sum += value;
}

static void
print_range(FILE *out, const char *what, const struct range *g, size_t nr)
{
	fprintf(out, "%s %.3g ms", what, g->sum / (double)nr);
	if (nr > 1)
		fprintf(out, " (%.3g to %.3g)", g->low, g->high);
}

static void
print_workers(const struct result *r, const struct term *t)
{
	struct range fetch = { 0 }, prep = { 0 };
	struct line l;

	for (size_t i = 0; i < r->nr_workers; i++) {
		range_add(&fetch, r->workers[i].fetch_ms_per_sample, i == 0);
		range_add(&prep, r->workers[i].prep_ms_per_sample, i == 0);
	}
	line_begin(&l);
	if (r->nr_workers > 0) {
		fprintf(l.out, "%zu, per sample: ", r->nr_workers);
		print_range(l.out, "fetch", &fetch, r->nr_workers);
		print_range(l.out, ", prep", &prep, r->nr_workers);
	}
	line_end(&l, t, "workers");
}

static void
print_alone(const struct result *r, const struct term *t)
{
	char rate[TEXT_FIGURE];
	struct line l;
	bool any = false;

	line_begin(&l);
	for (size_t i = 0; i < r->nr_alone; i++) {
		const struct result_alone *a = &r->alone[i];

		if (!a->samples_per_s.is_known)
			continue;
		fprintf(l.out, "%s%s with %u", any ? ", " : "samples/s: ",
		    out_term_rate(rate, a->samples_per_s.value), a->workers);
		if (!any)
			fprintf(l.out, " worker%s", a->workers == 1 ? "" : "s");
		any = true;
	}
	line_end(&l, t, "loader alone");
}

/*--- what else there was ---------------------------------------------------*/

static void
print_cuts(const struct result *r, const struct term *t)
{
	char time[TEXT_FIGURE];
	struct line l;

	line_begin(&l);
	for (size_t i = 0; i < r->nr_cuts; i++) {
		fputs(i > 0 ? "; " : "", l.out);
		put_text(l.out, r->cuts[i].what);
		fprintf(l.out, " %s", format_seconds(time, r->cuts[i].seconds));
		if (r->cuts[i].times > 1)
			fprintf(l.out, " (%llu times)",
			    (unsigned long long)r->cuts[i].times);
	}
	line_end(&l, t, "left out");
}

static void
print_loaders(const struct result *r, const struct term *t)
{
	char time[TEXT_FIGURE], batches[TEXT_FIGURE];
	struct line l;
	bool any = false;

	line_begin(&l);
	for (size_t i = 0; i < r->nr_loaders; i++) {
		const struct result_loader *o = &r->loaders[i];

		if (o->is_training)
			continue;
		fputs(any ? "; " : "", l.out);
		put_text(l.out, o->name);
		fprintf(l.out, ": batch of %llu, %llu worker%s, %s batches in "
		    "%s", (unsigned long long)o->batch_size,
		    (unsigned long long)o->workers, o->workers == 1 ? "" : "s",
		    text_count(batches, o->batches),
		    format_seconds(time, o->seconds));
		any = true;
	}
	line_end(&l, t, "other loaders");
}

/*--- what would help -------------------------------------------------------*/

static void
print_fix(const struct result_fix *f, const struct term *t)
{
	char *what = out_term_clean(f->what != NULL ? f->what : "");
	char *command = out_term_clean(f->command != NULL ? f->command : "");
	int used;

	used = fprintf(t->out, "  %+.0f %%", 100 * f->gain);
	fprintf(t->out, "%*s", used > 0 && used < (int)GAIN_COLUMN ?
	    (int)GAIN_COLUMN - used : 1, "");
	term_wrap(t, GAIN_COLUMN, GAIN_COLUMN, what);
	fputc('\n', t->out);
	/* Not broken into lines: it is to be copied. */
	if (command[0] != '\0')
		fprintf(t->out, "%*s%s%s%s\n", (int)GAIN_COLUMN, "",
		    term_on(t, TERM_BOLD), command, term_off(t));
	free(what);
	free(command);
}

void
out_term_fixes(const struct result *r, const struct term *t, size_t most)
{
	if (r->nr_fixes == 0)
		return;
	fprintf(t->out, "%sWhat would help%s\n", term_on(t, TERM_BOLD),
	    term_off(t));
	for (size_t i = 0; i < r->nr_fixes && i < most; i++)
		print_fix(&r->fixes[i], t);
}

static void
print_confessions(const struct result *r, const struct term *t)
{
	if (r->nr_confessions == 0)
		return;
	fprintf(t->out, "\n%sNot measured, or not for sure%s\n",
	    term_on(t, TERM_BOLD), term_off(t));
	for (size_t i = 0; i < r->nr_confessions; i++) {
		char *clean = out_term_clean(r->confessions[i]);

		fputs("  - ", t->out);
		term_wrap(t, 4, 4, clean);
		fputc('\n', t->out);
		free(clean);
	}
}

/*--- the run ---------------------------------------------------------------*/

static void
print_run(const struct result *r, const struct term *t)
{
	char time[TEXT_FIGURE];
	struct line l;

	line_begin(&l);
	if (r->id != NULL) {
		put_text(l.out, r->id);
		fputs(", ", l.out);
	}
	fputs(mode_names[r->mode], l.out);
	fprintf(l.out, ", %s", format_seconds(time, r->seconds));
	if (r->starts > 1)
		fprintf(l.out, ", %llu starts", (unsigned long long)r->starts);
	fputs(": ", l.out);
	if (r->name != NULL) {
		put_text(l.out, r->name);
		fputs(r->command != NULL ? ": " : "", l.out);
	}
	if (r->command != NULL)
		put_text(l.out, r->command);
	line_end(&l, t, "run");
}

void
out_term_lists(const struct result *r, const struct term *t)
{
	print_figure(&r->cpu_ms_per_sample, "processor", "ms per sample", t);
	print_figure(&r->handover_ms_per_batch, "hand-over", "ms per batch", t);
	print_workers(r, t);
	print_alone(r, t);
	print_loaders(r, t);
	print_cuts(r, t);
	print_run(r, t);
	if (r->nr_fixes > 0)
		fputc('\n', t->out);
	out_term_fixes(r, t, r->nr_fixes);
	print_confessions(r, t);
}
