/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32c.c: the checksum of item bytes.  Runs in hub and clients.
 *
 * The instruction takes eight bytes each cycle, but three cycles to give its
 * result: three streams at once keep it busy.  Their checksums are then joined
 * as if the bytes had come one after another.
 */

#include <config.h>

#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define HARDWARE	__attribute__((target("sse4.2")))
#define add_byte(crc, byte)	_mm_crc32_u8((crc), (byte))
#define add_word(crc, word)	((uint32_t)_mm_crc32_u64((crc), (word)))
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define HARDWARE
#define add_byte(crc, byte)	__crc32cb((crc), (byte))
#define add_word(crc, word)	__crc32cd((crc), (word))
#endif

#define POLYNOMIAL	0x82f63b78u	/* bits reversed */

/*--- plain ---------------------------------------------------------------*/

/* table[k][b]: the checksum of the byte b with k zero bytes behind it. */
static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void
fill_table(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][b] = crc;
	}
	for (int k = 1; k < 8; k++) {
		for (uint32_t b = 0; b < 256; b++) {
			uint32_t crc = table[k - 1][b];

			table[k][b] = crc >> 8 ^ table[0][crc & 0xff];
		}
	}
}

/* The byte order is that of the file, whatever the machine's. */
static uint32_t
low_word(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	    (uint32_t)p[3] << 24;
}

uint32_t
crc32c_plain(uint32_t crc, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	(void)pthread_once(&table_once, fill_table);
	crc = ~crc;
	for (; len >= 8; p += 8, len -= 8) {
		uint32_t a = crc ^ low_word(p), b = low_word(p + 4);

		crc = table[7][a & 0xff] ^ table[6][a >> 8 & 0xff] ^
		    table[5][a >> 16 & 0xff] ^ table[4][a >> 24] ^
		    table[3][b & 0xff] ^ table[2][b >> 8 & 0xff] ^
		    table[1][b >> 16 & 0xff] ^ table[0][b >> 24];
	}
	for (; len > 0; p++, len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return ~crc;
}

/*--- by instruction ------------------------------------------------------*/

#ifdef HARDWARE

#define STREAM	4096u		/* bytes of each of the three */

/* What STREAM zero bytes make of each bit of a checksum:
 * x^(8 * STREAM + 31 - bit) modulo the polynomial. */
static const uint32_t shifts[32] = {
	0xc2a5b65e, 0x80a71a4d, 0x04a2426b, 0x094484d6, 0x128909ac,
	0x25121358, 0x4a2426b0, 0x94484d60, 0x2d7cec31, 0x5af9d862,
	0xb5f3b0c4, 0x6e0b1779, 0xdc162ef2, 0xbdc02b15, 0x7e6c20db,
	0xfcd841b6, 0xfc5cf59d, 0xfd559dcb, 0xff474d67, 0xfb62ec3f,
	0xf329ae8f, 0xe3bf2bef, 0xc292212f, 0x80c834af, 0x047c1faf,
	0x08f83f5e, 0x11f07ebc, 0x23e0fd78, 0x47c1faf0, 0x8f83f5e0,
	0x1aeb9d31, 0x35d73a62,
};

static uint32_t
shift_stream(uint32_t crc)
{
	uint32_t sum = 0;

	for (unsigned bit = 0; bit < 32; bit++)
		sum ^= shifts[bit] & -(crc >> bit & 1);
	return sum;
}

static uint64_t
load_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

HARDWARE static uint32_t
add_three(uint32_t crc, const uint8_t *p)
{
	uint32_t second = 0, third = 0;

	for (size_t i = 0; i < STREAM; i += 8) {
		crc = add_word(crc, load_word(p + i));
		second = add_word(second, load_word(p + STREAM + i));
		third = add_word(third, load_word(p + 2 * STREAM + i));
	}
	return shift_stream(shift_stream(crc) ^ second) ^ third;
}

HARDWARE static uint32_t
sum_hardware(uint32_t crc, const uint8_t *p, size_t len)
{
	crc = ~crc;
	for (; len >= 3 * STREAM; p += 3 * STREAM, len -= 3 * STREAM)
		crc = add_three(crc, p);
	for (; len >= 8; p += 8, len -= 8)
		crc = add_word(crc, load_word(p));
	for (; len > 0; p++, len--)
		crc = add_byte(crc, *p);
	return ~crc;
}

uint32_t
crc32c(uint32_t crc, const void *bytes, size_t len)
{
#if defined(__x86_64__)
	if (!__builtin_cpu_supports("sse4.2"))
		return crc32c_plain(crc, bytes, len);
#endif
	return sum_hardware(crc, bytes, len);
}

#else

uint32_t
crc32c(uint32_t crc, const void *bytes, size_t len)
{
	return crc32c_plain(crc, bytes, len);
}

#endif
