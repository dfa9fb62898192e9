/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.h: --fail-if: a condition on a result, by which a script or a CI job fails.
 * Runs in the command only.
 *
 *     NAME < NUMBER        compute, prep_stall, fetch_stall, handover: in %
 *          <= > >=         speed: samples a second
 */

#ifndef REPORTS_GATE_H
#define REPORTS_GATE_H

#include <stdbool.h>

#include "base/err.h"
#include "reports/result.h"

enum gate_order { GATE_LESS, GATE_AT_MOST, GATE_MORE, GATE_AT_LEAST };

struct gate {
	bool		is_set;
	unsigned	name;		/* in gate.c's table */
	enum gate_order	order;
	double		limit;		/* a share of 0 to 1, or a speed */
	const char	*text;		/* as it was given */
};

int gate_parse(const char *text, void *gate, struct ds_err *err);
	/* An arg_parse_f: the text must stay.  -EINVAL, -ERANGE. */

int gate_ask(const struct gate *g, const struct result *r, struct ds_err *err);
	/* 1: it is true, and err has the sentence; 0: it is not; -ENODATA: what
	 * it asks for is not known. */

int gate_status(const struct gate *g, const struct result *r,
    struct ds_err *err);
	/* The same as an exit status; one that is not STATUS_OK has its
	 * sentence in err.  STATUS_OK if it is not set. */

#endif
