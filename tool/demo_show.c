/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_show.c: what the demo found, as a picture in the terminal, or as JSON.
 * Runs in the command only.
 */

#include <config.h>

#include "tool/demo.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/say.h"
#include "base/term.h"
#include "base/text.h"

#define LABEL	24u		/* columns before a bar */
#define FIGURES	19u		/* and after it, and a column free */
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
start_picture(struct picture *p, uint64_t whole)
{
	term_init(&p->term, stdout);
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
	uint64_t eighths = (n * p->width * 8 + p->whole / 2) / p->whole;
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
    uint64_t n)
{
	char count[TEXT_FIGURE];

	printf("  %-*s%s", (int)LABEL - 2, label, term_on(&p->term, style));
	put_bar(p, n);
	printf("%s %8s %6.1f %%\n", term_off(&p->term), text_count(count, n),
	    100 * (double)n / (double)p->whole);
}

static void
put_epoch(const struct picture *p, const struct demo_found *f, unsigned e)
{
	char label[LABEL];

	printf("%sepoch %u%s\n", term_on(&p->term, TERM_BOLD), e + 1,
	    term_off(&p->term));
	if (e > 0) {
		put_row(p, "LRU *", TERM_BAD, f->law.lru[e]);
		put_row(p, "random replacement *", TERM_WARN,
		    f->law.random[e]);
	}
	for (unsigned i = 0; i < DEMO_RUNS; i++) {
		(void)snprintf(label, sizeof label, "destall, %u process%s",
		    f->run[i].jobs, f->run[i].jobs == 1 ? "" : "es");
		put_row(p, label, TERM_GOOD, f->run[i].epoch[e].reads);
	}
	if (e > 0)
		put_row(p, "ideal *", TERM_DIM, demo_ideal(f, e));
}

/*--- words ---------------------------------------------------------------*/

static void
put_text(const struct term *t, const char *text)
{
	(void)term_wrap(t, 0, 0, text);
	putchar('\n');
}

static void
put_head(const struct term *t, const struct demo_found *f)
{
	char items[TEXT_FIGURE], bytes[TEXT_FIGURE], cap[TEXT_FIGURE];
	char text[512];

	(void)snprintf(text, sizeof text, "%s images, %s in all, read for %u "
	    "epochs, each in a new random order, through a cache of %s of "
	    "them (%s). Images read from storage in each epoch:",
	    text_count(items, f->law.items), text_size(bytes, f->bytes),
	    DEMO_EPOCHS, f->share, text_size(cap, f->law.cap_bytes));
	put_text(t, text);
	putchar('\n');
}

/* Of the epochs after the first. */
static uint64_t
sum_reads(const struct demo_run *r)
{
	uint64_t n = 0;

	for (unsigned e = 1; e < DEMO_EPOCHS; e++)
		n += r->epoch[e].reads;
	return n;
}

static void
put_saving(char *text, size_t size, const struct demo_found *f)
{
	uint64_t ours = sum_reads(&f->run[0]), lru = 0, any = 0;

	for (unsigned e = 1; e < DEMO_EPOCHS; e++) {
		lru += f->law.lru[e];
		any += f->law.random[e];
	}
	(void)snprintf(text, size, "After the first epoch destall read %.0f %% "
	    "less than LRU would, and %.0f %% less than random replacement.",
	    100 * (1 - (double)ours / (double)(lru > 0 ? lru : 1)),
	    100 * (1 - (double)ours / (double)(any > 0 ? any : 1)));
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
put_tail(const struct term *t, const struct demo_found *f)
{
	char text[512], time[TEXT_FIGURE];

	putchar('\n');
	put_note(t, "destall", "measured: reads from storage, as the reading "
	    "processes and the hub counted them. Every epoch delivered every "
	    "image once, with the bytes that storage has, and read exactly "
	    "the images that are not in the cache.");
	put_note(t, "*", "computed: caches of the same size, run over the same "
	    "orders. Published measurements of Linux's page cache lie near "
	    "LRU or near random replacement. Ideal is what does not fit, read "
	    "once: (1 - c) n.");
	putchar('\n');
	put_saving(text, sizeof text, f);
	put_text(t, text);
	(void)snprintf(text, sizeof text, "It took %s, and all that it made is "
	    "removed. For data of your own: destall cache warm DIR",
	    text_duration(time, f->elapsed_ns));
	put_text(t, text);
}

void
demo_print(const struct demo_found *f)
{
	struct picture p;

	start_picture(&p, f->law.items);
	put_head(&p.term, f);
	for (unsigned e = 0; e < DEMO_EPOCHS; e++)
		put_epoch(&p, f, e);
	put_tail(&p.term, f);
}

/*--- JSON ----------------------------------------------------------------*/

static json_t *
must_have(json_t *value)
{
	if (value == NULL)
		say_no_memory();
	return value;
}

static json_t *
make_run(const struct demo_run *r)
{
	json_t *reads = must_have(json_array());

	for (unsigned e = 0; e < DEMO_EPOCHS; e++)
		if (json_array_append_new(reads, json_integer(
		    (json_int_t)r->epoch[e].reads)) != 0)
			say_no_memory();
	return must_have(json_pack("{si so sI sI}", "processes", (int)r->jobs,
	    "storage_reads", reads, "cached_items",
	    (json_int_t)r->held.items, "cached_bytes",
	    (json_int_t)r->held.bytes));
}

int
demo_write_json(const struct demo_found *f, const char *path,
    struct ds_err *err)
{
	json_t *doc = json_doc_new(), *more;
	json_t *lru = must_have(json_array()), *any = must_have(json_array());
	json_t *ideal = must_have(json_array());
	json_t *runs = must_have(json_array());
	int bad = 0;

	for (unsigned i = 0; i < DEMO_RUNS; i++)
		bad |= json_array_append_new(runs, make_run(&f->run[i]));
	for (unsigned e = 0; e < DEMO_EPOCHS; e++) {
		bad |= json_array_append_new(lru,
		    json_integer((json_int_t)f->law.lru[e]));
		bad |= json_array_append_new(any,
		    json_integer((json_int_t)f->law.random[e]));
		bad |= json_array_append_new(ideal,
		    json_integer((json_int_t)demo_ideal(f, e)));
	}
	more = json_pack("{sI sI sf sI sI so so so so sf}",
	    "items", (json_int_t)f->law.items,
	    "bytes", (json_int_t)f->bytes,
	    "cache_share", f->part,
	    "cap_bytes", (json_int_t)f->law.cap_bytes,
	    "seed", (json_int_t)f->law.seed,
	    "measured", runs,
	    "lru_storage_reads", lru,
	    "random_replacement_storage_reads", any,
	    "ideal_storage_reads", ideal,
	    "seconds", (double)f->elapsed_ns / (double)NS_PER_S);
	if (bad != 0 || more == NULL || json_object_update(doc, more) != 0)
		say_no_memory();
	json_decref(more);
	return json_doc_write(doc, path, err);
}
