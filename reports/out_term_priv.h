/* SPDX-License-Identifier: Apache-2.0
 *
 * out_term_priv.h: what out_term.c and out_term_lists.c share.
 * Runs in the command only.
 */

#ifndef REPORTS_OUT_TERM_PRIV_H
#define REPORTS_OUT_TERM_PRIV_H

#include "reports/out_term.h"

char *out_term_clean(const char *text);
	/* Fit for a terminal; the caller frees it. */

void out_term_lists(const struct result *r, const struct term *t);
	/* All but the verdict, the shares, the speeds. */

void out_term_fixes(const struct result *r, const struct term *t, size_t most);
	/* The first of what would help, under a heading. */

#endif
