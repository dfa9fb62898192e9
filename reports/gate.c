/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.c: --fail-if: a condition on a result.  Runs in the command only.
 */

#include <config.h>

#include "reports/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/parse.h"
#include "base/text.h"

#define WORD_SIZE	32u
#define EXAMPLE		"write it like 'fetch_stall>10%%' or 'speed<1000'"

static const struct {
	const char	*name;
	int		share;		/* an enum share, or -1: the speed */
} names[] = {
	{ "compute", SHARE_COMPUTE },
	{ "prep_stall", SHARE_PREP },
	{ "fetch_stall", SHARE_FETCH },
	{ "handover", SHARE_HANDOVER },
	{ "speed", -1 },
};

#define NAMES	(sizeof names / sizeof names[0])

static const char *const orders[] = {
	[GATE_LESS] = "<", [GATE_AT_MOST] = "<=", [GATE_MORE] = ">",
	[GATE_AT_LEAST] = ">=",
};

/*--- reading it ------------------------------------------------------------*/

/* Without the blanks around it; -EINVAL if it is too long for a word. */
static int
copy_word(char out[WORD_SIZE], const char *text, size_t len)
{
	while (len > 0 && *text == ' ') {
		text++;
		len--;
	}
	while (len > 0 && text[len - 1] == ' ')
		len--;
	if (len >= WORD_SIZE)
		return -EINVAL;
	memcpy(out, text, len);
	out[len] = '\0';
	return 0;
}

static int
find_name(const char *word, unsigned *name, struct ds_err *err)
{
	const char *known[NAMES + 1], *near;

	for (unsigned i = 0; i < NAMES; i++) {
		known[i] = names[i].name;
		if (strcmp(word, names[i].name) == 0) {
			*name = i;
			return 0;
		}
	}
	known[NAMES] = NULL;
	near = text_nearest(word, known);
	if (near != NULL)
		return err_fail(err, -EINVAL, "'%s' is not known: did you mean "
		    "'%s'?", word, near);
	return err_fail(err, -EINVAL, "'%s' is not known: compute, prep_stall, "
	    "fetch_stall, handover, speed are", word);
}

static int
parse_limit(const char *word, bool is_share, double *limit,
    struct ds_err *err)
{
	if (is_share && strchr(word, '%') == NULL)
		return err_fail(err, -EINVAL, "'%s' is no percentage: shares "
		    "are written like 10%%", word);
	return is_share ? parse_share(word, limit, err) :
	    parse_decimal(word, limit, err);
}

int
gate_parse(const char *text, void *gate, struct ds_err *err)
{
	struct gate g = { .is_set = true, .text = text };
	size_t at = strcspn(text, "<>"), len = 1;
	char name[WORD_SIZE], limit[WORD_SIZE];
	int rc;

	if (text[at] == '\0')
		return err_fail(err, -EINVAL, "'%s' has no < or >: " EXAMPLE,
		    text);
	g.order = text[at] == '<' ? GATE_LESS : GATE_MORE;
	if (text[at + 1] == '=') {
		g.order = g.order == GATE_LESS ? GATE_AT_MOST : GATE_AT_LEAST;
		len = 2;
	}
	if (copy_word(name, text, at) < 0 || copy_word(limit, text + at + len,
	    strlen(text + at + len)) < 0)
		return err_fail(err, -EINVAL, "'%s' is no condition: " EXAMPLE,
		    text);
	rc = find_name(name, &g.name, err);
	if (rc == 0)
		rc = parse_limit(limit, names[g.name].share >= 0, &g.limit, err);
	if (rc == 0)
		*(struct gate *)gate = g;
	return rc;
}

/*--- asking it -------------------------------------------------------------*/

static bool
holds(enum gate_order order, double value, double limit)
{
	switch (order) {
	case GATE_LESS:
		return value < limit;
	case GATE_AT_MOST:
		return value <= limit;
	case GATE_MORE:
		return value > limit;
	default:
		return value >= limit;
	}
}

int
gate_ask(const struct gate *g, const struct result *r, struct ds_err *err)
{
	int share = names[g->name].share;
	const struct figure *f = share >= 0 ? &r->share[share] :
	    &r->rate[RATE_ACTUAL];

	if (!f->is_known)
		return err_fail(err, -ENODATA, "--fail-if %s: %s is not known "
		    "of this run", g->text, names[g->name].name);
	if (!holds(g->order, f->value, g->limit))
		return 0;
	if (share >= 0)
		(void)err_fail(err, -ERANGE, "--fail-if: %s is %.4g %%, which "
		    "is %s %.4g %%", names[g->name].name, 100 * f->value,
		    orders[g->order], 100 * g->limit);
	else
		(void)err_fail(err, -ERANGE, "--fail-if: speed is %.6g "
		    "samples/s, which is %s %.6g", f->value, orders[g->order],
		    g->limit);
	return 1;
}

int
gate_status(const struct gate *g, const struct result *r, struct ds_err *err)
{
	int rc = g->is_set ? gate_ask(g, r, err) : 0;

	return rc < 0 ? STATUS_FAILED : rc > 0 ? STATUS_GATE : STATUS_OK;
}
