/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_hash.c: tests of base/hash.c.
 */

#include <config.h>

#include "base/hash.h"

#include <string.h>

#include "tests/harness/unit.h"

/* From the tables of who thought of it. */
static const struct {
	const char	*text;
	uint64_t	short_one;
	struct hash128	long_one;
} known[] = {
	{ "", UINT64_C(0xcbf29ce484222325),
	  { UINT64_C(0x6c62272e07bb0142), UINT64_C(0x62b821756295c58d) } },
	{ "a", UINT64_C(0xaf63dc4c8601ec8c),
	  { UINT64_C(0xd228cb696f1a8caf), UINT64_C(0x78912b704e4a8964) } },
	{ "foobar", UINT64_C(0x85944171f73967e8),
	  { UINT64_C(0x343e1662793c64bf), UINT64_C(0x6f0d3597ba446f18) } },
};

static void
known_digests(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		const char *text = known[i].text;
		struct hash128 h = HASH128_BEGIN;

		assert_int_equal(hash_bytes(HASH_BEGIN, text, strlen(text)),
		    known[i].short_one);
		hash128_bytes(&h, text, strlen(text));
		assert_int_equal(h.high, known[i].long_one.high);
		assert_int_equal(h.low, known[i].long_one.low);
	}
}

/* A text has an end, and a number is the same on every machine. */
static void
texts_and_numbers(void **state)
{
	uint64_t n = UINT64_C(0x0123456789abcdef);
	struct hash128 h = HASH128_BEGIN;

	(void)state;
	assert_int_equal(hash_text(HASH_BEGIN, "foobar"),
	    UINT64_C(0x34531ca7168b8f38));
	assert_int_equal(hash_number(HASH_BEGIN, n),
	    UINT64_C(0x37eb3f3347761c55));
	assert_int_not_equal(hash_text(hash_text(HASH_BEGIN, "a"), "bc"),
	    hash_text(hash_text(HASH_BEGIN, "ab"), "c"));
	hash128_number(&h, n);
	assert_int_equal(h.high, UINT64_C(0x0619098f38659878));
	assert_int_equal(h.low, UINT64_C(0xf047fc4523abfdfd));
	h = (struct hash128)HASH128_BEGIN;
	hash128_text(&h, "foobar");
	assert_int_equal(h.high, UINT64_C(0xe01fcf9a454ff78d));
	assert_int_equal(h.low, UINT64_C(0xa540f1b23234b288));
}

UNIT_MAIN(UNIT(known_digests), UNIT(texts_and_numbers))
