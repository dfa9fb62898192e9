/* SPDX-License-Identifier: Apache-2.0
 *
 * loaded.h: what a loader gave, by epoch and position, to compare one run with
 * another.
 */

#ifndef HARNESS_LOADED_H
#define HARNESS_LOADED_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "destall.h"
#include "tests/harness/pictures.h"
#include "tests/harness/unit.h"

#define LOADED_EPOCHS	4u
#define LOADED_MOST	64u	/* positions */

struct loaded_sample {
	uint64_t	item;
	int64_t		label;
	uint32_t	crc;
	uint32_t	times;		/* it was given */
	uint32_t	state;
};

struct loaded {
	struct loaded_sample at[LOADED_EPOCHS][LOADED_MOST];
};

/* Without cmocka, which is for one thread. */
static inline void
loaded_note(struct loaded *l, const struct ds_batch *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		struct loaded_sample *s = &l->at[b->epoch][b->positions[i]];

		s->times++;
		s->item = b->items[i];
		s->label = b->labels[i];
		s->state = b->states[i];
		s->crc = crc32c(0, (const char *)b->samples +
		    i * b->sample_bytes, b->sample_bytes);
	}
}

static inline void
loaded_add(struct loaded *l, const struct ds_batch *b)
{
	assert_true(b->epoch < LOADED_EPOCHS);
	for (uint32_t i = 0; i < b->count; i++) {
		assert_true(b->positions[i] < LOADED_MOST);
		assert_true(i == 0 || b->positions[i] > b->positions[i - 1]);
	}
	loaded_note(l, b);
}

/* "batch=5 threads=2": of small samples. */
static inline void
loaded_set(struct ds_loader *l, const char *options)
{
	char text[512], *rest = text, *word, *value;
	struct ds_err err;

	(void)snprintf(text, sizeof text, "size=32 epochs=2 %s", options);
	while ((word = strsep(&rest, " ")) != NULL) {
		if (*word == '\0')
			continue;
		value = strchr(word, '=');
		assert_non_null(value);
		*value++ = '\0';
		if (ds_loader_set(l, word, value, &err) < 0)
			fail_msg("%s", err.text);
	}
}

/* Up to nr batches, all without a failure; those that there were. */
static inline unsigned
loaded_run(struct loaded *out, struct ds_loader *l, unsigned nr)
{
	struct ds_batch *b;
	struct ds_err err = { 0 };
	unsigned got = 0;
	int rc = 0;

	while (got < nr && (rc = ds_loader_next(l, &b, &err)) >= 0) {
		if (rc == 0)
			continue;
		loaded_add(out, b);
		ds_loader_release(l, &b);
		assert_null(b);
		got++;
	}
	if (rc < 0 && rc != -ENOENT)
		fail_msg("%s", err.text);
	return got;
}

/* All of it. */
static inline void
loaded_all(struct loaded *out, struct ds_data *data, const char *options)
{
	struct ds_loader *l;
	struct ds_err err;

	memset(out, 0, sizeof *out);
	assert_int_equal(ds_loader_open(&l, data, &err), 0);
	loaded_set(l, options);
	loaded_run(out, l, UINT32_MAX);
	ds_loader_close(&l);
	assert_null(l);
}

#endif
