/* SPDX-License-Identifier: Apache-2.0
 *
 * picture.c: encoded pictures, whatever their format: which one it is, the
 * limits that all share, and rows handed out one by one.
 * Runs in clients, in any of their threads, with one picture each.
 *
 * Formats decode PICTURE_ROWS at a time, since entering a library that fails
 * by jumping costs as much as some pixels.
 */

#include <config.h>

#include "prep/picture.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "prep/format.h"
#include "prep/sniff.h"

#define PICTURE_MAGIC	0xd5b1c7e4u
#define LOOK_EVERY	(UINT64_C(1) << 18)	/* pixels: a few ms */
#define ROW_ALIGN	64u
#define ROW_SHIFT	4u

static const struct format *const formats[] = {
	&format_jpeg,
#if WITH_PNG
	&format_png,
#endif
};

#define NR_FORMATS	(sizeof formats / sizeof *formats)

static_assert(NR_FORMATS <= FORMATS_MOST, "room for their decoders");

int
picture_new(struct picture **out, const struct picture_limits *limits,
    struct ds_err *err)
{
	struct picture *p = calloc(1, sizeof *p);

	if (p == NULL)
		return err_fail(err, -ENOMEM, "out of memory for a decoder");
	p->magic = PICTURE_MAGIC;
	p->limits = *limits;
	*out = p;
	return 0;
}

void
picture_free(struct picture **pp)
{
	struct picture *p = *pp;

	*pp = NULL;
	if (p == NULL)
		return;
	must_be(p, PICTURE_MAGIC);
	picture_close(p);
	for (size_t i = 0; i < NR_FORMATS; i++) {
		if (p->decoders[i] != NULL)
			formats[i]->free(p->decoders[i]);
	}
	free(p->buffer);
	p->magic = 0;
	free(p);
}

/*--- limits --------------------------------------------------------------*/

/* The clock of a thread costs a system call, so it is first looked at when
 * LOOK_EVERY pixels are done: most pictures are over by then. */
bool
picture_is_late(struct picture *p, uint64_t pixels)
{
	uint64_t now;

	p->work += pixels;
	if (p->work < LOOK_EVERY)
		return false;
	p->work = 0;
	now = clock_thread_ns() + 1;	/* 0: none */
	if (p->begun_ns == 0)
		p->begun_ns = now;
	return now - p->begun_ns > p->limits.time_ns;
}

int
picture_late(struct ds_err *err)
{
	return err_fail(err, -ETIME,
	    "it takes longer to decode than max-time allows");
}

int
picture_damage(struct picture *p, struct ds_err *err, const char *what)
{
	if (p->limits.truncated) {
		p->was_damaged = true;
		return 0;
	}
	return err_fail(err, -EBADMSG, "it is %s", what);
}

int
picture_check_size(const struct picture *p, uint64_t width, uint64_t height,
    struct ds_err *err)
{
	if (width == 0 || height == 0)
		return err_fail(err, -EBADMSG,
		    "its head says %llux%llu pixels: there are none",
		    (unsigned long long)width, (unsigned long long)height);
	if (width > PICTURE_SIDE_MOST || height > PICTURE_SIDE_MOST ||
	    width * height > p->limits.pixels)
		return err_fail(err, -EFBIG, "its head says %llux%llu pixels: "
		    "more than max-pixels allows", (unsigned long long)width,
		    (unsigned long long)height);
	return 0;
}

int
picture_check_memory(const struct picture *p, uint64_t bytes,
    struct ds_err *err)
{
	if (bytes <= p->limits.memory)
		return 0;
	return err_fail(err, -EFBIG, "it takes %llu bytes of memory to decode: "
	    "more than max-memory allows", (unsigned long long)bytes);
}

/*--- the head ------------------------------------------------------------*/

static int
choose_format(struct picture *p, struct ds_err *err)
{
	for (size_t i = 0; i < NR_FORMATS; i++) {
		const struct format *f = formats[i];
		int rc;

		if (p->len < f->mark_len ||
		    memcmp(p->bytes, f->mark, f->mark_len) != 0)
			continue;
		rc = p->decoders[i] != NULL ? 0 : f->new(&p->decoders[i], err);
		if (rc < 0)
			return rc;
		p->decoder = p->decoders[i];
		p->format = f;
		return 0;
	}
	return sniff_refuse(p->bytes, p->len, err);
}

int
picture_too_long(uint64_t bytes, struct ds_err *err)
{
	return err_fail(err, -EFBIG, "it has %llu bytes: more than max-bytes "
	    "allows", (unsigned long long)bytes);
}

int
picture_open(struct picture *p, const void *bytes, size_t len,
    struct ds_err *err)
{
	int rc;

	must_be(p, PICTURE_MAGIC);
	must(p->format == NULL);
	p->bytes = bytes;
	p->len = len;
	p->was_damaged = false;
	p->work = 0;
	p->begun_ns = 0;
	if (len == 0)
		return err_fail(err, -ENODATA, "it is empty");
	if (len > p->limits.bytes)
		return picture_too_long(len, err);
	rc = choose_format(p, err);
	if (rc < 0)
		return rc;
	rc = p->format->open(p, err);
	if (rc == 0)
		rc = picture_check_size(p, p->width, p->height, err);
	if (rc < 0)
		picture_close(p);
	return rc;
}

uint32_t
picture_width(const struct picture *p)
{
	return p->width;
}

uint32_t
picture_height(const struct picture *p)
{
	return p->height;
}

unsigned
picture_shrink(struct picture *p, unsigned denominator)
{
	must(p->format != NULL);
	if (denominator == 1 || p->format->shrink == NULL)
		return 1;
	return p->format->shrink(p, denominator);
}

/*--- rows ----------------------------------------------------------------*/

/* Rows lie apart by what kernels may read behind one, and are not aligned on
 * purpose: into aligned rows libjpeg-turbo writes past the caches, and the next
 * step would wait for memory (a tenth of all time). */
static int
find_room(struct picture *p, struct ds_err *err)
{
	size_t stride = (ROW_SHIFT + (size_t)p->decoded * PICTURE_PIXEL +
	    PICTURE_SLACK + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
	size_t need = stride * PICTURE_ROWS;

	if (need > p->room) {
		free(p->buffer);
		p->buffer = NULL;	/* a fork may come between */
		p->room = 0;
		p->buffer = aligned_alloc(ROW_ALIGN, need);
		if (p->buffer == NULL)
			return err_fail(err, -ENOMEM,
			    "out of memory for %u rows of %u pixels",
			    PICTURE_ROWS, p->decoded);
		memset(p->buffer, 0, need);
		p->room = need;
	}
	for (unsigned i = 0; i < PICTURE_ROWS; i++)
		p->rows[i] = p->buffer + i * stride + ROW_SHIFT;
	return 0;
}

static bool
is_within(uint32_t at, uint32_t length, uint32_t whole)
{
	return length > 0 && length <= whole && at <= whole - length;
}

int
picture_start(struct picture *p, const struct picture_box *box,
    struct ds_err *err)
{
	int rc;

	must_be(p, PICTURE_MAGIC);
	must(p->format != NULL);
	must(is_within(box->x, box->width, p->width));
	must(is_within(box->y, box->height, p->height));
	p->box = *box;
	p->left = box->height;
	p->nr = 0;
	p->next = 0;
	rc = p->format->start(p, err);
	return rc < 0 ? rc : find_room(p, err);
}

static int
decode_rows(struct picture *p, struct ds_err *err)
{
	unsigned nr = p->left < PICTURE_ROWS ? p->left : PICTURE_ROWS;
	int rc;

	must(nr > 0);
	if (picture_is_late(p, (uint64_t)nr * p->decoded))
		return picture_late(err);
	rc = p->format->rows(p, nr, err);
	if (rc < 0)
		return rc;
	p->left -= nr;
	p->nr = nr;
	p->next = 0;
	return 0;
}

int
picture_row(struct picture *p, const uint8_t **row, struct ds_err *err)
{
	int rc;

	if (p->next == p->nr) {
		rc = decode_rows(p, err);
		if (rc < 0)
			return rc;
	}
	*row = p->rows[p->next++] + (size_t)p->before * PICTURE_PIXEL;
	return 0;
}

void
picture_close(struct picture *p)
{
	must_be(p, PICTURE_MAGIC);
	if (p->format != NULL)
		p->format->close(p);
	p->format = NULL;
}

bool
picture_was_damaged(const struct picture *p)
{
	return p->was_damaged;
}
