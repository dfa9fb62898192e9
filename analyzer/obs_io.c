/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_io.c: the observer of reading: what threads asked files for, and what of it
 * came from storage.  Runs in the command only.
 *
 * By thread, because the file of a process has in it what its dead children read:
 * workers would be counted twice, once as the main process.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>
#include <math.h>

enum { ASKED, CALLS, STORAGE };

static const struct metric metrics[] = {
	[ASKED] = { .name = "read", .unit = "bytes" },
	[CALLS] = { .name = "read_calls", .unit = "1" },
	[STORAGE] = { .name = "read_storage", .unit = "bytes" },
	{ .name = NULL },
};

static int
read_io(struct watch *w, struct subject *s, double *value, struct ds_err *err)
{
	char text[512];
	ssize_t n = subject_read(s, "io", text, sizeof text, err);

	(void)w;
	if (n < 0)
		return (int)n;
	value[ASKED] = number_of(text, "rchar: ");
	value[CALLS] = number_of(text, "syscr: ");
	value[STORAGE] = number_of(text, "read_bytes: ");
	return isnan(value[ASKED]) || isnan(value[STORAGE]) ?
	    err_fail(err, -EBADMSG, "/proc/%d/task/%d/io: no numbers of bytes",
	    s->pid, s->tid) : 0;
}

const struct observer obs_io = {
	.name = "io",
	.what = "reading of processes",
	.scope = SCOPE_THREAD,
	.metrics = metrics,
	.read = read_io,
};
