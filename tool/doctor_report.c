/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_report.c: the rows of `destall doctor`, and how they are shown.
 * Runs in the command only.
 */

#include <config.h>

#include "tool/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/must.h"
#include "base/say.h"
#include "base/term.h"
#include "base/text.h"

#define NAME_COLUMN	11u	/* after the state */
#define DETAIL_COLUMN	30u	/* after the name */
#define ADVICE_COLUMN	22u	/* after "to enable" */
#define TEXT_ROOM	30u	/* columns that text should have */
#define NARROW_COLUMN	4u	/* where it begins if it has less */
#define LINE_SIZE	2048u

const struct doctor_verdict doctor_fine = { DOCTOR_OK, "", "", false };

static const char *const state_names[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_LIMITED] = "limited",
	[DOCTOR_MISSING] = "missing",
};

void
doctor_add(struct doctor_report *r, const char *name,
    const struct doctor_verdict *verdict, const char *fmt, ...)
{
	struct doctor_row *row = &r->rows[r->nr];
	va_list ap;

	must(r->nr < DOCTOR_ROWS);
	must(verdict->state == DOCTOR_OK ||
	    (*verdict->meaning != '\0' && *verdict->remedy != '\0'));
	row->group = r->group;
	row->name = name;
	row->verdict = *verdict;
	va_start(ap, fmt);
	if (vsnprintf(row->detail, sizeof row->detail, fmt, ap) < 0)
		row->detail[0] = '\0';
	va_end(ap);
	r->nr++;
}

unsigned
doctor_count(const struct doctor_report *r, enum doctor_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->nr; i++)
		n += r->rows[i].verdict.state == state;
	return n;
}

const struct doctor_verdict *
doctor_blame(int e, const struct doctor_verdict *otherwise)
{
	static const struct doctor_verdict untried = {
		DOCTOR_LIMITED,
		"it could not be tried whether this works",
		"raise the limits of descriptors (ulimit -n) and processes "
		"(ulimit -u), or free memory, and ask again", false,
	};

	switch (e) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EAGAIN:
		return &untried;
	default:
		return otherwise;
	}
}

bool
doctor_version_below(const char *version, unsigned major, unsigned minor)
{
	unsigned a, b;

	return *version < '0' || *version > '9' ||
	    sscanf(version, "%5u.%5u", &a, &b) != 2 || a < major ||
	    (a == major && b < minor);
}

const char *
doctor_errno(int e)
{
	const char *name = strerrorname_np(e), *text = strerrordesc_np(e);
	static char out[128];

	if (name == NULL || text == NULL)
		(void)snprintf(out, sizeof out, "error %d", e);
	else
		(void)snprintf(out, sizeof out, "%s (%s)", text, name);
	return out;
}

/*--- for people ----------------------------------------------------------*/

/* Text from a column on, further lines below it.  A word that is longer than
 * a line, a path mostly, is broken where the line ends. */
static void
print_block(const struct term *t, unsigned column, const char *text)
{
	char line[2 * LINE_SIZE];
	unsigned room = t->width - column, used = 0;
	size_t len = 0;

	for (; *text != '\0' && len + 2 < sizeof line; text++) {
		bool begins = ((unsigned char)*text & 0xc0) != 0x80;

		if (begins && used == room && *text != ' ') {
			line[len++] = ' ';
			used = 0;
		}
		used = *text == ' ' ? 0 : used + begins;
		line[len++] = *text;
	}
	line[len] = '\0';
	term_wrap(t, column, column, line);
	fputc('\n', t->out);
}

/* On a narrow terminal text has a line of its own below its name. */
static unsigned
text_column(const struct term *t, unsigned column)
{
	if (t->width >= column + TEXT_ROOM)
		return column;
	fprintf(t->out, "\n%*s", (int)NARROW_COLUMN, "");
	return NARROW_COLUMN;
}

static void
print_labelled(const struct term *t, const char *label, const char *text)
{
	fprintf(t->out, "%*s%s%-*s%s", (int)NAME_COLUMN, "",
	    term_on(t, TERM_DIM), (int)(ADVICE_COLUMN - NAME_COLUMN), label,
	    term_off(t));
	print_block(t, text_column(t, ADVICE_COLUMN), text);
}

static void
print_advice(const struct term *t, const struct doctor_verdict *v,
    const struct doctor_verdict *above)
{
	if (above != NULL && strcmp(v->meaning, above->meaning) == 0 &&
	    strcmp(v->remedy, above->remedy) == 0) {
		fprintf(t->out, "%*s%smeans and to enable: as above%s\n",
		    (int)NAME_COLUMN, "", term_on(t, TERM_DIM), term_off(t));
		return;
	}
	print_labelled(t, "means", v->meaning);
	print_labelled(t, "to enable", v->remedy);
}

static void
print_row(const struct term *t, const struct doctor_row *row)
{
	static const enum term_style styles[] = {
		[DOCTOR_OK] = TERM_GOOD,
		[DOCTOR_LIMITED] = TERM_WARN,
		[DOCTOR_MISSING] = TERM_BAD,
	};
	const struct doctor_verdict *v = &row->verdict;
	char line[LINE_SIZE];

	fprintf(t->out, "  %s%-*s%s%-*s", term_on(t, styles[v->state]),
	    (int)NAME_COLUMN - 2, state_names[v->state], term_off(t),
	    (int)(DETAIL_COLUMN - NAME_COLUMN), row->name);
	text_clean(line, sizeof line, row->detail);
	print_block(t, text_column(t, DETAIL_COLUMN), line);
}

static void
print_summary(const struct term *t, const struct doctor_report *r)
{
	unsigned vital = 0;

	for (unsigned i = 0; i < r->nr; i++)
		vital += r->rows[i].verdict.vital;
	fprintf(t->out, "\n%s%u ok, %u limited, %u missing: ",
	    term_on(t, TERM_BOLD), doctor_count(r, DOCTOR_OK),
	    doctor_count(r, DOCTOR_LIMITED), doctor_count(r, DOCTOR_MISSING));
	if (vital == 0)
		fputs("all that destall needs is here", t->out);
	else
		fprintf(t->out, "cache and sharing do not work without %u of "
		    "them", vital);
	fprintf(t->out, "%s\n", term_off(t));
}

static void
print_report(const struct term *t, const struct doctor_report *r)
{
	const char *group = NULL;

	for (unsigned i = 0; i < r->nr; i++) {
		if (group == NULL || strcmp(group, r->rows[i].group) != 0) {
			group = r->rows[i].group;
			fprintf(t->out, "%s%s%s%s\n", i > 0 ? "\n" : "",
			    term_on(t, TERM_BOLD), group, term_off(t));
		}
		print_row(t, &r->rows[i]);
		if (r->rows[i].verdict.state != DOCTOR_OK)
			print_advice(t, &r->rows[i].verdict, i > 0 ?
			    &r->rows[i - 1].verdict : NULL);
	}
	print_summary(t, r);
}

/* Made in memory first, so that one write tells whether it arrived. */
int
doctor_print(const struct doctor_report *r, struct ds_err *err)
{
	char *text = NULL;
	size_t len = 0;
	struct term t;
	int rc = 0;

	term_init(&t, stdout);
	t.out = open_memstream(&text, &len);
	if (t.out == NULL)
		say_no_memory();
	print_report(&t, r);
	if (fclose(t.out) != 0)
		say_no_memory();
	if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0)
		rc = err_errno(err, "cannot write to standard output");
	free(text);
	return rc;
}

/*--- for programs --------------------------------------------------------*/

static json_t *
make_row(const struct doctor_row *row)
{
	json_t *o = json_pack("{ss so ss so ss ss}",
	    "group", row->group,
	    "name", json_text(row->name),
	    "state", state_names[row->verdict.state],
	    "detail", json_text(row->detail),
	    "meaning", row->verdict.meaning,
	    "remedy", row->verdict.remedy);

	if (o == NULL)
		say_no_memory();
	return o;
}

int
doctor_write_json(const struct doctor_report *r, const char *path,
    struct ds_err *err)
{
	json_t *doc = json_doc_new();
	json_t *checks = json_array();

	for (unsigned i = 0; i < r->nr; i++) {
		if (json_array_append_new(checks, make_row(&r->rows[i])) != 0)
			say_no_memory();
	}
	if (json_object_set_new(doc, "checks", checks) != 0)
		say_no_memory();
	return json_doc_write(doc, path, err);
}
