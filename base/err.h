/* SPDX-License-Identifier: Apache-2.0
 *
 * err.h: how a failure travels up.  Runs in every process.
 *
 * A function that fails returns -errno and leaves one sentence in the caller's
 * struct ds_err: what failed, why, and where it helps what to do, separated by
 * colons.  Whoever talks to the user prints it, once.
 */

#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "destall.h"

int err_fail(struct ds_err *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
	/* Fills err (which may be NULL) and returns rc, which is negative:
	 *     return err_fail(err, -EBADMSG, "shard %s: no end", name);
	 */

int err_errno(struct ds_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
	/* The same for a failed system call: returns -errno and appends its
	 * text, ": No such file or directory". */

int err_hint(struct ds_err *err, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
	/* Appends ": what to do" to a sentence that is there; returns rc.
	 * A sentence too long for both gives way, not the advice. */

#endif
