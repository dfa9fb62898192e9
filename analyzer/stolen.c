/* SPDX-License-Identifier: Apache-2.0
 *
 * stolen.c: what the host of a virtual machine took from its processors.
 * Runs in the command only.
 */

#include <config.h>

#include "analyzer/stolen.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/observer.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/list.h"

#define PAUSE_NS	(100 * NS_PER_MS)
#define TEXT		4096u		/* the first line is what is read */

/* "cpu  user nice system idle iowait irq softirq steal ..." */
enum { IDLE = 4, IOWAIT = 5, STEAL = 8 };

#define TICKS_LEAST	3.0		/* that were taken: fewer may be chance */

void
stolen_fini(struct stolen *s)
{
	free(s->looks);
	*s = (struct stolen){ 0 };
}

/* A tick of guests is one of user, too: what is behind the eighth word is left
 * out. */
static int
parse(const char *text, struct stolen_look *l)
{
	double ticks;

	if (strncmp(text, "cpu ", 4) != 0)
		return -1;
	for (unsigned i = 1; i <= STEAL; i++) {
		ticks = number_nth(text, i);
		if (isnan(ticks))
			return -1;
		if (i != IDLE && i != IOWAIT)
			l->wanted += ticks;
		l->taken = ticks;
	}
	return 0;
}

void
stolen_look(struct stolen *s, uint64_t now_ns)
{
	struct stolen_look l = { .at_ns = now_ns };
	char text[TEXT];

	if (s->nr > 0 && now_ns < s->looks[s->nr - 1].at_ns + PAUSE_NS)
		return;
	if (io_read_text(AT_FDCWD, s->path != NULL ? s->path : "/proc/stat",
	    text, sizeof text) < 0 || parse(text, &l) < 0)
		return;
	s->looks = list_grow(s->looks, s->nr, sizeof *s->looks);
	s->looks[s->nr++] = l;
}

/* From the second on, to the last. */
static size_t
find_first_behind(const struct stolen *s, uint64_t ns)
{
	size_t low = 1, high = s->nr - 1;

	while (low < high) {
		size_t i = low + (high - low) / 2;

		if (s->looks[i].at_ns < ns)
			low = i + 1;
		else
			high = i;
	}
	return low;
}

/* Between two looks, as if it had grown evenly. */
static struct stolen_look
at(const struct stolen *s, uint64_t ns)
{
	const struct stolen_look *a, *b;
	struct stolen_look l = { .at_ns = ns };
	size_t i = find_first_behind(s, ns);
	double part;

	a = &s->looks[i - 1];
	b = &s->looks[i];
	part = ((double)ns - (double)a->at_ns) /
	    (double)(b->at_ns - a->at_ns);
	part = fmin(fmax(part, 0), 1);
	l.taken = a->taken + part * (b->taken - a->taken);
	l.wanted = a->wanted + part * (b->wanted - a->wanted);
	return l;
}

double
stolen_share(const struct stolen *s, uint64_t begin_ns, uint64_t end_ns)
{
	struct stolen_look a, b;

	if (s->nr < 2)
		return 0;
	a = at(s, begin_ns);
	b = at(s, end_ns);
	if (b.taken - a.taken < TICKS_LEAST)
		return 0;
	return fmin(1, (b.taken - a.taken) / (b.wanted - a.wanted));
}
