/* SPDX-License-Identifier: Apache-2.0
 *
 * harden.h: what the hub gives up, and what it makes sure of.
 * Runs in the hub only, and changes its process for good.
 */

#ifndef HUB_HARDEN_H
#define HUB_HARDEN_H

#include "base/err.h"

int harden_begin(struct ds_err *err);
	/* First of all: files for us alone, no core, as much of everything as
	 * is allowed, no signal for what a client or terminal does.  -EPERM:
	 * what is allowed is too little. */

int harden_end(struct ds_err *err);
	/* When everything is set up, in the loop's thread: it is run soon when
	 * it wakes; no new privileges, and not to be traced (after that the
	 * maps of a user namespace can not be written). */

#endif
