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
#include "tool/gen_jpeg.h"
#include "tool/gen_picture.h"
#include "tool/gen_rng.h"

#define RECORD_HEAD	"destall gen 2\n"
#define RECORD_END	"end\n"
#define LINE_PART	48	/* of a record; what is longer is cut */
#define PHRASE		(2 * LINE_PART + 16)

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

static void
name_file(char name[GEN_NAME], uint64_t index)
{
	(void)snprintf(name, GEN_NAME, "%06" PRIu64 ".jpg", index);
}

/* A name that is not spelled as we would is not one of ours. */
bool
gen_plan_index(const struct gen_plan *p, uint64_t class, const char *name,
    uint64_t *index)
{
	char digits[GEN_NAME], same[GEN_NAME];
	size_t len = strspn(name, "0123456789");

	if (len >= sizeof digits)
		return false;
	memcpy(digits, name, len);
	digits[len] = '\0';
	if (parse_count(digits, 0, GEN_COUNT_MAX - 1, index, NULL) < 0 ||
	    *index % p->classes != class)
		return false;
	name_file(same, *index);
	return strcmp(name, same) == 0;
}

void
gen_plan_image(const struct gen_plan *p, uint64_t index, struct gen_image *out)
{
	out->class = index % p->classes;
	gen_plan_class_name(out->class_name, out->class);
	name_file(out->file_name, index);
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
	    "model %d\nlibjpeg-turbo %s\nseed %" PRIu64 "\nsize %u%c%u\n"
	    "classes %" PRIu64 "\nquality %" PRIu64 "\ntar %" PRIu64 "\n"
	    RECORD_END, GEN_MODEL, gen_jpeg_version, p->seed,
	    range ? p->size.min_side : p->size.width, range ? '-' : 'x',
	    range ? p->size.max_side : p->size.height,
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

/* A line of a record: a word, a blank and a value. */
struct record_line {
	size_t	len;			/* of all of it */
	char	key[LINE_PART], value[LINE_PART];
};

static void
read_line(const char *text, struct record_line *l)
{
	size_t key = strcspn(text, " \n"), from;

	l->len = strcspn(text, "\n");
	from = key < l->len ? key + 1 : key;
	(void)snprintf(l->key, sizeof l->key, "%.*s", (int)key, text);
	(void)snprintf(l->value, sizeof l->value, "%.*s",
	    (int)(l->len - from), text + from);
}

/* As it was, or could have been, asked for: "with --tar 64M". */
static const char *
phrase_option(const struct record_line *l, char out[PHRASE])
{
	static const char units[] = { 'K', 'M', 'G' };
	char unit[2] = "";
	uint64_t bytes;

	if (strcmp(l->key, "tar") != 0 ||
	    parse_count(l->value, 0, UINT64_MAX, &bytes, NULL) < 0) {
		(void)snprintf(out, PHRASE, "with --%s %s", l->key, l->value);
	} else if (bytes == 0) {
		(void)snprintf(out, PHRASE, "without --tar");
	} else {
		for (unsigned i = 0; i < 3 && bytes % 1024 == 0; i++) {
			bytes /= 1024;
			unit[0] = units[i];
		}
		(void)snprintf(out, PHRASE, "with --tar %" PRIu64 "%s", bytes,
		    unit);
	}
	return out;
}

static int
explain(const struct record_line *theirs, const struct record_line *ours,
    struct ds_err *err)
{
	char then[PHRASE], now[PHRASE];

	if (strcmp(theirs->key, ours->key) != 0)
		return err_fail(err, -EBADMSG, "the record of the set has "
		    "'%s' where '%s' belongs: choose a new folder",
		    theirs->key, ours->key);
	if (strcmp(ours->key, "model") == 0 ||
	    strcmp(ours->key, "libjpeg-turbo") == 0)
		return err_fail(err, -EEXIST, "the set there was made with "
		    "%s %s, and this destall has %s: choose a new folder",
		    ours->key, theirs->value, ours->value);
	return err_fail(err, -EEXIST, "the set there was made %s, not %s: use "
	    "the same options, or another folder", phrase_option(theirs, then),
	    phrase_option(ours, now));
}

int
gen_plan_compare(const struct gen_plan *p, const char *record,
    struct ds_err *err)
{
	char text[GEN_RECORD];
	const char *at = text;
	struct record_line ours, theirs;

	gen_plan_print(p, text);
	if (strncmp(record, RECORD_HEAD, strlen(RECORD_HEAD)) != 0)
		return err_fail(err, -EBADMSG, "not a record of this version "
		    "of destall gen: choose a new folder");
	while (*at != '\0') {
		read_line(at, &ours);
		read_line(record, &theirs);
		if (ours.len != theirs.len || memcmp(at, record, ours.len) != 0)
			return explain(&theirs, &ours, err);
		at += ours.len + (at[ours.len] == '\n');
		record += theirs.len + (record[theirs.len] == '\n');
	}
	return 0;
}
