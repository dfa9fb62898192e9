/* SPDX-License-Identifier: Apache-2.0
 *
 * outfile.h: a small file that appears complete or not at all.
 * Runs in the command only.
 */

#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/err.h"

int outfile_write(const char *path, const char *text, struct ds_err *err);
	/* In place of an old one, whose mode it keeps; a new one has the mode
	 * that the umask leaves.  Where a folder allows no new file, the old
	 * one is written in place.  What is no file (/dev/null, a FIFO) and
	 * what is open already (/dev/stdout, /dev/fd/3) is written to. */

int outfile_check(const char *path, struct ds_err *err);
	/* Could it be written, as far as one can tell without?  To be asked
	 * before a long work, not after it. */

#endif
