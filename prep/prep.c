/* SPDX-License-Identifier: Apache-2.0
 *
 * prep.c: a picture to a sample.  Runs in clients; one thread at a time.
 */

#include <config.h>

#include "prep/prep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "prep/cut.h"
#include "prep/kernels.h"

struct ds_prep {
	unsigned	magic;
	bool		is_ready;	/* what follows the settings is */
	struct settings	settings;
	const struct kernels *kernels;
	struct emit	emit;
	struct picture	*picture;
	struct taps	across, down;
	size_t		plane;		/* bytes of one, of a line */
	uint8_t		*lines;		/* nr_lines, and one for the result */
	const uint8_t	**window;	/* the lines of one output, in order */
	uint32_t	nr_lines;
	uint32_t	nr_rest;	/* rows of the picture below the needed */
};

/*--- settings ------------------------------------------------------------*/

const struct ds_option *
ds_prep_options(void)
{
	return settings_options();
}

int
ds_prep_new(struct ds_prep **out, struct ds_err *err)
{
	struct ds_prep *p = calloc(1, sizeof *p);

	if (p == NULL)
		return err_fail(err, -ENOMEM, "prep: out of memory");
	p->magic = PREP_MAGIC;
	settings_init(&p->settings);
	*out = p;
	return 0;
}

/* What depends on the settings. */
static void
unready(struct ds_prep *p)
{
	picture_free(&p->picture);
	free(p->lines);
	free(p->window);
	p->lines = NULL;
	p->window = NULL;
	p->nr_lines = 0;
	p->is_ready = false;
}

void
ds_prep_free(struct ds_prep **prep)
{
	struct ds_prep *p = *prep;

	if (p == NULL)
		return;
	must_be(p, PREP_MAGIC);
	unready(p);
	taps_fini(&p->across);
	taps_fini(&p->down);
	p->magic = 0;
	free(p);
	*prep = NULL;
}

int
ds_prep_set(struct ds_prep *prep, const char *name, const char *value,
    struct ds_err *err)
{
	must_be(prep, PREP_MAGIC);
	if (name == NULL || value == NULL)
		return err_fail(err, -EINVAL, "an option has a name and a "
		    "value");
	unready(prep);
	return args_set(settings_table, &prep->settings, name, value, err);
}

int
prep_copy(struct ds_prep **out, const struct ds_prep *from, struct ds_err *err)
{
	int rc = ds_prep_new(out, err);

	if (rc == 0)
		(*out)->settings = from->settings;
	return rc;
}

const struct settings *
prep_settings(const struct ds_prep *p)
{
	return &p->settings;
}

static void
set_emit(struct ds_prep *p)
{
	const struct settings *s = &p->settings;

	p->emit = (struct emit){ .type = s->type, .layout = s->layout,
	    .width = s->width, .height = s->height };
	for (int i = 0; i < 3; i++) {
		p->emit.mean[i] = (float)s->mean[i];
		p->emit.std[i] = (float)s->std[i];
	}
	emit_init(&p->emit);
	p->plane = (s->width + KERNEL_LANE - 1) / KERNEL_LANE * KERNEL_LANE;
}

static int
make_ready(struct ds_prep *p, struct ds_err *err)
{
	const struct settings *s = &p->settings;
	const char *simd = settings_simd[s->simd];
	int rc;

	if (p->is_ready)
		return 0;
	rc = settings_check(s, err);
	if (rc < 0)
		return rc;
	p->kernels = kernels_find(simd);
	if (p->kernels == NULL)
		return err_fail(err, -EINVAL, "simd=%s does not work on this "
		    "processor", simd);
	rc = picture_new(&p->picture, &s->limits, err);
	if (rc < 0)
		return rc;
	set_emit(p);
	p->is_ready = true;
	return 0;
}

static const size_t type_bytes[NR_SAMPLE_TYPES] = {
	[SAMPLE_U8] = 1, [SAMPLE_F16] = 2, [SAMPLE_BF16] = 2, [SAMPLE_F32] = 4,
};

int64_t
ds_prep_bytes(struct ds_prep *prep, struct ds_err *err)
{
	const struct settings *s = &prep->settings;
	int rc;

	must_be(prep, PREP_MAGIC);
	rc = make_ready(prep, err);
	if (rc < 0)
		return rc;
	return (int64_t)(3 * (size_t)s->width * s->height *
	    type_bytes[s->type]);
}

/*--- lines ---------------------------------------------------------------*/

/* Room for all lines that one output is made of. */
static int
find_room(struct ds_prep *p, struct ds_err *err)
{
	uint32_t nr = p->down.most;
	size_t bytes = 3 * p->plane;
	int rc;

	if (nr <= p->nr_lines)
		return 0;
	rc = picture_check_memory(p->picture, (uint64_t)bytes * nr, err);
	if (rc < 0)
		return rc;
	free(p->lines);
	p->lines = NULL;	/* a fork may come between */
	free(p->window);
	p->window = NULL;
	p->nr_lines = 0;
	p->lines = aligned_alloc(KERNEL_LANE, bytes * ((size_t)nr + 1));
	p->window = calloc(nr, sizeof *p->window);
	if (p->lines == NULL || p->window == NULL)
		return err_fail(err, -ENOMEM, "prep: out of memory for %u "
		    "lines of %zu bytes", nr, bytes);
	memset(p->lines, 0, bytes * ((size_t)nr + 1));
	p->nr_lines = nr;
	return 0;
}

static uint8_t *
line_of(struct ds_prep *p, uint32_t row)
{
	return p->lines + row % p->nr_lines * (3 * p->plane);
}

/* Row y of the sample, all of whose lines are there. */
static void
make_row(struct ds_prep *p, uint32_t y, void *sample)
{
	uint8_t *line = p->lines + p->nr_lines * (3 * p->plane);
	const struct taps *t = &p->down;

	if (t->is_copy) {
		line = line_of(p, t->first[y]);
	} else {
		for (uint32_t i = 0; i < t->count[y]; i++)
			p->window[i] = line_of(p, t->first[y] + i);
		p->kernels->down(line, p->window, t, y, 3 * p->plane);
	}
	p->kernels->emit(sample, &p->emit, y, line, p->plane);
}

/* All rows of the picture's part that are needed, each as it comes. */
static int
make_rows(struct ds_prep *p, void *sample, struct ds_err *err)
{
	const struct taps *t = &p->down;
	const uint8_t *row;
	uint32_t y = 0;
	int rc;

	for (uint32_t i = t->begin; i < t->end; i++) {
		rc = picture_row(p->picture, &row, err);
		if (rc < 0)
			return rc;
		p->kernels->across(line_of(p, i), p->plane, row, &p->across);
		for (; y < t->nr && t->first[y] + t->count[y] == i + 1; y++)
			make_row(p, y, sample);
	}
	must(y == t->nr);
	return 0;
}

/* Rows that nobody needs, to see whether they are sound. */
static int
read_rest(struct ds_prep *p, struct ds_err *err)
{
	const uint8_t *row;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < p->nr_rest; i++)
		rc = picture_row(p->picture, &row, err);
	return rc;
}

/*--- the part ------------------------------------------------------------*/

/* One axis of the part, in a picture that was shrunk: its pixels, which no tap
 * leaves, and the axis within them. */
static void
set_axis(struct taps_axis *a, uint32_t *at, uint32_t from, uint32_t length,
    unsigned denominator, uint32_t whole)
{
	double begin = (double)from / denominator;
	double end = (double)(from + length) / denominator;

	*at = (uint32_t)floor(begin);
	if (end > whole)
		end = whole;
	a->from = begin - *at;
	a->to = end - *at;
	a->size = (uint32_t)ceil(end) - *at;
}

/* By how much it may be decoded smaller and still be resized down. */
static unsigned
choose_denominator(const struct settings *s, const struct ds_cut *cut)
{
	unsigned d = 8;

	while (d > 1 && (!s->fast || cut->width / d < cut->to_width ||
	    cut->height / d < cut->to_height))
		d /= 2;
	return d;
}

static int
start(struct ds_prep *p, const struct ds_cut *cut, bool is_whole,
    struct ds_err *err)
{
	const struct settings *s = &p->settings;
	struct taps_axis x = { .out = cut->to_width, .first = cut->at_x,
	    .nr = s->width, .reversed = cut->flip != 0, .stepped = true };
	struct taps_axis y = { .out = cut->to_height, .first = cut->at_y,
	    .nr = s->height };
	unsigned d = picture_shrink(p->picture, choose_denominator(s, cut));
	struct picture_box box;
	int rc;

	set_axis(&x, &box.x, cut->x, cut->width, d, picture_width(p->picture));
	set_axis(&y, &box.y, cut->y, cut->height, d,
	    picture_height(p->picture));
	rc = taps_make(&p->across, &x, err);
	if (rc == 0)
		rc = taps_make(&p->down, &y, err);
	if (rc == 0)
		rc = find_room(p, err);
	if (rc < 0)
		return rc;
	box.x += p->across.begin;
	box.width = p->across.end - p->across.begin;
	box.y += p->down.begin;
	box.height = p->down.end - p->down.begin;
	p->nr_rest = !is_whole ? 0 :
	    picture_height(p->picture) - box.y - box.height;
	box.height += p->nr_rest;
	return picture_start(p->picture, &box, err);
}

/*--- from bytes to sample ------------------------------------------------*/

static int
open_picture(struct ds_prep *p, const void *bytes, size_t len,
    struct ds_err *err)
{
	int rc;

	must_be(p, PREP_MAGIC);
	rc = make_ready(p, err);
	return rc < 0 ? rc : picture_open(p->picture, bytes, len, err);
}

static int
make_sample(struct ds_prep *p, const struct ds_cut *cut, bool is_new,
    void *sample, struct ds_err *err)
{
	unsigned verify = p->settings.verify;
	int rc;

	rc = start(p, cut, verify == VERIFY_YES ||
	    (verify == VERIFY_FIRST && is_new), err);

	if (rc == 0)
		rc = make_rows(p, sample, err);
	return rc < 0 ? rc : read_rest(p, err);
}

static int
close_picture(struct ds_prep *p, int rc)
{
	picture_close(p->picture);
	if (rc < 0)
		return rc;
	return picture_was_damaged(p->picture) ? PREP_DAMAGED : PREP_WHOLE;
}

int
prep_make(struct ds_prep *p, const void *bytes, size_t len,
    const struct ds_place *place, bool is_new, void *sample,
    struct ds_err *err)
{
	struct ds_cut cut;
	int rc = open_picture(p, bytes, len, err);

	if (rc < 0)
		return rc;
	rc = cut_draw(&p->settings, picture_width(p->picture),
	    picture_height(p->picture), place, &cut, err);
	if (rc == 0)
		rc = make_sample(p, &cut, is_new, sample, err);
	return close_picture(p, rc);
}

int
ds_prep_run(struct ds_prep *prep, const void *bytes, size_t len,
    const struct ds_cut *cut, void *sample, size_t room, struct ds_err *err)
{
	int64_t needed = ds_prep_bytes(prep, err);
	int rc;

	if (needed < 0)
		return (int)needed;
	if (room < (uint64_t)needed)
		return err_fail(err, -ENOBUFS, "a sample takes %lld bytes: "
		    "there is room for %zu", (long long)needed, room);
	rc = open_picture(prep, bytes, len, err);
	if (rc < 0)
		return rc;
	rc = cut_check(&prep->settings, picture_width(prep->picture),
	    picture_height(prep->picture), cut, err);
	if (rc == 0)
		rc = make_sample(prep, cut, false, sample, err);
	rc = close_picture(prep, rc);
	return rc < 0 ? rc : 0;
}

int
ds_prep_size(struct ds_prep *prep, const void *bytes, size_t len,
    uint32_t *width, uint32_t *height, struct ds_err *err)
{
	int rc = open_picture(prep, bytes, len, err);

	if (rc < 0)
		return rc;
	*width = picture_width(prep->picture);
	*height = picture_height(prep->picture);
	picture_close(prep->picture);
	return 0;
}

int
ds_prep_draw(struct ds_prep *prep, uint32_t width, uint32_t height,
    const struct ds_place *place, struct ds_cut *cut, struct ds_err *err)
{
	int rc;

	must_be(prep, PREP_MAGIC);
	rc = make_ready(prep, err);
	return rc < 0 ? rc :
	    cut_draw(&prep->settings, width, height, place, cut, err);
}

bool
prep_is_bad(int rc)
{
	switch (-rc) {
	case ENODATA:
	case EBADMSG:
	case ENOTSUP:
	case EFBIG:
	case ETIME:
		return true;
	default:
		return false;
	}
}
