/* SPDX-License-Identifier: Apache-2.0
 *
 * director_pass.c: which pass a process belongs to, and how passes begin and
 * end.  Runs in the hub only.
 *
 *  1. Two that name the same stream, epoch and place in it share a pass.
 *  2. One whose position is in no window gets a pass of its own; but on an
 *     ordered stream, where it is behind the others and will catch up, theirs.
 */

#include <config.h>

#include "stage/director.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/must.h"

#define KEY_SHOWN	120	/* characters, in the log */

struct wish {			/* what ATTACH says */
	const char	*group, *key;
	size_t		group_len, key_len;
	uint32_t	seeded;
	uint64_t	seed, epoch, samples;
	uint32_t	unit, order;
	uint64_t	at;
	uint32_t	ahead;
	uint64_t	window, window_bytes;
};

/*--- finding -------------------------------------------------------------*/

struct pass *
director_pass(struct director *d, uint32_t id)
{
	struct pass *p;

	for (p = d->passes; p != NULL; p = p->next) {
		if (p->id == id)
			return p;
	}
	return NULL;
}

uint32_t
director_number(const struct pass *p, uint32_t place)
{
	return p->id * LINE_PLACES + place;
}

struct pass *
director_pass_of(struct director *d, uint32_t number, const struct client *c,
    uint32_t *place)
{
	struct pass *p = director_pass(d, number / LINE_PLACES);
	const struct seated *s;

	*place = number % LINE_PLACES;
	s = p != NULL ? p->seated[*place] : NULL;
	return s != NULL && s->client == client_id(c) ? p : NULL;
}

static bool
is_text(const char *text, const char *bytes, size_t len)
{
	return strlen(text) == len && memcmp(text, bytes, len) == 0;
}

static bool
is_stream(const struct pass *p, const struct wish *w)
{
	bool is_hub_seed = w->seeded != STAGE_SEED_OWN;

	return p->is_hub_seed == is_hub_seed && p->samples == w->samples &&
	    p->order == w->order &&
	    (w->seeded == STAGE_SEED_HUB || p->seed == w->seed) &&
	    is_text(p->key, w->key, w->key_len) &&
	    is_text(p->group, w->group, w->group_len);
}

/* Who has no seed takes that of the stream that most are at. */
static void
choose_seed(const struct director *d, struct wish *w)
{
	const struct pass *p, *best = NULL;

	if (w->seeded != STAGE_SEED_HUB)
		return;
	for (p = d->passes; p != NULL; p = p->next) {
		if (is_stream(p, w) && (best == NULL ||
		    p->nr_seated > best->nr_seated))
			best = p;
	}
	w->seeded = STAGE_SEED_KEPT;
	if (best != NULL)
		w->seed = best->seed;
	else if (getrandom(&w->seed, sizeof w->seed, GRND_NONBLOCK) !=
	    (ssize_t)sizeof w->seed)
		w->seed = hub_generation(d->hub) ^ clock_now_ns();
	w->seed &= INT64_MAX;	/* some languages have no others */
}

static void
choose_epoch(const struct director *d, struct wish *w)
{
	const struct pass *p;

	if (w->epoch != STAGE_ANY)
		return;
	w->epoch = 0;
	for (p = d->passes; p != NULL; p = p->next) {
		if (is_stream(p, w) && p->epoch > w->epoch)
			w->epoch = p->epoch;
	}
}

/* Would one who wishes so share with those of this pass?  Not if the first of
 * them has it behind it: then those who come now share another. */
static bool
suits(const struct pass *p, const struct wish *w)
{
	const struct line *l = &p->line;
	uint64_t at;

	if (p->epoch != w->epoch || !is_stream(p, w) ||
	    p->nr_seated == LINE_PLACES)
		return false;
	if (w->at == STAGE_ANY)
		return line_lead(l) < l->units;
	at = w->at * w->unit / p->unit;
	if (at < l->base)
		return w->order == STAGE_ORDERED;
	return at < l->base + l->window;
}

static struct pass *
find(const struct director *d, const struct wish *w)
{
	struct pass *p, *best = NULL;

	for (p = d->passes; p != NULL; p = p->next) {
		if (suits(p, w) && (best == NULL ||
		    p->line.members > best->line.members))
			best = p;
	}
	return best;
}

/*--- life ----------------------------------------------------------------*/

static uint32_t
new_id(struct director *d)
{
	do {
		d->last_pass = d->last_pass < PASS_IDS - 1 ?
		    d->last_pass + 1 : 1;
	} while (director_pass(d, d->last_pass) != NULL);
	return d->last_pass;
}

static void
begin_line(struct pass *p, uint64_t units, uint64_t at)
{
	line_init(&p->line, units, WINDOW_UNITS, at, p->unit_of, LINE_RING,
	    p->place_of, LINE_PLACES);
	p->line.ahead = AHEAD_UNITS;
	p->line.changed = director_show_unit;
	p->line.retired = director_retired;
	p->line.arg = p;
	p->shown_end = at;
	p->news_from = 1;	/* none */
}

static int
make_board(struct pass *p, uint64_t units, struct ds_err *err)
{
	int rc = segment_create(&p->seg, &board_kind, sizeof *p->board,
	    hub_generation(p->director->hub), err);

	if (rc < 0)
		return rc;
	p->board = p->seg.base;
	p->board->pass = p->id;
	p->board->unit = p->unit;
	p->board->units = units;
	return 0;
}

static void
free_pass(struct pass *p)
{
	segment_detach(&p->seg);
	free(p->group);
	free(p->key);
	p->magic = 0;
	free(p);
}

static void
fill(struct pass *p, const struct wish *w)
{
	p->seed = w->seed;
	p->epoch = w->epoch;
	p->is_hub_seed = w->seeded != STAGE_SEED_OWN;
	p->order = w->order;
	p->samples = w->samples;
	p->unit = w->unit;
	p->group = strndup(w->group, w->group_len);
	p->key = strndup(w->key, w->key_len);
}

static int
make_pass(struct director *d, const struct wish *w, struct pass **out,
    struct ds_err *err)
{
	uint64_t units = (w->samples - 1) / w->unit + 1;
	struct pass *p;
	int rc;

	if (d->nr_passes == DIRECTOR_PASSES)
		return err_fail(err, -EMFILE, "stage: the hub has %u passes",
		    DIRECTOR_PASSES);
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return err_fail(err, -ENOMEM, "stage: the hub has no memory");
	p->magic = PASS_MAGIC;
	p->director = d;
	p->id = new_id(d);
	fill(p, w);
	rc = p->group != NULL && p->key != NULL ? make_board(p, units, err) :
	    err_fail(err, -ENOMEM, "stage: the hub has no memory");
	if (rc < 0) {
		free_pass(p);
		return rc;
	}
	begin_line(p, units, w->at == STAGE_ANY ? 0 : w->at);
	p->used_ns = clock_now_ns();
	p->next = d->passes;
	d->passes = p;
	d->nr_passes++;
	log_line(hub_log(d->hub), LOG_INFO, "pass %u begins: epoch %" PRIu64
	    ", %" PRIu64 " units of %u, from %" PRIu64 ": %.*s", p->id,
	    p->epoch, units, p->unit, p->line.base, KEY_SHOWN, p->key);
	*out = p;
	return 0;
}

void
director_end_pass(struct director *d, struct pass *p)
{
	const struct line *l = &p->line;
	struct pass **at = &d->passes;

	director_end_units(p);
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	d->nr_passes--;
	log_line(hub_log(d->hub), LOG_INFO, "pass %u ends: %" PRIu64 " units "
	    "made, %" PRIu64 " delivered, %" PRIu64 " alone, %" PRIu64
	    " revoked, %" PRIu64 " late, %" PRIu64 " member%s detached",
	    p->id, l->made, p->delivered, l->alone, l->revoked, l->late,
	    l->detached, l->detached == 1 ? "" : "s");
	free_pass(p);
}

/*--- messages ------------------------------------------------------------*/

static bool
is_sound_text(const char *text, size_t len, size_t most)
{
	return len <= most && memchr(text, '\0', len) == NULL;
}

static bool
is_sound(const struct wish *w)
{
	return is_sound_text(w->group, w->group_len, STAGE_GROUP_MAX) &&
	    is_sound_text(w->key, w->key_len, STAGE_KEY_MAX) &&
	    w->seeded <= STAGE_SEED_KEPT && w->order <= STAGE_ORDERED &&
	    w->samples > 0 && w->samples <= INT64_MAX && w->unit > 0 &&
	    (w->at == STAGE_ANY || w->at <= (w->samples - 1) / w->unit) &&
	    w->window <= UINT32_MAX;
}

static bool
read_wish(const struct wire_frame *f, struct wish *w)
{
	struct wire_reader r;

	wire_read(&r, f);
	w->group = wire_get_bytes(&r, &w->group_len);
	w->key = wire_get_bytes(&r, &w->key_len);
	w->seeded = wire_get_u32(&r);
	w->seed = wire_get_u64(&r);
	w->epoch = wire_get_u64(&r);
	w->samples = wire_get_u64(&r);
	w->unit = wire_get_u32(&r);
	w->order = wire_get_u32(&r);
	w->at = wire_get_u64(&r);
	w->ahead = wire_get_u32(&r);
	w->window = wire_get_u64(&r);
	w->window_bytes = wire_get_u64(&r);
	return wire_read_end(&r) && is_sound(w);
}

/* In units of the pass; the largest window that anyone asked for. */
static void
wish_for(struct pass *p, struct seated *s, const struct wish *w)
{
	uint64_t units = (w->window * w->unit + p->unit - 1) / p->unit;

	if (units > p->window_units)
		p->window_units = units;
	if (w->window_bytes > p->window_bytes)
		p->window_bytes = w->window_bytes;
	s->ahead = ((uint64_t)w->ahead * w->unit + p->unit - 1) / p->unit;
	if (s->ahead == 0)
		s->ahead = AHEAD_UNITS;
}

static void
answer_attached(const struct pass *p, uint32_t place, struct client *c,
    uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_ATTACHED, serial);
	wire_put_u32(&w, director_number(p, place));
	wire_put_u32(&w, place);
	wire_put_u64(&w, p->seed);
	wire_put_u64(&w, p->epoch);
	wire_put_u32(&w, p->unit);
	wire_put_u64(&w, p->line.units);
	wire_put_fd(&w, p->seg.fd);
	wire_put_fd(&w, p->seated[place]->seat.fd);
	wire_put_fd(&w, slots_floor(p->director->slots));
	must(wire_write_end(&w));
	client_answer(c, &f);
}

int
director_attach(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct seated *s;
	struct wish w;
	struct pass *p;
	uint32_t place;
	int rc;

	if (!read_wish(f, &w))
		return -EBADMSG;
	rc = director_new_seated(d, c, &s, err);
	if (rc < 0)
		return rc;
	choose_seed(d, &w);
	choose_epoch(d, &w);
	p = find(d, &w);
	if (p == NULL)
		rc = make_pass(d, &w, &p, err);
	if (rc < 0) {
		director_free_seated(&s);
		return rc;
	}
	wish_for(p, s, &w);
	place = director_seat(p, s);
	director_settle(p, clock_now_ns());
	answer_attached(p, place, c, f->head.serial);
	return 0;
}

int
director_leave(struct director *d, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	struct wire_reader r;
	struct pass *p;
	uint32_t place;

	(void)err;
	wire_read(&r, f);
	p = director_pass_of(d, wire_get_u32(&r), c, &place);
	if (!wire_read_end(&r) || p == NULL)
		return -EBADMSG;
	director_leave_place(d, p, place);
	return 0;
}
