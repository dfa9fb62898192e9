/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_runtime.h: where the socket of the hub will be.
 * Runs in the command only.
 */

#ifndef TOOL_DOCTOR_RUNTIME_H
#define TOOL_DOCTOR_RUNTIME_H

#include "tool/doctor.h"

#define RUNTIME_PATH	4096u

/* Where the hub's socket will be, and what is known of its directory. */
struct runtime_place {
	char	dir[RUNTIME_PATH];
	char	socket[RUNTIME_PATH];
	const char *from;	/* the variable that decided, or NULL */
};

int doctor_runtime_place(struct runtime_place *p, const char *hub,
    const char *xdg, const char *tmpdir, unsigned uid);
	/* From the values of DESTALL_HUB, XDG_RUNTIME_DIR and TMPDIR, each of
	 * which may be NULL.  -ENAMETOOLONG if a socket cannot have the path;
	 * it is filled nonetheless, cut if need be. */

#endif
