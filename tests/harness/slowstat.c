/* SPDX-License-Identifier: Apache-2.0
 *
 * slowstat.c: prints what a slow storage has counted, one "name value" a line.
 * Run by tests and benchmarks.
 *
 *     slowstat FILE     the DS_SLOW_STATE of tests/shim/slow.c
 */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/shim/slow_state.h"

static int
print_state(FILE *f)
{
	struct slow_state s;

	memset(&s, 0, sizeof s);
	if (fread(&s, sizeof s, 1, f) != 1)
		return -1;
#define PRINT(name) printf("%s %" PRIu64 "\n", #name, atomic_load(&s.name));
	SLOW_COUNTERS(PRINT)
#undef PRINT
	return 0;
}

int
main(int argc, char **argv)
{
	FILE *f;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: slowstat FILE\n");
		return 2;
	}
	f = fopen(argv[1], "re");
	if (f == NULL) {
		perror(argv[1]);
		return 1;
	}
	rc = print_state(f);
	fclose(f);
	if (rc < 0)
		fprintf(stderr, "slowstat: %s is no state of a slow storage\n",
		    argv[1]);
	return rc < 0;
}
