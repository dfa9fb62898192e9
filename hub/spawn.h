/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.h: starts a program that is nobody's child.  Runs in clients, which
 * may be any job: threads, handlers and children of its own.
 *
 *  1. The job sees no SIGCHLD, its wait() no child, its atfork handlers no fork.
 *  2. The new process has a session of its own, the null device on 0, 1 and 2,
 *     descriptor 3 as given and no other, / as its folder, default signals,
 *     none blocked, and all processors that the machine allows.
 */

#ifndef HUB_SPAWN_H
#define HUB_SPAWN_H

#include "base/err.h"

int spawn_detached(const char *path, char *const argv[], char *const envp[],
    int fd3, struct ds_err *err);
	/* 0 once the program runs; -errno if it could not be executed. */

#endif
