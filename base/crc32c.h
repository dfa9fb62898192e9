/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32c.h: the checksum of item bytes (Castagnoli, as in RFC 3720).
 * Runs in hub and clients.
 */

#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *bytes, size_t len);
	/* Begins with 0; what comes back goes on with the bytes that follow.
	 * By the processor's instruction where it has one. */

uint32_t crc32c_plain(uint32_t crc, const void *bytes, size_t len);
	/* The same in C alone. */

#endif
