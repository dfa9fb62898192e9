/* SPDX-License-Identifier: Apache-2.0
 *
 * summary.h: what is told of a job beside its figures: its loaders, the time that
 * was left out, and what could not be shown.  Runs in the command only; no I/O.
 */

#ifndef ANALYZER_SUMMARY_H
#define ANALYZER_SUMMARY_H

#include "analyzer/facts.h"
#include "analyzer/measure.h"
#include "reports/result.h"

void summary_loaders(struct result *r, const struct facts *f);
void summary_cuts(struct result *r, const struct measured_list *l);
void summary_stolen(struct result *r, const struct measured_list *l);
	/* What the host took meanwhile, if it is worth a word. */
void summary_residency(struct result *r, const struct measured_list *l);
	/* Files that were not where they should have been. */
void summary_missing(struct result *r, bool knows_files);
	/* Speeds that are not known, and why.  knows_files: else that was
	 * confessed, and what needs them is no surprise. */
void summary_ranks(struct result *r, const struct facts *f);
	/* Those that did not say hello. */

#endif
