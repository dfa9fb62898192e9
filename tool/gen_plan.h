/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_plan.h: what a data set of `destall gen` consists of: from the index of
 * an image to its class, its name and its size.  Runs in the command only.
 *
 * Nothing here depends on how many images there will be, so that a larger
 * --count extends a set.
 */

#ifndef TOOL_GEN_PLAN_H
#define TOOL_GEN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define GEN_SIDE_MAX	8192u
#define GEN_COUNT_MAX	UINT64_C(100000000)
#define GEN_CLASSES_MAX	UINT64_C(100000)

/* Either one size, or a range of the longer side. */
struct gen_size {
	bool		is_range;
	unsigned	width, height;
	unsigned	min_side, max_side;
};

struct gen_plan {
	uint64_t	seed;
	uint64_t	classes;
	uint64_t	quality;	/* of the JPEG encoder, 1 to 100 */
	uint64_t	shard_bytes;	/* of a tar shard; 0: a file each */
	struct gen_size	size;
};

#define GEN_NAME	32		/* of a class or a file, terminated */
struct gen_image {
	unsigned	width, height;
	uint64_t	class;
	char		class_name[GEN_NAME];	/* "class007" */
	char		file_name[GEN_NAME];	/* "000007.jpg" */
};

int gen_size_parse(const char *text, void *size, struct ds_err *err);
	/* "500x375" or "300-600" into a struct gen_size. */

void gen_size_max(const struct gen_size *s, unsigned *width, unsigned *height);

void gen_plan_image(const struct gen_plan *p, uint64_t index,
    struct gen_image *out);

bool gen_plan_index(const struct gen_plan *p, uint64_t class, const char *name,
    uint64_t *index);
	/* Of the image with that file name in that class; false if there is
	 * none. */

void gen_plan_class_name(char name[GEN_NAME], uint64_t class);

#define GEN_RECORD	512
size_t gen_plan_print(const struct gen_plan *p, char text[GEN_RECORD]);
	/* The plan as the lines of a set's record; the length. */

bool gen_plan_is_whole(const char *record);
	/* Is the last line of a record there? */

int gen_plan_compare(const struct gen_plan *p, const char *record,
    struct ds_err *err);
	/* Is a set with that record one of this plan?  -EEXIST names the first
	 * difference, in the words of the options, and what to do; -EBADMSG if
	 * it is no record. */

#endif
