/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_proc.c: the observer of processes: processor time, page faults, memory.
 * Runs in the command only.
 *
 * /proc/PID/stat counts all threads, those that are gone, too.  Its times are in
 * ticks of a hundredth of a second, mostly.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { USER, SYSTEM, MINOR, MAJOR, THREADS, RSS };

static const struct metric metrics[] = {
	[USER] = { .name = "cpu_user", .unit = "ns" },
	[SYSTEM] = { .name = "cpu_system", .unit = "ns" },
	[MINOR] = { .name = "minor_faults", .unit = "1" },
	[MAJOR] = { .name = "major_faults", .unit = "1" },
	[THREADS] = { .name = "threads", .unit = "1", .kind = METRIC_LEVEL },
	[RSS] = { .name = "rss", .unit = "bytes", .kind = METRIC_LEVEL },
	{ .name = NULL },
};

/* What follows the name in brackets, which may hold anything: words of proc(5)
 * from the third on. */
enum { STATE, STAT_MINOR = 7, STAT_MAJOR = 9, STAT_USER = 11, STAT_SYSTEM = 12,
    STAT_THREADS = 17 };

static int
read_stat(struct subject *s, double *value, struct ds_err *err)
{
	double tick = (double)NS_PER_S / (double)sysconf(_SC_CLK_TCK);
	char text[1024], *at;
	ssize_t n = subject_read(s, "stat", text, sizeof text, err);

	if (n < 0)
		return (int)n;
	at = strrchr(text, ')');
	if (at == NULL || at[1] != ' ')
		return err_fail(err, -EBADMSG, "/proc/%d/stat: no such file of "
		    "the kernel's", s->pid);
	at += 2;
	value[USER] = tick * number_nth(at, STAT_USER);
	value[SYSTEM] = tick * number_nth(at, STAT_SYSTEM);
	value[MINOR] = number_nth(at, STAT_MINOR);
	value[MAJOR] = number_nth(at, STAT_MAJOR);
	value[THREADS] = number_nth(at, STAT_THREADS);
	if (isnan(value[USER]) || isnan(value[SYSTEM]))
		return err_fail(err, -EBADMSG, "/proc/%d/stat: no numbers where "
		    "the times should be", s->pid);
	/* The first thread may be gone before the others. */
	return strchr("ZX", at[STATE]) != NULL && !(value[THREADS] > 1) ?
	    OBSERVER_GONE : 0;
}

static int
read_proc(struct watch *w, struct subject *s, double *value,
    struct ds_err *err)
{
	char text[128];
	ssize_t n;
	int rc;

	(void)w;
	rc = read_stat(s, value, err);
	if (rc != 0)
		return rc;
	n = subject_read(s, "statm", text, sizeof text, err);
	if (n < 0)
		return (int)n;
	value[RSS] = (double)sysconf(_SC_PAGESIZE) * number_nth(text, 1);
	return isnan(value[RSS]) ? err_fail(err, -EBADMSG,
	    "/proc/%d/statm: no number of pages", s->pid) : 0;
}

const struct observer obs_proc = {
	.name = "proc",
	.what = "processor time and memory of processes",
	.scope = SCOPE_PROCESS,
	.metrics = metrics,
	.read = read_proc,
};
