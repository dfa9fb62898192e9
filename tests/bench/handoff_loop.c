/* SPDX-License-Identifier: Apache-2.0
 *
 * handoff_loop.c: batches from the one that makes them to those who want them,
 * for the benchmark tests/bench/handoff.
 *
 *     handoff_loop share JOBS UNITS PACE_US MAKERS
 *         as many processes, each a job, take tiny units through the stage;
 *         the first MAKERS of them make them, one each PACE_US in all
 *     handoff_loop pipes JOBS UNITS PACE_US
 *         the same, each written to a pipe of each job
 *     handoff_loop take none|read|write COUNT BYTES
 *         one job takes large units, looks at or writes to every page,
 *         and releases them
 *     handoff_loop copy none|read|write COUNT BYTES
 *         the same with copies
 *
 * Prints one line of JSON.
 */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/handoff_loop.h"

void
give_up(const char *what, const char *why)
{
	fprintf(stderr, "handoff_loop: %s: %s\n", what, why);
	exit(1);
}

uint64_t
number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (end == text || *end != '\0')
		give_up(text, "not a number");
	return n;
}

double
us(const struct hist *h, double q)
{
	return (double)hist_quantile(h, q) / 1000;
}

/*--- a job at the stage --------------------------------------------------*/

static void
set(struct seat_at *s, const char *name, const char *value)
{
	struct ds_err err;

	if (ds_stage_set(s->stage, name, value, &err) < 0)
		give_up(name, err.text);
}

static void
set_number(struct seat_at *s, const char *name, uint64_t n)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)n);
	set(s, name, text);
}

void
sit_down(struct seat_at *s, uint64_t units, size_t bytes, const char *ahead,
    const char *window)
{
	struct ds_err err;
	uint64_t start;

	if (ds_connect(&s->hub, DS_NO_START, &err) < 0 ||
	    ds_stage_open(&s->stage, s->hub, &err) < 0)
		give_up("hub", err.text);
	set(s, "stream", "handoff");
	set(s, "seed", "1");
	set(s, "lag", "wait");
	set(s, "ahead", ahead);
	set(s, "window", window);
	set_number(s, "samples", units);
	set_number(s, "bytes", bytes);
	if (ds_pass_open(&s->pass, s->stage, 0, 0, NULL, &err) < 0)
		give_up("pass", err.text);
	if (ds_pass_begin(s->pass, 0, units, &start, &err) != 1 || start != 0)
		give_up("pass", "cannot be begun");
}

void
get_up(struct seat_at *s)
{
	ds_pass_close(&s->pass);
	ds_stage_close(&s->stage);
	ds_disconnect(&s->hub);
}

int
main(int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[1], "share") == 0)
		share((unsigned)number(argv[2]), number(argv[3]),
		    number(argv[4]) * 1000, (unsigned)number(argv[5]));
	else if (argc == 5 && strcmp(argv[1], "pipes") == 0)
		pipes((unsigned)number(argv[2]), number(argv[3]),
		    number(argv[4]) * 1000);
	else if (argc == 5 && strcmp(argv[1], "take") == 0)
		take_large(argv[2], number(argv[3]), number(argv[4]));
	else if (argc == 5 && strcmp(argv[1], "copy") == 0)
		copy_large(argv[2], number(argv[3]), number(argv[4]));
	else {
		fprintf(stderr, "usage: handoff_loop share JOBS UNITS PACE_US "
		    "MAKERS | pipes JOBS UNITS PACE_US |\n"
		    "       take|copy none|read|write COUNT BYTES\n");
		return 2;
	}
	return 0;
}
