/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger_check.c: do ledgers prove that every job was given every sample once?
 * Runs in the command only.
 *
 * Memory: that of one span, and 8 bytes for each of its positions if there are
 * several files.
 */

#include <config.h>

#include "loader/ledger_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "loader/ledger_compare.h"
#include "loader/ledger_read.h"
#include "loader/ledger_span.h"
#include "loader/sparse.h"

#define ULL(n)		((unsigned long long)(n))

struct file {
	struct ledger_read r;
	struct ledger_file *found;
	struct span	span;
};

struct check {
	const struct ledger_rules *rules;
	struct ledger_findings *out;
	char		**paths;
	struct file	*files;
	size_t		nr;
	struct span_seen seen;		/* of the span in work */
	struct sparse	digests;	/* of an epoch, by position, all files */
	struct span	whole;		/* the first epoch that is; .nr 0: none */
	const struct file *whole_of;
};

static int fail(struct check *c, const struct file *f, struct ds_err *err,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* At the line that was read last. */
static int
fail(struct check *c, const struct file *f, struct ds_err *err,
    const char *fmt, ...)
{
	char what[DS_ERR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(what, sizeof what, fmt, ap) < 0)
		what[0] = '\0';
	va_end(ap);
	c->out->bad_file = f->r.path;
	c->out->bad_line = f->r.number;
	return err_fail(err, -EBADMSG, "%s: line %llu: %s", f->r.path,
	    ULL(f->r.number), what);
}

static int
fail_memory(struct ds_err *err)
{
	return err_fail(err, -ENOMEM, "no memory for an epoch that long");
}

static int
read_next(struct check *c, struct file *f, struct ds_err *err)
{
	int rc = ledger_read_next(&f->r, err);

	if (rc == -EBADMSG) {
		c->out->bad_file = f->r.path;
		c->out->bad_line = f->r.number;
	}
	f->found->torn = f->r.torn;
	return rc;
}

static int
compare_files(struct check *c, const struct file *f, uint64_t sample,
    struct ds_err *err)
{
	char text[DS_ERR_TEXT];
	int rc;

	if (c->nr == 1)
		return 0;
	rc = ledger_compare(&c->digests, &f->r.line, sample);
	if (rc < 0)
		return fail_memory(err);
	if (rc == 1)
		return 0;
	ledger_compare_tell(text, &f->r.line, c->paths,
	    (size_t)(f - c->files));
	return fail(c, f, err, "%s", text);
}

/*--- an epoch ------------------------------------------------------------*/

static int
fail_add(struct check *c, const struct file *f, int rc, struct ds_err *err)
{
	const struct ledger_line *l = &f->r.line;

	switch (rc) {
	case SPAN_POSITION_TWICE:
		return fail(c, f, err, "epoch %llu, position %llu a second "
		    "time", ULL(l->epoch), ULL(l->position));
	case SPAN_SAMPLE_TWICE:
		return fail(c, f, err, "epoch %llu has %.*s a second time: if "
		    "the order is meant to repeat samples, check with "
		    "--repeats", ULL(l->epoch), LEDGER_SHOWN(l));
	case -EFBIG:
		return fail(c, f, err, "position %llu: no epoch is that long",
		    ULL(l->position));
	default:
		return fail_memory(err);
	}
}

static int
add_line(struct check *c, struct file *f, struct ds_err *err)
{
	const struct ledger_line *l = &f->r.line;
	uint64_t digest = ledger_read_digest(l);
	int rc = span_add(&f->span, &c->seen, l, digest, c->rules->repeats);

	if (rc != SPAN_ADDED)
		return fail_add(c, f, rc, err);
	rc = compare_files(c, f, digest, err);
	if (rc < 0)
		return rc;
	f->found->samples++;
	f->found->skipped += l->skipped;
	return 0;
}

/* Of a file that begins in the middle of an epoch, by leave. */
static bool
is_rest(const struct check *c, const struct file *f)
{
	return c->rules->resumed && f->span.is_rest &&
	    f->span.epoch == f->found->first_epoch;
}

/* With the first epoch that was whole, of whichever file. */
static int
compare_whole(struct check *c, const struct file *f, struct ds_err *err)
{
	const struct span *s = &f->span, *w = &c->whole;

	if (c->rules->repeats)
		return 0;
	if (w->nr == 0) {
		if (span_is_whole(s)) {
			c->whole = *s;
			c->whole_of = f;
		}
		return 0;
	}
	if (s->max + 1 != w->nr)
		return fail(c, f, err, "epoch %llu has %llu samples, but "
		    "epoch %llu of %s has %llu", ULL(s->epoch),
		    ULL(s->max + 1), ULL(w->epoch), c->whole_of->r.path,
		    ULL(w->nr));
	if (s->nr == w->nr && s->sum != w->sum)
		return fail(c, f, err, "epoch %llu does not have the samples "
		    "of epoch %llu of %s", ULL(s->epoch), ULL(w->epoch),
		    c->whole_of->r.path);
	return 0;
}

static int
fail_missing(struct check *c, const struct file *f, struct ds_err *err)
{
	const struct span *s = &f->span;
	int rc = fail(c, f, err, "epoch %llu ends here without position %llu",
	    ULL(s->epoch), ULL(span_missing(&c->seen, 0)));

	if (s->epoch == f->found->first_epoch && s->is_rest)
		return err_hint(err, rc, "if its job resumed there, check "
		    "with --resumed");
	return rc;
}

static int
judge_whole(struct check *c, const struct file *f, struct ds_err *err)
{
	const struct span *s = &f->span;

	if (!span_is_whole(s) && !is_rest(c, f))
		return fail_missing(c, f, err);
	return compare_whole(c, f, err);
}

/* The last epoch, while its positions are known: it may be cut, but has no
 * hole. */
static int
judge_hole(struct check *c, const struct file *f, struct ds_err *err)
{
	const struct span *s = &f->span;
	uint64_t end, again;

	if (span_is_whole(s) || is_rest(c, f))
		return 0;
	end = span_missing(&c->seen, s->begin);
	again = span_missing(&c->seen, 0);
	if (end <= s->max)
		return fail(c, f, err, "epoch %llu has position %llu, but "
		    "not %llu", ULL(s->epoch), ULL(s->max), ULL(end));
	if (s->nr != end - s->begin + again)
		return fail(c, f, err, "epoch %llu, from position %llu on and "
		    "then from 0, lacks %llu", ULL(s->epoch), ULL(s->begin),
		    ULL(again));
	return 0;
}

/* Of one that was joined late the last unit comes last if it is short: can what
 * is missing at the end be that?  The epoch was begun at a unit, so a unit's
 * size divides where it began. */
static bool
is_last_unit(const struct span *s, uint64_t nr)
{
	for (uint64_t unit = 1; unit <= s->begin; unit++) {
		uint64_t end = nr - nr % unit;

		if (s->begin % unit == 0 && (end == s->max + 1 ||
		    (end <= s->max && span_is_whole(s))))
			return true;
	}
	return false;
}

/* The last epoch, when all files are read: is it less than a whole one? */
static int
judge_last(struct check *c, struct file *f, struct ds_err *err)
{
	const struct span *s = &f->span, *w = &c->whole;
	bool has_turned = s->begin > 0 && s->min == 0;

	if (s->nr == 0)
		return 0;
	f->found->cut = s->max + 1 < w->nr ||
	    (!span_is_whole(s) && !is_rest(c, f));
	if (w->nr == 0)
		return 0;
	if (f->found->cut && has_turned && s->max + 1 < w->nr &&
	    !is_last_unit(s, w->nr))
		return fail(c, f, err, "epoch %llu began again from 0 behind "
		    "position %llu, before its end", ULL(s->epoch),
		    ULL(s->max));
	if (f->found->cut && s->max < w->nr)
		return 0;
	return compare_whole(c, f, err);
}

static int
judge_next(struct check *c, const struct file *f, struct ds_err *err)
{
	uint64_t epoch = f->span.epoch, next = f->r.line.epoch;

	if (next < epoch)
		return fail(c, f, err, "epoch %llu behind epoch %llu",
		    ULL(next), ULL(epoch));
	if (next > epoch + 1)
		return fail(c, f, err, "epoch %llu behind epoch %llu: those "
		    "between are missing", ULL(next), ULL(epoch));
	return judge_whole(c, f, err);
}

static int
read_epoch(struct check *c, struct file *f, struct ds_err *err)
{
	const struct ledger_line *l = &f->r.line;
	uint64_t epoch = l->epoch;
	int rc;

	span_begin(&f->span, &c->seen, l);
	if (f->found->epochs++ == 0)
		f->found->first_epoch = epoch;
	do {
		rc = add_line(c, f, err);
		if (rc == 0)
			rc = read_next(c, f, err);
	} while (rc == 0 && f->r.has_line && l->epoch == epoch);
	if (rc < 0)
		return rc;
	span_end(&f->span, &c->seen);
	if (f->r.has_line)
		return judge_next(c, f, err);
	return c->rules->complete ? judge_whole(c, f, err) :
	    judge_hole(c, f, err);
}

/*--- all files -----------------------------------------------------------*/

static int
open_files(struct check *c, struct ds_err *err)
{
	for (size_t i = 0; i < c->nr; i++) {
		struct file *f = &c->files[i];
		int rc;

		f->found = &c->out->files[i];
		f->found->path = c->paths[i];
		rc = ledger_read_open(&f->r, c->paths[i], err);
		if (rc == -EBADMSG) {
			c->out->bad_file = c->paths[i];
			c->out->bad_line = f->r.number;
		}
		if (rc < 0)
			return rc;
		f->found->torn = f->r.torn;
		if (!f->r.has_line && c->rules->complete)
			return fail(c, f, err, "no epoch is in it");
	}
	return 0;
}

/* The lowest epoch that a file goes on with. */
static bool
find_epoch(const struct check *c, uint64_t *epoch)
{
	bool found = false;

	for (size_t i = 0; i < c->nr; i++) {
		const struct ledger_read *r = &c->files[i].r;

		if (r->has_line && (!found || r->line.epoch < *epoch)) {
			*epoch = r->line.epoch;
			found = true;
		}
	}
	return found;
}

static int
check_files(struct check *c, struct ds_err *err)
{
	uint64_t epoch = 0;
	int rc = 0;

	while (rc == 0 && find_epoch(c, &epoch)) {
		c->out->epochs++;
		sparse_clear(&c->digests);
		for (size_t i = 0; rc == 0 && i < c->nr; i++) {
			struct file *f = &c->files[i];

			if (f->r.has_line && f->r.line.epoch == epoch)
				rc = read_epoch(c, f, err);
		}
	}
	for (size_t i = 0; rc == 0 && i < c->nr; i++)
		rc = judge_last(c, &c->files[i], err);
	return rc;
}

static void
finish(struct check *c)
{
	struct ledger_findings *out = c->out;

	for (size_t i = 0; i < c->nr; i++) {
		ledger_read_close(&c->files[i].r);
		out->samples += out->files[i].samples;
		out->skipped += out->files[i].skipped;
	}
	out->per_epoch = c->whole.nr;
	span_fini(&c->seen);
	sparse_fini(&c->digests);
	free(c->files);
}

int
ledger_check(struct ledger_findings *out, char **paths, size_t nr,
    const struct ledger_rules *rules, struct ds_err *err)
{
	struct check c = {
		.rules = rules, .out = out, .paths = paths, .nr = nr,
	};
	int rc;

	*out = (struct ledger_findings){ .nr_files = nr };
	out->files = calloc(nr, sizeof *out->files);
	c.files = calloc(nr, sizeof *c.files);
	if (out->files == NULL || c.files == NULL) {
		free(c.files);
		return err_fail(err, -ENOMEM, "no memory");
	}
	for (size_t i = 0; i < nr; i++)
		c.files[i].r.fd = -1;
	rc = open_files(&c, err);
	if (rc == 0)
		rc = check_files(&c, err);
	finish(&c);
	return rc;
}

void
ledger_findings_fini(struct ledger_findings *f)
{
	free(f->files);
	*f = (struct ledger_findings){ .files = NULL };
}
