/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_scan.h: which images of a data set are there.  Runs in the command only,
 * in its main thread.
 *
 * The work is that of listing what is there, however many are asked for.
 */

#ifndef TOOL_GEN_SCAN_H
#define TOOL_GEN_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hist.h"
#include "tool/gen_set.h"

typedef bool gen_seen_f(void *arg, uint64_t nr);
	/* Called now and then with how many were seen; false ends the scan. */

struct gen_found {
	uint64_t	asked;		/* indices below this are asked for */
	uint8_t		*bits;		/* of those, a 1 for each found; or
					 * NULL */
	uint64_t	in_set;		/* found, asked for or not */
	struct hist	sizes;		/* of those asked for */
	gen_seen_f	*seen;		/* or NULL */
	void		*arg;
};

int gen_found_init(struct gen_found *f, uint64_t asked, bool with_bits,
    struct ds_err *err);
void gen_found_fini(struct gen_found *f);

int gen_found_add(struct gen_found *f, uint64_t index, uint64_t size);
	/* 0, 1 if the scan shall end, or -errno. */

static inline bool
gen_found_has(const uint8_t *bits, uint64_t index)
{
	return (bits[index / 8] >> index % 8 & 1) != 0;
}

int gen_scan(const struct gen_set *s, struct gen_found *f, struct ds_err *err);
	/* The images that are files of their own.  1 if seen() ended it. */

#endif
