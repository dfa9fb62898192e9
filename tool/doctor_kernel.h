/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_kernel.h: the checks of kernel features that have a file of their
 * own, and what tests want to reach.  Runs in the command only.
 */

#ifndef TOOL_DOCTOR_KERNEL_H
#define TOOL_DOCTOR_KERNEL_H

#include "tool/doctor.h"

void doctor_namespaces(struct doctor_report *r);
	/* User namespaces, and a file system of memory in one. */

void doctor_eviction(struct doctor_report *r);
	/* Emptying the page cache of a file without being root. */

/* Settings that forbid user namespaces; -1 where the file is not there. */
struct userns_settings {
	int clone;		/* kernel.unprivileged_userns_clone (Debian) */
	int apparmor;		/* kernel.apparmor_restrict_unprivileged_userns */
	int most;		/* user.max_user_namespaces */
};

const struct doctor_verdict *doctor_userns_verdict(int e,
    const struct userns_settings *s);
	/* What it means that unshare(CLONE_NEWUSER) gave this errno. */

const struct doctor_verdict *doctor_tmpfs_verdict(int e,
    const struct userns_settings *s);
	/* The same for a tmpfs made in the new namespace. */

#endif
