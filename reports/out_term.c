/* SPDX-License-Identifier: Apache-2.0
 *
 * out_term.c: a result on a terminal: verdict, shares, speeds.
 * Runs in the command only.
 */

#include <config.h>

#include "reports/out_term_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"

#define LINE_MAX_WIDTH	80u
#define BAR_MARGIN	4u	/* two blanks, two brackets */
#define COUNT_MAX	1e15	/* past it, figures are rounded */
#define BRIEF_FIXES	3u

/* As people call them, and how the bar shows them without colour. */
static const struct {
	const char	*name;
	char		mark;
	enum term_style	style;
} shares[SHARES] = {
	[SHARE_COMPUTE] = { "compute", '=', TERM_GOOD },
	[SHARE_PREP] = { "prep stall", '#', TERM_WARN },
	[SHARE_FETCH] = { "fetch stall", '%', TERM_BAD },
	[SHARE_HANDOVER] = { "hand-over", '-', TERM_DIM },
};

/* In the order of printing: first what the job does, then what its parts can. */
static const struct {
	enum rate	rate;
	const char	*name, *what;
} rates[] = {
	{ RATE_ACTUAL, "actual", "the job as it is" },
	{ RATE_INGEST, "G", "the same if data cost nothing" },
	{ RATE_INGEST_BUSY, "G, busy", "the same, with workers busy" },
	{ RATE_PREP, "P", "its loader alone, files in memory" },
	{ RATE_STORAGE, "S", "reading alone, files not in memory" },
	{ RATE_CACHE, "C", "reading alone, files in memory" },
	{ RATE_LOADER_CACHED, "cached", "the job, files in memory" },
	{ RATE_LOADER_COLD, "cold", "the job, files not in memory" },
};

/*--- words and figures -----------------------------------------------------*/

char *
out_term_clean(const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *clean = malloc(size);

	if (clean == NULL)
		say_no_memory();
	text_clean(clean, size, text);
	return clean;
}

/* The bytes of so many columns, one per character. */
static size_t
bytes_of(const char *text, unsigned columns)
{
	size_t len = 0;

	while (text[len] != '\0') {
		bool starts = ((unsigned char)text[len] & 0xc0) != 0x80;

		if (starts && columns-- == 0)
			break;
		len++;
	}
	return len;
}

void
out_term_text(const struct term *t, const char *text, unsigned max)
{
	char *clean = out_term_clean(text);

	if (max > 3 && clean[bytes_of(clean, max)] != '\0')
		fprintf(t->out, "%.*s...", (int)bytes_of(clean, max - 3), clean);
	else
		fputs(clean, t->out);
	free(clean);
}

const char *
out_term_rate(char out[TEXT_FIGURE], double value)
{
	if (value >= 99.5 && value < COUNT_MAX)
		return text_count(out, (uint64_t)llround(value));
	(void)snprintf(out, TEXT_FIGURE, "%.3g", value);
	return out;
}

const char *
out_term_colour(const struct term *t, enum share share)
{
	return term_on(t, shares[share].style);
}

/*--- the verdict -----------------------------------------------------------*/

static const char *
choose_sentence(const struct result *r)
{
	if (r->sentence != NULL && r->sentence[0] != '\0')
		return r->sentence;
	if (!r->has_verdict)
		return "No verdict: too little could be measured";
	return r->bottleneck == SHARE_COMPUTE ? "No data stall" :
	    "The job waits for its data";
}

static void
print_sentence(const struct result *r, const struct term *t)
{
	char *clean = out_term_clean(choose_sentence(r));

	fputs(term_on(t, TERM_BOLD), t->out);
	term_wrap(t, 0, 0, clean);
	fprintf(t->out, "%s\n\n", term_off(t));
	free(clean);
}

/*--- shares ----------------------------------------------------------------*/

static double
clip(double share)
{
	return share > 0 ? share < 1 ? share : 1 : 0;
}

/* Ends are rounded, not lengths: so the bar is as long as all of it. */
static void
print_bar(const struct result *r, const struct term *t)
{
	unsigned width = (t->width < LINE_MAX_WIDTH ? t->width :
	    LINE_MAX_WIDTH) - BAR_MARGIN, at = 0;
	double sum = 0;

	fputs("  [", t->out);
	for (unsigned i = 0; i < SHARES; i++) {
		sum = clip(sum + clip(r->share[i].value));
		fputs(out_term_colour(t, i), t->out);
		for (; at < (unsigned)lround(sum * width); at++)
			fputc(shares[i].mark, t->out);
		fputs(term_off(t), t->out);
	}
	fprintf(t->out, "%*s]\n", (int)(width - at), "");
}

static void
print_share(const struct figure *f, enum share share, const struct term *t)
{
	char ends[64];

	(void)snprintf(ends, sizeof ends, "%.1f to %.1f", 100 * f->low,
	    100 * f->high);
	fprintf(t->out, "  %s%c%s %-11s %7.1f %%  %s\n",
	    out_term_colour(t, share), shares[share].mark, term_off(t),
	    shares[share].name, 100 * f->value, ends);
}

static void
print_shares(const struct result *r, const struct term *t)
{
	bool any = false;

	for (unsigned i = 0; i < SHARES; i++)
		any = any || r->share[i].is_known;
	if (!any)
		return;
	print_bar(r, t);
	fprintf(t->out, "  %s%-13s %9s  %s%s\n", term_on(t, TERM_DIM),
	    "of the time", "", "95 % interval", term_off(t));
	for (unsigned i = 0; i < SHARES; i++)
		if (r->share[i].is_known)
			print_share(&r->share[i], i, t);
	fputc('\n', t->out);
}

/*--- speeds ----------------------------------------------------------------*/

static void
print_rates(const struct result *r, const struct term *t)
{
	char value[TEXT_FIGURE], low[TEXT_FIGURE], high[TEXT_FIGURE];
	char ends[2 * TEXT_FIGURE + 8];
	bool any = false;

	for (unsigned i = 0; i < RATES; i++) {
		const struct figure *f = &r->rate[rates[i].rate];

		if (!f->is_known)
			continue;
		if (!any)
			fprintf(t->out, "  %s%-8s %9s  %s%s\n",
			    term_on(t, TERM_DIM), "speed", "samples/s",
			    "95 % interval", term_off(t));
		any = true;
		(void)snprintf(ends, sizeof ends, "%s to %s",
		    out_term_rate(low, f->low), out_term_rate(high, f->high));
		fprintf(t->out, "  %-8s %9s  %-18s %s%s%s\n", rates[i].name,
		    out_term_rate(value, f->value), ends, term_on(t, TERM_DIM),
		    rates[i].what, term_off(t));
	}
	if (any)
		fputc('\n', t->out);
}

/*--- the whole -------------------------------------------------------------*/

void
out_term_print(const struct result *r, const struct term *t)
{
	print_sentence(r, t);
	print_shares(r, t);
	print_rates(r, t);
	out_term_lists(r, t);
}

void
out_term_brief(const struct result *r, const struct term *t)
{
	print_sentence(r, t);
	print_shares(r, t);
	out_term_fixes(r, t, BRIEF_FIXES);
}
