/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_stolen.c: tests of analyzer/stolen.c.
 */

#include <config.h>

#include "analyzer/stolen.h"

#include <stdio.h>

#include "base/clock.h"
#include "tests/harness/folder.h"
#include "tests/harness/told.h"

static struct stolen stolen;
static char folder[FOLDER_PATH], path[FOLDER_PATH + 8];

static void
write_stat(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void
start(void)
{
	assert_int_equal(folder_make(folder, "unit_stolen"), 0);
	(void)snprintf(path, sizeof path, "%s/stat", folder);
	stolen = (struct stolen){ .path = path };
}

static void
end(void)
{
	stolen_fini(&stolen);
	assert_int_equal(folder_remove(folder), 0);
}

static void
look(uint64_t at_s, const char *text)
{
	write_stat(text);
	stolen_look(&stolen, at_s * NS_PER_S);
}

static double
share(double begin_s, double end_s)
{
	return stolen_share(&stolen, (uint64_t)(begin_s * 1e9),
	    (uint64_t)(end_s * 1e9));
}

static void
a_part_of_what_was_wanted(void **state)
{
	(void)state;
	start();
	assert_near(share(0, 9), 0);
	/* What is behind the eighth is in the first already. */
	look(1, "cpu  10 0 10 80 0 0 0 0 900 0\ncpu0 1 2 3\n");
	assert_near(share(0, 9), 0);
	look(2, "cpu  60 0 20 110 0 0 0 10 900 0\n");
	look(4, "cpu  130 0 20 170 0 0 0 80 900 0\n");
	/* An idle processor loses nothing. */
	assert_near(share(1, 2), 1 / 7.0);
	assert_near(share(2, 4), 0.5);
	assert_near(share(1, 4), 80 / 210.0);
	/* Within a look, and beyond all of them. */
	assert_near(share(2.5, 3), 0.5);
	assert_near(share(1.5, 3), (5 + 35) / (35 + 70.0));
	assert_near(share(0, 2), 1 / 7.0);
	assert_near(share(3, 99), 0.5);
	/* Two ticks may be chance. */
	look(5, "cpu  132 0 20 366 0 0 0 82 900 0\n");
	assert_near(share(4, 5), 0);
	assert_near(share(50, 99), 0);
	assert_near(share(3, 3), 0);
	end();
}

static void
looks_are_not_too_many(void **state)
{
	(void)state;
	start();
	look(1, "cpu  10 0 10 80 0 0 0 0 0 0\n");
	stolen_look(&stolen, NS_PER_S + NS_PER_MS);
	assert_int_equal(stolen.nr, 1);
	stolen_look(&stolen, 2 * NS_PER_S);
	assert_int_equal(stolen.nr, 2);
	end();
}

static void
what_cannot_be_read_is_not_known(void **state)
{
	static const char *const wrong[] = { "", "cpu\n", "cpu  1 2 3 4\n",
	    "cpu  1 2 3 4 5 6 7 x\n", "intr 1 2 3 4 5 6 7 8 9\n" };

	(void)state;
	start();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		look(i + 1, wrong[i]);
	(void)remove(path);
	stolen_look(&stolen, 9 * NS_PER_S);
	assert_int_equal(stolen.nr, 0);
	/* One that goes back takes nothing. */
	look(10, "cpu  10 0 10 80 0 0 0 50\n");
	look(11, "cpu  99 0 99 99 0 0 0 40\n");
	assert_near(share(10, 11), 0);
	end();
}

UNIT_MAIN(
	UNIT(a_part_of_what_was_wanted),
	UNIT(looks_are_not_too_many),
	UNIT(what_cannot_be_read_is_not_known))
