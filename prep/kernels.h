/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h: the loops over pixels, in plain C and for each instruction set.
 * Runs in clients, in any of their threads.
 *
 * A line is a row of the sample as three planes of bytes, R, G and B, each
 * `plane` bytes long, a multiple of KERNEL_LANE; lines begin at such a multiple.
 *
 *  1. Every implementation gives the same bytes as the plain one.
 *  2. They may read PICTURE_SLACK bytes behind a row, and read and write a line
 *     to the end of its planes; of the sample they write exactly its row.
 */

#ifndef PREP_KERNELS_H
#define PREP_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prep/taps.h"

#define KERNEL_LANE	32u

enum sample_type { SAMPLE_U8, SAMPLE_F16, SAMPLE_BF16, SAMPLE_F32, NR_SAMPLE_TYPES };
enum sample_layout { SAMPLE_NCHW, SAMPLE_NHWC, NR_SAMPLE_LAYOUTS };

/* What a division is replaced by: the divisor's inverse in two parts. */
struct inverse {
	float	high, low;
};

/* How bytes become numbers: ((v / 255) - mean) / std, each step rounded to a
 * float, as torchvision's ToTensor and Normalize do. */
struct emit {
	enum sample_type	type;
	enum sample_layout	layout;
	uint32_t		width, height;
	bool			is_exact;	/* by_255 and by_std give the
						 * table's values, all of them */
	float			mean[3], std[3];
	struct inverse		by_255, by_std[3];
	float			table[3][256];
	uint16_t		half[3][256];	/* the same as F16 or BF16 */
};

struct kernels {
	const char	*name;
	bool		(*works)(void);		/* on this processor */

	void		(*across)(uint8_t *line, size_t plane,
			    const uint8_t *row, const struct taps *t);
	/* A row of the picture, whose first pixel is number t->begin, resized
	 * to the t->nr pixels of a line. */

	void		(*down)(uint8_t *out, const uint8_t *const *lines,
			    const struct taps *t, uint32_t i, size_t bytes);
	/* Output i of t from t->count[i] lines, of so many bytes each, a
	 * multiple of KERNEL_LANE. */

	void		(*emit)(void *sample, const struct emit *e,
			    uint32_t y, const uint8_t *line, size_t plane);
	/* A line as row y of the sample. */
};

extern const struct kernels kernels_plain, kernels_avx2, kernels_neon;

const struct kernels *kernels_find(const char *name);
	/* By name, or "auto" for the fastest that works here; NULL if there is
	 * none that works. */
const struct kernels *const *kernels_all(void);
	/* Those that are built, the fastest first; ends with NULL. */

void emit_init(struct emit *e);
	/* The tables, from type, mean and std. */

#endif
