/* SPDX-License-Identifier: Apache-2.0
 *
 * meminfo.h: figures of /proc/meminfo.  Runs in every process.
 */

#ifndef BASE_MEMINFO_H
#define BASE_MEMINFO_H

#include <stdint.h>

int meminfo_get(const char *text, const char *key, uint64_t *bytes);
	/* The line of one key, such as "MemAvailable", in the text of the
	 * file.  -ENOENT, or -EBADMSG for what the kernel would not write. */

#endif
