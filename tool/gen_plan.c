/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_plan.c: from the index of an image to its class, name and size.
 * Runs in the command only, in any thread.
 */

#include <config.h>

#include "tool/gen_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/parse.h"
#include "tool/gen_picture.h"
#include "tool/gen_rng.h"

#define RECORD_HEAD	"destall gen 1\n"
#define RECORD_END	"end\n"

/* The shapes of photographs, and how many of SHAPES_IN_ALL have each. */
static const struct {
	unsigned	width, height;
	int		share;
} shapes[] = {
	{ 4, 3, 9 }, { 3, 4, 3 }, { 3, 2, 4 }, { 2, 3, 2 }, { 1, 1, 2 },
};
#define SHAPES_IN_ALL	20

/*--- sizes ---------------------------------------------------------------*/

static int
refuse_size(const char *text, struct ds_err *err)
{
	return err_fail(err, -EINVAL, "'%.40s' is not a size of images: write "
	    "500x375, or 300-600 for the longer side; from 1 to %u", text,
	    GEN_SIDE_MAX);
}

/* Two numbers with one character between them. */
static bool
scan_pair(const char *text, char between, unsigned *a, unsigned *b)
{
	const char *at = strchr(text, between);
	char first[8];
	uint64_t n, m;

	if (at == NULL || (size_t)(at - text) >= sizeof first)
		return false;
	memcpy(first, text, (size_t)(at - text));
	first[at - text] = '\0';
	if (parse_count(first, 1, GEN_SIDE_MAX, &n, NULL) < 0 ||
	    parse_count(at + 1, 1, GEN_SIDE_MAX, &m, NULL) < 0)
		return false;
	*a = (unsigned)n;
	*b = (unsigned)m;
	return true;
}

int
gen_size_parse(const char *text, void *size, struct ds_err *err)
{
	struct gen_size s = { .is_range = false };

	if (scan_pair(text, 'x', &s.width, &s.height)) {
		*(struct gen_size *)size = s;
		return 0;
	}
	s.is_range = true;
	if (!scan_pair(text, '-', &s.min_side, &s.max_side))
		return refuse_size(text, err);
	if (s.min_side > s.max_side)
		return err_fail(err, -EINVAL, "'%s' goes from large to small: "
		    "write %u-%u", text, s.max_side, s.min_side);
	*(struct gen_size *)size = s;
	return 0;
}

void
gen_size_max(const struct gen_size *s, unsigned *width, unsigned *height)
{
	*width = s->is_range ? s->max_side : s->width;
	*height = s->is_range ? s->max_side : s->height;
}

static void
choose_size(const struct gen_plan *p, uint64_t index, struct gen_image *out)
{
	struct gen_rng rng;
	unsigned side, shape = 0;
	int ticket;

	gen_rng_init(&rng, p->seed, index, GEN_STREAM_SIZE);
	side = (unsigned)gen_rng_range(&rng, (int)p->size.min_side,
	    (int)p->size.max_side);
	ticket = gen_rng_range(&rng, 0, SHAPES_IN_ALL - 1);
	while (ticket >= shapes[shape].share)
		ticket -= shapes[shape++].share;
	out->width = out->height = side;
	if (shapes[shape].width > shapes[shape].height)
		out->height = (side * shapes[shape].height +
		    shapes[shape].width - 1) / shapes[shape].width;
	else
		out->width = (side * shapes[shape].width +
		    shapes[shape].height - 1) / shapes[shape].height;
}

/*--- images --------------------------------------------------------------*/

void
gen_plan_class_name(char name[GEN_NAME], uint64_t class)
{
	(void)snprintf(name, GEN_NAME, "class%03" PRIu64, class);
}

void
gen_plan_image(const struct gen_plan *p, uint64_t index, struct gen_image *out)
{
	gen_plan_class_name(out->class_name, index % p->classes);
	(void)snprintf(out->file_name, sizeof out->file_name,
	    "%06" PRIu64 ".jpg", index);
	out->width = p->size.width;
	out->height = p->size.height;
	if (p->size.is_range)
		choose_size(p, index, out);
}

/*--- the record ----------------------------------------------------------*/

size_t
gen_plan_print(const struct gen_plan *p, char text[GEN_RECORD])
{
	bool range = p->size.is_range;
	int n = snprintf(text, GEN_RECORD, RECORD_HEAD
	    "model %d\nseed %" PRIu64 "\nsize %u%c%u\nclasses %" PRIu64 "\n"
	    "quality %" PRIu64 "\ntar %" PRIu64 "\n" RECORD_END,
	    GEN_MODEL, p->seed, range ? p->size.min_side : p->size.width,
	    range ? '-' : 'x', range ? p->size.max_side : p->size.height,
	    p->classes, p->quality, p->shard_bytes);

	must(n > 0 && n < GEN_RECORD);
	return (size_t)n;
}

bool
gen_plan_is_whole(const char *record)
{
	size_t len = strlen(record), end = strlen(RECORD_END);

	return len >= end && strcmp(record + len - end, RECORD_END) == 0;
}

int
gen_plan_compare(const struct gen_plan *p, const char *record,
    struct ds_err *err)
{
	char text[GEN_RECORD];
	const char *ours = text, *theirs = record;

	gen_plan_print(p, text);
	if (strncmp(record, RECORD_HEAD, strlen(RECORD_HEAD)) != 0)
		return err_fail(err, -EBADMSG, "not a record of this version "
		    "of destall gen");
	while (*ours != '\0') {
		size_t n = strcspn(ours, "\n"), m = strcspn(theirs, "\n");
		size_t key = strcspn(ours, " \n");

		if (n != m || memcmp(ours, theirs, n) != 0)
			return err_fail(err, -EEXIST, "the set there was made "
			    "with %.*s, not %.*s", (int)m, theirs,
			    (int)(n - key) - (n > key), ours + key + (n > key));
		ours += n + (ours[n] == '\n');
		theirs += m + (theirs[m] == '\n');
	}
	return 0;
}
