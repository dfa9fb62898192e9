/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor.h: what `destall doctor` finds, and the groups of checks.
 * Runs in the command only.
 *
 * A check tries a thing, rather than looking whether it should work, and adds
 * a row.  What a failure means and how to mend it is decided by functions
 * that are given an errno and touch nothing, so that tests can walk through
 * machines that we do not have.
 *
 *  1. A row that is not ok says what that means and what to do about it.
 *  2. A check leaves nothing behind: no file, no process, no cgroup.
 *  3. What could hang or crash (a driver, a Python, a disk) runs in a child
 *     with a deadline: doctor_child.h.
 */

#ifndef TOOL_DOCTOR_H
#define TOOL_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

#define DOCTOR_ROWS	64u
#define DOCTOR_DETAIL	384u

enum doctor_state { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

struct doctor_verdict {
	enum doctor_state state;
	const char	*meaning;	/* what is different without it */
	const char	*remedy;	/* what to do; both "" when ok */
	bool		vital;		/* cache and sharing need it */
};

extern const struct doctor_verdict doctor_fine;

struct doctor_row {
	const char		*group;
	const char		*name;
	char			detail[DOCTOR_DETAIL];	/* any bytes */
	struct doctor_verdict	verdict;
};

struct doctor_report {
	const char		*group;		/* of the rows to come */
	unsigned		nr;
	struct doctor_row	rows[DOCTOR_ROWS];
};

void doctor_add(struct doctor_report *r, const char *name,
    const struct doctor_verdict *verdict, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
	/* A row; fmt and what follows are its detail. */

unsigned doctor_count(const struct doctor_report *r, enum doctor_state state);

const struct doctor_verdict *doctor_blame(int e,
    const struct doctor_verdict *otherwise);
	/* The verdict for a trial that failed with this errno: a lack of
	 * descriptors, processes or memory says nothing about the thing that
	 * was tried. */

bool doctor_version_below(const char *version, unsigned major, unsigned minor);
	/* "1.13.1+cpu" is not below 1, 13.  What has no number is below. */

const char *doctor_errno(int e);
	/* "Permission denied (EACCES)": what people read and what they search
	 * for.  Static memory, until the next call. */

/* The groups, in the order they are shown. */
void doctor_kernel(struct doctor_report *r);
void doctor_limits(struct doctor_report *r);
void doctor_runtime(struct doctor_report *r);
void doctor_hub(struct doctor_report *r);
void doctor_counters(struct doctor_report *r);
void doctor_cuda(struct doctor_report *r);
void doctor_python(struct doctor_report *r);
void doctor_bench(struct doctor_report *r);
void doctor_build(struct doctor_report *r);

int doctor_print(const struct doctor_report *r, struct ds_err *err);
	/* For people, on standard output. */

int doctor_write_json(const struct doctor_report *r, const char *path,
    struct ds_err *err);
	/* For programs, on standard output or into a file. */

#endif
