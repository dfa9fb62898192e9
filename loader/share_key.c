/* SPDX-License-Identifier: Apache-2.0
 *
 * share_key.c: which stream it is: equal for two jobs exactly if they would
 * make the same bytes.  Runs in clients.
 *
 * Left out is what changes no byte of a sample that did not fail: batch size,
 * threads, labels, on-bad, drop-last beyond the number of turns, and the
 * kernels, which all give the same.  The seed is the stage's to compare.
 */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "cache/data.h"
#include "loader/loader.h"
#include "prep/prep.h"

/* To be changed with whatever changes a sample's bytes, or their order. */
#define ARITHMETIC	1u

static void
add_real(struct hash128 *h, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	hash128_number(h, bits);
}

static void
add_settings(struct hash128 *h, const struct settings *s)
{
	const struct picture_limits *limits = &s->limits;

	hash128_number(h, s->crop);
	hash128_number(h, s->width);
	hash128_number(h, s->height);
	hash128_number(h, s->resize);
	for (int i = 0; i < 2; i++) {
		add_real(h, s->scale[i]);
		add_real(h, s->ratio[i]);
	}
	add_real(h, s->flip);
	for (int i = 0; i < 3; i++) {
		add_real(h, s->mean[i]);
		add_real(h, s->std[i]);
	}
	hash128_number(h, s->type);
	hash128_number(h, s->layout);
	hash128_number(h, s->fast);
	hash128_number(h, s->verify);
	hash128_number(h, limits->bytes);
	hash128_number(h, limits->pixels);
	hash128_number(h, limits->scans);
	hash128_number(h, limits->time_ns);
	hash128_number(h, limits->memory);
	hash128_number(h, limits->truncated);
}

/* By the key of each, too: a file that changed is another.  The proof at join
 * would see it only if it is in that one unit. */
static void
add_items(struct hash128 *h, const struct ds_loader *l)
{
	for (uint64_t i = 0; i < l->plan.nr; i++) {
		const struct listing_item *key = data_key(l->data,
		    l->items[i]);
		struct ds_info info = { .name = NULL };

		(void)ds_data_info(l->data, l->items[i], &info);
		hash128_text(h, info.name != NULL ? info.name : "");
		hash128_number(h, info.size);
		if (key == NULL)
			continue;
		hash128_number(h, key->dev);
		hash128_number(h, key->ino);
		hash128_number(h, (uint64_t)key->mtime_ns);
		hash128_number(h, (uint64_t)key->ctime_ns);
		hash128_number(h, key->offset);
	}
}

void
share_key(const struct ds_loader *l, char key[SHARE_KEY])
{
	const struct plan *p = &l->plan;
	struct hash128 h = HASH128_BEGIN;

	hash128_number(&h, ARITHMETIC);
	hash128_text(&h, ds_version());
	hash128_number(&h, p->nr);
	hash128_number(&h, p->turns);
	hash128_number(&h, p->rank);
	hash128_number(&h, p->ranks);
	hash128_number(&h, p->order != NULL);
	add_settings(&h, prep_settings(l->prep));
	add_items(&h, l);
	(void)snprintf(key, SHARE_KEY, "native %016" PRIx64 "%016" PRIx64,
	    h.high, h.low);
}

uint64_t
share_hash(const struct batch *b)
{
	uint64_t hash = hash_number(HASH_BEGIN, b->given.epoch);

	for (uint32_t i = 0; i < b->nr; i++) {
		hash = hash_number(hash, b->positions[i]);
		hash = hash_number(hash, b->items[i]);
	}
	return hash;
}
