/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_emulate_touch.c: the emulated accelerator reads every byte, and writes
 * to every page.
 */

#include <config.h>

#include "loader/emulate_job.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness/unit.h"

#define PAGE	4096u
#define MOST	(3 * PAGE + 77)

static void
fill(unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (unsigned char)(i * 7 + i / 251);
}

/* Each byte counts, wherever the batch begins and ends. */
static void
every_byte_is_read(void **state)
{
	unsigned char *p = malloc(MOST);
	uint64_t sum;

	(void)state;
	assert_non_null(p);
	fill(p, MOST);
	for (size_t len = 0; len < 100; len++) {
		size_t at = len % 9;

		sum = emulate_touch(p + at, len, TOUCH_READ);
		for (size_t i = 0; i < len; i++) {
			p[at + i] ^= 1;
			assert_true(emulate_touch(p + at, len, TOUCH_READ) !=
			    sum);
			p[at + i] ^= 1;
		}
		assert_true(emulate_touch(p + at, len, TOUCH_READ) == sum);
	}
	free(p);
}

static size_t
count_changed(const unsigned char *a, const unsigned char *b, size_t len)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i++)
		nr += a[i] != b[i];
	return nr;
}

/* One byte of each page, the last one's too; the sum is that of afterwards. */
static void
every_page_is_written(void **state)
{
	static const size_t lens[] = { 0, 1, 7, 8, PAGE - 1, PAGE, PAGE + 1,
	    PAGE + 8, 3 * PAGE, MOST };
	unsigned char *p = malloc(MOST), *before = malloc(MOST);
	uint64_t sum;

	(void)state;
	assert_non_null(p);
	assert_non_null(before);
	for (size_t k = 0; k < sizeof lens / sizeof lens[0]; k++) {
		size_t len = lens[k];

		fill(p, MOST);
		memcpy(before, p, MOST);
		sum = emulate_touch(p, len, TOUCH_WRITE);
		assert_int_equal(count_changed(p, before, MOST),
		    (len + PAGE - 1) / PAGE);
		for (size_t i = 0; i < len; i += PAGE)
			assert_true(p[i] != before[i]);
		assert_true(sum == emulate_touch(p, len, TOUCH_READ));
	}
	free(p);
	free(before);
}

static void
nothing_is_touched(void **state)
{
	(void)state;
	assert_true(emulate_touch(NULL, MOST, TOUCH_NONE) == 0);
	assert_true(emulate_touch(NULL, 0, TOUCH_READ) == 0);
}

UNIT_MAIN(
	UNIT(every_byte_is_read),
	UNIT(every_page_is_written),
	UNIT(nothing_is_touched))
