/* SPDX-License-Identifier: Apache-2.0
 *
 * sniff.h: what a file is that no format reads, for people.
 * Runs in clients, in any of their threads.
 */

#ifndef PREP_SNIFF_H
#define PREP_SNIFF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

int sniff_refuse(const uint8_t *bytes, size_t len, struct ds_err *err);
	/* Returns -ENOTSUP, or -EBADMSG if it does not look like a picture,
	 * with half a sentence that names it by its first bytes. */

#endif
