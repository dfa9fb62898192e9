/* SPDX-License-Identifier: Apache-2.0
 *
 * pictures.h: a folder of small JPEG files, as an image data set has them.
 */

#ifndef HARNESS_PICTURES_H
#define HARNESS_PICTURES_H

#include <stdint.h>

#include "tests/harness/folder.h"

#define PICTURES_CLASSES	3u

struct pictures {
	char		path[FOLDER_PATH];
	uint64_t	nr;
};

int pictures_make(struct pictures *p, uint64_t nr);
	/* class0/0000.jpg, class0/0001.jpg..., of different sizes.  0, or -1
	 * after saying why. */
int pictures_remove(struct pictures *p);

void pictures_name(const struct pictures *p, uint64_t i, char name[64]);
	/* Of the i-th in the order of names, relative to the folder. */
int pictures_put(const struct pictures *p, const char *name, const void *bytes,
    size_t len);
	/* Another file, or another content. */
int pictures_cut(const struct pictures *p, uint64_t i);
	/* To half its length. */

#endif
