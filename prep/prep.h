/* SPDX-License-Identifier: Apache-2.0
 *
 * prep.h: a picture to a sample.  Runs in clients; one thread at a time.
 *
 * Rows are resized across as they are decoded, and the last few of them down,
 * while all of it is in the first-level cache:
 *
 *     picture row -> across -> ring of lines -> down -> line -> emit -> sample
 *
 *  1. The sample is a function of the bytes, the settings and the cut alone:
 *     neither thread, nor instruction set, nor what was made before counts.
 */

#ifndef PREP_PREP_H
#define PREP_PREP_H

#include "destall.h"
#include "prep/settings.h"

#define PREP_MAGIC	0x94e9a4edu

int prep_copy(struct ds_prep **out, const struct ds_prep *from,
    struct ds_err *err);
	/* Another with the same settings, for another thread. */

int prep_make(struct ds_prep *p, const void *bytes, size_t len,
    const struct ds_place *place, bool is_new, void *sample,
    struct ds_err *err);
	/* ds_prep_draw() and ds_prep_run() in one: reads the head once.
	 * is_new: nobody knows yet whether it is sound to its end.
	 * PREP_WHOLE, or PREP_DAMAGED if that is accepted; -errno. */

enum { PREP_WHOLE, PREP_DAMAGED };

bool prep_is_bad(int rc);
	/* Is it the picture's fault, or ours (memory)? */

const struct settings *prep_settings(const struct ds_prep *p);

#endif
