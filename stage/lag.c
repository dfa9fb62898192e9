/* SPDX-License-Identifier: Apache-2.0
 *
 * lag.c: how long the fast wait for the slow.  Runs in the hub; lag_parse()
 * also in clients.
 *
 * A pace is a ring of counts: that of part k is what had been received at the
 * end of it, or so far.  Part 0 ends where the pace begins.  The ring reaches
 * back over at least LAG_SPAN_NS, of which the newest part is not over yet.
 */

#include <config.h>

#include "stage/lag.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

#define PART_NS		(LAG_SPAN_NS / (LAG_SPAN_PARTS - 2))
#define LATELY_NS	LAG_SPAN_NS	/* of making; then the old count half */

/*--- the policy ----------------------------------------------------------*/

/* The rest of the text after a word, "" or ":5s"; NULL: it is another word. */
static const char *
match_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(text, word, len) != 0 ||
	    (text[len] != '\0' && text[len] != ':'))
		return NULL;
	return text + len;
}

static int
refuse(const char *text, struct ds_err *err)
{
	return err_fail(err, -EINVAL,
	    "'%s' is no policy: write auto, wait, wait:60s, detach or "
	    "detach:5s", text);
}

int
lag_parse(const char *text, struct lag *lag, struct ds_err *err)
{
	static const struct {
		const char *word;
		struct lag lag;
	} kinds[] = {
		{ "wait", { STAGE_LAG_WAIT, LAG_WAIT_NS } },
		{ "detach", { STAGE_LAG_DETACH, LAG_DETACH_NS } },
	};

	if (strcmp(text, "auto") == 0) {
		*lag = (struct lag){ STAGE_LAG_AUTO, LAG_WAIT_NS };
		return 0;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const char *rest = match_word(text, kinds[i].word);
		struct lag found = kinds[i].lag;

		if (rest == NULL)
			continue;
		if (rest[0] == ':' &&
		    parse_duration(rest + 1, &found.ns, NULL) < 0)
			return refuse(text, err);
		*lag = found;
		return 0;
	}
	return refuse(text, err);
}

/*--- what was received ---------------------------------------------------*/

static uint64_t
part_of(const struct pace *p, uint64_t now_ns)
{
	return now_ns < p->begun_ns ? p->part :
	    1 + (now_ns - p->begun_ns) / PART_NS;
}

void
pace_note(struct pace *p, uint64_t now_ns, uint64_t samples)
{
	uint64_t part, last;

	if (p->begun_ns == 0) {
		*p = (struct pace){ .begun_ns = now_ns, .samples[0] = samples };
		return;
	}
	part = part_of(p, now_ns);
	last = p->samples[p->part % LAG_SPAN_PARTS];
	if (part > p->part + LAG_SPAN_PARTS)
		p->part = part - LAG_SPAN_PARTS;
	while (p->part < part)
		p->samples[++p->part % LAG_SPAN_PARTS] = last;
	p->samples[p->part % LAG_SPAN_PARTS] = samples;
}

double
pace_rate(const struct pace *p, uint64_t now_ns)
{
	uint64_t part, oldest, newest, before, end_ns;

	if (p->begun_ns == 0)
		return 0;
	part = part_of(p, now_ns);
	oldest = part < LAG_SPAN_PARTS ? 0 : part - (LAG_SPAN_PARTS - 1);
	if (oldest >= p->part)
		return 0;
	newest = p->samples[p->part % LAG_SPAN_PARTS];
	before = p->samples[oldest % LAG_SPAN_PARTS];
	end_ns = p->begun_ns + oldest * PART_NS;
	if (newest < before || now_ns <= end_ns)
		return 0;
	return (double)(newest - before) * 1e9 / (double)(now_ns - end_ns);
}

bool
pace_is_full(const struct pace *p, uint64_t now_ns)
{
	return p->begun_ns != 0 && now_ns >= p->begun_ns &&
	    now_ns - p->begun_ns >= LAG_SPAN_NS;
}

/*--- what could be made --------------------------------------------------*/

void
making_note(struct making *m, uint64_t samples, uint64_t ns)
{
	if (m->ns > LATELY_NS) {
		m->ns /= 2;
		m->samples /= 2;
	}
	m->samples += samples;
	m->ns += ns;
}

double
making_rate(const struct making *m)
{
	if (m->ns == 0)
		return 0;
	return (double)m->samples * m->makers * 1e9 / (double)m->ns;
}

/*--- the judgement -------------------------------------------------------*/

static bool
is_past(uint64_t since_ns, uint64_t ns, uint64_t now_ns)
{
	return now_ns >= since_ns && now_ns - since_ns >= ns;
}

/* Rule 3: what it received is less than what its makers could have made. */
static bool
is_slower_than_alone(const struct lag_case *c)
{
	return pace_is_full(c->pace, c->now_ns) &&
	    pace_rate(c->pace, c->now_ns) < making_rate(c->making);
}

bool
lag_is_over(const struct lag *lag, const struct lag_case *c)
{
	uint64_t since_ns = c->waits_since_ns;

	if (since_ns == 0)
		return false;
	if (lag->kind == STAGE_LAG_DETACH)
		return is_past(since_ns, lag->ns, c->now_ns);
	if (lag->kind == STAGE_LAG_AUTO && is_slower_than_alone(c))
		return true;
	if (since_ns < c->blocker_took_ns)
		since_ns = c->blocker_took_ns;
	return is_past(since_ns, lag->ns, c->now_ns);
}
