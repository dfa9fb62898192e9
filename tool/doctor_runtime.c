/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_runtime.c: can the hub have its socket, and where?
 * Runs in the command only; makes nothing.
 */

#include <config.h>

#include "tool/doctor.h"

#include <errno.h>

#include "hub/rundir.h"

void
doctor_runtime(struct doctor_report *r)
{
	static const struct doctor_verdict too_long = {
		DOCTOR_MISSING,
		"the hub cannot have its socket, so there is no cache and no "
		"sharing",
		"set DESTALL_HUB to a shorter path", true,
	}, unnamed = {
		DOCTOR_MISSING,
		"it names no socket that all jobs would find, so there is no "
		"cache and no sharing",
		"set DESTALL_HUB to the path of a socket that begins with /",
		true,
	}, not_ours = {
		DOCTOR_MISSING,
		"the hub refuses a directory that others can reach, so there "
		"is no cache and no sharing",
		"chmod it to 0700 if it is yours, or set DESTALL_HUB to a "
		"socket in a directory that is", true,
	}, unusable = {
		DOCTOR_MISSING,
		"the hub cannot have its socket, so there is no cache and no "
		"sharing",
		"set XDG_RUNTIME_DIR to a directory of yours with mode 0700, or "
		"DESTALL_HUB to a socket in one", true,
	};
	static const char name[] = "runtime directory";
	struct rundir d;
	struct ds_err err;
	int rc;

	rc = rundir_find(&d, &err);
	if (rc < 0) {
		doctor_add(r, name, rc == -EINVAL ? &unnamed : &too_long,
		    "%s", err.text);
		return;
	}
	rc = rundir_try(&d, &err);
	if (rc < 0)
		doctor_add(r, name, rc == -EPERM ? &not_ours : &unusable,
		    "%s: %s", d.dir, rc == -EPERM ?
		    "not ours alone" : doctor_errno(-rc));
	else
		doctor_add(r, name, &doctor_fine, "%s, by %s", d.dir,
		    d.from != NULL ? d.from : "default: no XDG_RUNTIME_DIR");
}
