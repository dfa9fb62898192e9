/* SPDX-License-Identifier: Apache-2.0
 *
 * cut.h: which part of a picture becomes a sample: the laws of torchvision's
 * RandomResizedCrop, RandomHorizontalFlip, Resize and CenterCrop.
 * Runs in clients, in any of their threads.
 *
 * Pure functions of the picture's size and the place (destall.h).
 */

#ifndef PREP_CUT_H
#define PREP_CUT_H

#include "destall.h"
#include "prep/settings.h"

int cut_draw(const struct settings *s, uint32_t width, uint32_t height,
    const struct ds_place *place, struct ds_cut *cut, struct ds_err *err);
	/* -EFBIG: the picture cannot be resized so. */

int cut_check(const struct settings *s, uint32_t width, uint32_t height,
    const struct ds_cut *cut, struct ds_err *err);
	/* Is it one that can be made of a picture of that size?  -EINVAL. */

#endif
