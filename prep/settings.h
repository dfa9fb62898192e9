/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.h: how pictures are made into samples, set by names and texts.
 * Runs in clients.
 */

#ifndef PREP_SETTINGS_H
#define PREP_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/args.h"
#include "destall.h"
#include "prep/picture.h"

enum crop { CROP_RANDOM, CROP_CENTER, CROP_NONE };
enum verify { VERIFY_FIRST, VERIFY_YES, VERIFY_NO };

#define SAMPLE_SIDE_MAX	16384u

struct settings {
	unsigned	crop;		/* enum crop */
	uint32_t	width, height;	/* of a sample */
	uint64_t	resize;		/* the shorter side, before cropping */
	double		scale[2], ratio[2];
	double		flip;		/* the share that is mirrored */
	double		mean[3], std[3];
	unsigned	type;		/* enum sample_type */
	unsigned	layout;		/* enum sample_layout */
	bool		fast;
	unsigned	verify;		/* enum verify */
	unsigned	simd;		/* into settings_simd[] */
	struct picture_limits limits;
};

extern const struct arg_option settings_table[];
extern const char *const settings_simd[];	/* "auto", then names of kernels */

const struct ds_option *settings_options(void);
	/* The same, as bindings see it; what each is unless it is set. */

void settings_init(struct settings *s);
int settings_check(const struct settings *s, struct ds_err *err);
	/* Do they go together?  -EINVAL. */

#endif
