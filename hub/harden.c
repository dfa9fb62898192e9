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

int
harden_begin(struct ds_err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct rlimit none = { 0, 0 }, nofile;

	umask(077);
	if (sigaction(SIGPIPE, &ignore, NULL) != 0 ||
	    sigaction(SIGHUP, &ignore, NULL) != 0)
		return err_errno(err, "hub: cannot ignore signals");
	if (setrlimit(RLIMIT_CORE, &none) != 0)
		return err_errno(err, "hub: cannot forbid a core dump");
	if (getrlimit(RLIMIT_NOFILE, &nofile) == 0) {
		nofile.rlim_cur = nofile.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &nofile);
	}
	return 0;
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
