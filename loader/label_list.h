/* SPDX-License-Identifier: Apache-2.0
 *
 * label_list.h: a list of samples and their labels, as a file that a person or
 * a script wrote.  Runs in clients.
 *
 * A line is a path, blanks or tabs, and a label:
 *
 *     # what is what
 *     cats/a tabby.jpg 0
 *     dogs/rex.jpg     1
 *
 * The path is relative to the data set and may hold blanks; a "./" before it is
 * dropped.  The label is a whole number from 0 to LABEL_MAX behind the last
 * blank or tab.  Empty lines and those that begin with "#" count for nothing
 * (a path that begins so is written "./#...").  The last line may lack its
 * newline.
 *
 * Nothing is guessed: NUL bytes, line ends of DOS, a byte order mark and
 * whatever else is not so is refused with the number of its line.
 */

#ifndef LOADER_LABEL_LIST_H
#define LOADER_LABEL_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define LABEL_MAX		INT32_MAX
#define LABEL_LINE_MAX		8192u
#define LABEL_LIST_BYTES_MAX	(UINT64_C(16) << 30)

/* What to do with each line; its -errno and sentence are passed on, with the
 * number of the line. */
typedef int label_list_f(void *arg, const char *path, int32_t label,
    struct ds_err *err);

int label_list_read(const char *file, label_list_f *each, void *arg,
    struct ds_err *err);
	/* -EBADMSG: a line that is none; -EINVAL: not a regular file; -EFBIG:
	 * larger than LABEL_LIST_BYTES_MAX; else why it could not be read. */

int label_list_read_fd(int fd, const char *name, label_list_f *each, void *arg,
    struct ds_err *err);
	/* The same of one that is open; name is for messages. */

#endif
