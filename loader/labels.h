/* SPDX-License-Identifier: Apache-2.0
 *
 * labels.h: which items of a data set are samples, and the label of each.
 * Runs in clients; once opened, in any of their threads.
 *
 * "folders"  the pictures below folders: a class is a first folder, its label
 *            the place of its name among all, sorted as bytes.  That is what
 *            torchvision's ImageFolder gives, but for folders without any
 *            picture, which it refuses.  In tar shards the folder is that of
 *            the member's name, and a class may lie in many shards.
 * "none"     all pictures, without labels
 * a path     the samples of a list, in its order (label_list.h)
 *
 * A picture is told by its name: .jpg .jpeg .png .ppm .bmp .pgm .tif .tiff
 * .webp, in any case.  What a list names is a sample whatever its name is.
 */

#ifndef LOADER_LABELS_H
#define LOADER_LABELS_H

#include <stdint.h>

#include "destall.h"

struct labels;

int labels_open(struct labels **out, const char *how, struct ds_data *data,
    const uint64_t **items, uint64_t *nr, struct ds_err *err);
	/* *items: the numbers in the data set of *nr samples, ascending, or in
	 * the order of the list; at least one; valid as long as labels.
	 * -EINVAL: a picture outside any folder; -ENOENT: no picture, no such
	 * list; -EBADMSG: a line of the list that is wrong. */
void labels_close(struct labels **lp);

int64_t labels_of(const struct labels *l, uint64_t sample);
	/* sample is an index into items; -1: it has none. */

uint64_t labels_classes(const struct labels *l);
	/* How many: labels are below. */

const char *labels_class(const struct labels *l, int64_t label);
	/* Its name, valid as long as labels; NULL: there is none. */

#endif
