/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_show.c: the demo's cache next to others, as a picture in the terminal.
 * Runs in the command only.
 */

#include <config.h>

#include "tool/demo.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/term.h"
#include "base/text.h"

#define LABEL	23u		/* columns before a bar */
#define FIGURES	29u		/* and after it, and a column free */
#define BAR_MAX	60u
#define NOTE	9u		/* columns of a word */

/*--- bars ----------------------------------------------------------------*/

/* By the variables that setlocale(3) would look at, in its order. */
static bool
has_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value;

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		value = getenv(names[i]);
		if (value != NULL && value[0] != '\0')
			return strcasestr(value, "utf-8") != NULL ||
			    strcasestr(value, "utf8") != NULL;
	}
	return false;
}

struct picture {
	struct term	term;
	bool		blocks;		/* the terminal has them */
	unsigned	width;		/* of a whole bar */
	uint64_t	whole;		/* what it stands for */
};

static void
start_picture(struct picture *p, const struct term *t, uint64_t whole)
{
	p->term = *t;
	p->blocks = p->term.can_redraw && has_utf8();
	p->width = p->term.width - LABEL - FIGURES;
	if (p->term.width < LABEL + FIGURES + 8)
		p->width = 8;
	if (p->width > BAR_MAX)
		p->width = BAR_MAX;
	p->whole = whole;
}

/* To an eighth of a column where there are blocks for it. */
static void
put_bar(const struct picture *p, uint64_t n)
{
	static const char *const part[] = {
		"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b",
		"\u258a", "\u2589",
	};
	/* The kernel may count more than the images: what finds them. */
	uint64_t most = n < p->whole ? n : p->whole;
	uint64_t eighths = (most * p->width * 8 + p->whole / 2) / p->whole;
	unsigned columns = (unsigned)(eighths / 8), rest = eighths % 8;

	if (!p->blocks) {
		columns += rest >= 4;
		rest = 0;
	}
	for (unsigned i = 0; i < columns; i++)
		fputs(p->blocks ? "\u2588" : "#", stdout);
	fputs(part[rest], stdout);
	columns += rest > 0;
	printf("%*s", (int)(p->width - columns), "");
}

static void
put_row(const struct picture *p, const char *label, enum term_style style,
    uint64_t bytes)
{
	char size[TEXT_FIGURE];

	printf("  %-*s%s", (int)LABEL - 2, label, term_on(&p->term, style));
	if (bytes == DEMO_NOT_COUNTED) {
		printf("%*s%s %8s %7s", (int)p->width, "",
		    term_off(&p->term), "?", "");
		return;
	}
	put_bar(p, bytes);
	printf("%s %8s %5.1f %%", term_off(&p->term), text_size(size, bytes),
	    100 * (double)bytes / (double)p->whole);
}

/* Images per second. */
static double
rate(const struct demo_found *f, enum demo_run run, unsigned e)
{
	uint64_t ns = f->epoch[run][e].elapsed_ns;

	return (double)f->law.items * (double)NS_PER_S /
	    (double)(ns > 0 ? ns : 1);
}

static void
put_measured(const struct picture *p, const struct demo_found *f,
    enum demo_run run, unsigned e)
{
	const char *plain = !demo_is_counted(f) ? "without destall" :
	    f->limit_bytes > 0 ? "page cache" : "no cache";
	char count[TEXT_FIGURE];

	put_row(p, run == DEMO_PLAIN ? plain : "destall run",
	    run == DEMO_PLAIN ? TERM_BAD : TERM_GOOD,
	    demo_storage(f, run, e));
	printf(" %8s/s\n", text_count(count,
	    (uint64_t)(rate(f, run, e) + 0.5)));
}

static void
put_epoch(const struct picture *p, const struct demo_found *f, unsigned e)
{
	static const char *const labels[DEMO_CACHES] = {
		[DEMO_LRU] = "LRU *",
		[DEMO_RANDOM] = "random replacement *",
		[DEMO_MINIO] = "MinIO *",
	};

	printf("%sepoch %u%s\n", term_on(&p->term, TERM_BOLD), e + 1,
	    term_off(&p->term));
	for (unsigned r = 0; r < DEMO_RUNS; r++)
		put_measured(p, f, r, e);
	for (unsigned c = 0; e > 0 && c < DEMO_CACHES; c++) {
		put_row(p, labels[c], TERM_DIM, f->law.miss[c][e].bytes);
		putchar('\n');
	}
}

/*--- words ---------------------------------------------------------------*/

static void
put_head(const struct term *t, const struct demo_found *f)
{
	char items[TEXT_FIGURE], bytes[TEXT_FIGURE], cap[TEXT_FIGURE];
	char limit[TEXT_FIGURE], plain[128], text[512];

	if (f->limit_bytes > 0)
		(void)snprintf(plain, sizeof plain, "in %s of memory: first "
		    "as ever, with the page cache;",
		    text_size(limit, f->limit_bytes));
	else
		(void)snprintf(plain, sizeof plain, "first with no cache at "
		    "all;");
	(void)snprintf(text, sizeof text, "%s images, %s in all, read by cat "
	    "for %u epochs, each in a new random order, %s then by "
	    "'destall run' with a cache of %s of them (%s). Read from storage "
	    "in each epoch, and images per second:",
	    text_count(items, f->law.items), text_size(bytes, f->bytes),
	    DEMO_EPOCHS, plain, f->share, text_size(cap, f->law.cap_bytes));
	demo_print_text(t, text);
	putchar('\n');
}

/* A word, and what it means beside it. */
static void
put_note(const struct term *t, const char *word, const char *text)
{
	printf("%-*s", (int)NOTE, word);
	(void)term_wrap(t, NOTE, NOTE, text);
	putchar('\n');
}

static void
put_measure(const struct term *t, const struct demo_found *f)
{
	char limit[TEXT_FIGURE], text[1024];

	(void)snprintf(text, sizeof text, "measured: %s. The reader is sh, "
	    "xargs and cat, which know nothing of destall. Every epoch "
	    "delivered every image once, with the bytes that storage has; "
	    "with destall exactly those that are not in its cache came from "
	    "their own files.", demo_is_counted(f) ? "what the kernel counted "
	    "for the reader's processes" : "by destall's own count, because "
	    "the kernel counts nothing here (the folder is in memory, or on no "
	    "local disk: set TMPDIR)");
	put_note(t, "storage", text);
	if (f->limit_bytes > 0)
		(void)snprintf(text, sizeof text, "%s in all for each of the "
		    "two, by a control group. Behind 'destall run' the hub "
		    "with its cache is part of it; what is left is page cache "
		    "there, too.", text_size(limit, f->limit_bytes));
	else
		(void)snprintf(text, sizeof text, "not limited (%s), so the "
		    "page cache could not be tried. Instead the images are "
		    "put out of it before each epoch, with destall too.",
		    f->no_limit.text);
	put_note(t, "memory", text);
}

/* Of the epochs after the first. */
static double
sum_storage(const struct demo_found *f, enum demo_run run)
{
	double bytes = 0;

	for (unsigned e = 1; e < DEMO_EPOCHS; e++)
		bytes += (double)demo_storage(f, run, e);
	return bytes;
}

static double
sum_seconds(const struct demo_found *f, enum demo_run run)
{
	uint64_t ns = 1;

	for (unsigned e = 1; e < DEMO_EPOCHS; e++)
		ns += f->epoch[run][e].elapsed_ns;
	return (double)ns / (double)NS_PER_S;
}

static void
put_saving(const struct term *t, const struct demo_found *f)
{
	double plain = sum_storage(f, DEMO_PLAIN);
	double less = plain > 0 ?
	    100 * (1 - sum_storage(f, DEMO_DESTALL) / plain) : 0;
	char text[512];

	if (!demo_is_counted(f))
		(void)snprintf(text, sizeof text, "After the first epoch the "
		    "reader, behind 'destall run', had %.0f %% of the images "
		    "from the cache; how much faster that is only a disk can "
		    "tell.", 100 * (double)f->held.items /
		    (double)f->law.items);
	else
		(void)snprintf(text, sizeof text, "After the first epoch the "
		    "same reader, behind 'destall run', read %.0f %% %s from "
		    "storage than with %s, and was %.2f times as fast.",
		    less < 0 ? -less : less, less < 0 ? "more" : "less",
		    f->limit_bytes > 0 ? "the page cache in the same memory" :
		    "no cache", sum_seconds(f, DEMO_PLAIN) /
		    sum_seconds(f, DEMO_DESTALL));
	demo_print_text(t, text);
}

static void
put_tail(const struct term *t, const struct demo_found *f)
{
	char text[512], cap[TEXT_FIGURE];

	putchar('\n');
	put_measure(t, f);
	(void)snprintf(text, sizeof text, "computed: caches of %s with nothing "
	    "in them but images, run over the same orders. MinIO is what "
	    "destall does: it admits until it is full, and never evicts.",
	    text_size(cap, f->law.cap_bytes));
	put_note(t, "*", text);
	putchar('\n');
	put_saving(t, f);
	if (f->limit_bytes / 3 > f->law.cap_bytes / 2)
		demo_print_text(t, "With so few images most of the memory is not the "
		    "cache's: a larger --count shows more.");
}

void
demo_print_cache(struct demo_page *page, const struct demo_found *f)
{
	struct picture p;

	demo_print_head(page, "The cache next to the page cache");
	start_picture(&p, &page->term, f->law.miss[DEMO_MINIO][0].bytes);
	put_head(&p.term, f);
	for (unsigned e = 0; e < DEMO_EPOCHS; e++)
		put_epoch(&p, f, e);
	put_tail(&p.term, f);
}
