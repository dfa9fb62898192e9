/* SPDX-License-Identifier: Apache-2.0
 *
 * harden.c: what the hub gives up, and what it makes sure of.
 * Runs in the hub only.
 */

#include <config.h>

#include "hub/harden.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

int
harden_end(struct ds_err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return err_errno(err, "hub: cannot give up new privileges");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_errno(err, "hub: cannot forbid being traced");
	return 0;
}
