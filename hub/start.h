/* SPDX-License-Identifier: Apache-2.0
 *
 * start.h: finds the hub, or starts it.  Runs in clients.
 *
 *  1. Of any number that start at once, one starts a hub; the others wait for
 *     it until the deadline.
 *  2. One who is killed while starting stops nobody: its lock goes with it.
 */

#ifndef HUB_START_H
#define HUB_START_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define START_DEADLINE_NS	(UINT64_C(10) * 1000000000)
#define START_PATH		4096u	/* room for a program's path */

int start_connect(bool may_start, struct ds_err *err);
	/* A connected socket, close-on-exec.  -ENOENT: no hub, and none may be
	 * started. */

int start_with(char *const options[], struct ds_err *err);
	/* Starts a hub with these options of `destall serve`, NULL at the end.
	 * 0; -EALREADY if there is one; else what it said.  Returns when it
	 * can be connected to. */

int start_program(char *path, unsigned size, struct ds_err *err);
	/* The program destall that belongs to this library or is this one. */

#endif
