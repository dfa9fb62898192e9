/* SPDX-License-Identifier: Apache-2.0
 *
 * harden.c: what the hub gives up, and what it makes sure of.
 * Runs in the hub only.
 */

#include <config.h>

#include "hub/harden.h"

#include <errno.h>
#include <linux/sched/types.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS	100000u		/* the least there is */

/* Limits are those of whoever needed a hub first, and meant for him.  They are
 * raised as far as they can be; with less than this a hub would fail, or die,
 * in the middle of somebody else's job. */
static const struct limit {
	int		resource;
	rlim_t		least;
	const char	*option;	/* of ulimit */
} limits[] = {
	{ RLIMIT_CPU, RLIM_INFINITY, "t" },
	{ RLIMIT_FSIZE, (rlim_t)64 << 20, "f" },
	{ RLIMIT_NOFILE, 32, "n" },
	{ RLIMIT_AS, (rlim_t)256 << 20, "v" },
	{ RLIMIT_DATA, (rlim_t)64 << 20, "d" },
};

static int
raise_limit(const struct limit *limit, struct ds_err *err)
{
	struct rlimit l;

	if (getrlimit((__rlimit_resource_t)limit->resource, &l) != 0)
		return 0;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit((__rlimit_resource_t)limit->resource, &l);
	if (l.rlim_max >= limit->least)	/* infinity is the largest */
		return 0;
	return err_fail(err, -EPERM, "the limits here are too tight for a hub "
	    "(ulimit -%s): start it where they are not, with: destall serve",
	    limit->option);
}

static int
raise_limits(struct ds_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof limits / sizeof limits[0]; i++)
		rc = raise_limit(&limits[i], err);
	return rc;
}

int
harden_begin(struct ds_err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct rlimit none = { 0, 0 };

	umask(077);
	if (sigaction(SIGPIPE, &ignore, NULL) != 0 ||
	    sigaction(SIGHUP, &ignore, NULL) != 0 ||
	    sigaction(SIGXFSZ, &ignore, NULL) != 0)
		return err_errno(err, "hub: cannot ignore signals");
	if (setrlimit(RLIMIT_CORE, &none) != 0)
		return err_errno(err, "hub: cannot forbid a core dump");
	return raise_limits(err);
}

/* Turns are short, and others wait for them: a thread that asks for short
 * slices is run when it wakes, and not when somebody's slice of milliseconds
 * is over.  It gets no more time for that.  Kernels before 6.12 take no
 * notice. */
static void
ask_for_short_slices(void)
{
	struct sched_attr a = { .size = sizeof a };

	if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0)
		return;
	a.sched_runtime = SLICE_NS;
	(void)syscall(SYS_sched_setattr, 0, &a, 0);
}

int
harden_end(struct ds_err *err)
{
	ask_for_short_slices();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return err_errno(err, "hub: cannot give up new privileges");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_errno(err, "hub: cannot forbid being traced");
	return 0;
}
