/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h: the steps of a job in a block, one rank's, and what of them counts
 * (measure.h).  Runs in the command only; no I/O.
 */

#ifndef ANALYZER_STEPS_H
#define ANALYZER_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/facts.h"

struct gap {
	double	s;
	double	cpu_s;			/* of a processor meanwhile; 0: not told */
	double	samples;		/* of the batch before it */
	bool	has_other;		/* another loader was iterated */
};

struct steps {
	const struct fact **list;
	size_t		nr;
	struct gap	*gaps;		/* behind each */
	uint64_t	begin_ns, end_ns;	/* of the block */
	uint64_t	begin_cpu_ns;		/* used until then; 0: not told */
	bool		has_device;	/* that works on between steps */
};

bool steps_find_borders(struct steps *s, const struct facts *f,
    uint32_t process, uint64_t block);
	/* When it began and ended, as that process tells; false: it has not. */
void steps_find(struct steps *s, const struct facts *f, uint32_t process,
    uint64_t block);
	/* Behind that. */
void steps_fini(struct steps *s);

double steps_median_gap(const struct steps *s);

/*--- what counts ---------------------------------------------------------*/

struct cut {			/* gaps that are no steps */
	double		other_s, outlier_s;	/* beyond usual ones */
	uint64_t	nr_other, nr_outlier;
	double		first_s;		/* before blocks */
	uint64_t	nr_first;
};

struct part {			/* of one rank, or of all */
	double	s, samples, cpu_s;
	double	waited_s;		/* for batches, beyond handing them over */
	double	workers;
	uint64_t begin_ns;		/* of what counts; of ranks, the last */
	bool	is_disturbed;
};

void steps_add_replayed(struct part *p, struct cut *cut, const struct steps *s);
void steps_add_made_here(struct part *p, struct cut *cut,
    const struct steps *s);
	/* In the main process. */
void steps_add_made(struct part *p, struct cut *cut, const struct steps *s,
    uint64_t workers, uint64_t ahead);
	/* ahead: batches that workers have in work at a time.  A block that is
	 * shorter counts to its end. */

#endif
