/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_sched.c: the observer of the scheduler: how long threads waited for a
 * processor, and how often they got one.  Runs in the command only.
 *
 * A worker that waits long for a processor has too few of them, however fast it
 * is.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>
#include <math.h>

enum { RAN, WAITED, SWITCHES };

static const struct metric metrics[] = {
	[RAN] = { .name = "ran", .unit = "ns" },
	[WAITED] = { .name = "waited_for_cpu", .unit = "ns" },
	[SWITCHES] = { .name = "context_switches", .unit = "1" },
	{ .name = NULL },
};

static int
read_sched(struct watch *w, struct subject *s, double *value,
    struct ds_err *err)
{
	char text[128];
	ssize_t n = subject_read(s, "schedstat", text, sizeof text, err);

	(void)w;
	if (n < 0)
		return (int)n;
	for (unsigned i = RAN; i <= SWITCHES; i++) {
		value[i] = number_nth(text, i);
		if (isnan(value[i]))
			return err_fail(err, -EBADMSG,
			    "/proc/%d/task/%d/schedstat: not three numbers",
			    s->pid, s->tid);
	}
	return 0;
}

const struct observer obs_sched = {
	.name = "sched",
	.what = "waits for a processor",
	.scope = SCOPE_THREAD,
	.metrics = metrics,
	.read = read_sched,
};
