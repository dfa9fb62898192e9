/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_container.c: any bytes as the first of a file.
 *
 * What a file is may depend on how much of it is there, but what a mark told
 * of a part of it holds for more of it; and nothing past the head counts.
 */

#include <config.h>

#include <stdbool.h>

#include "preload/container.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "container";

static const char *
kind_of(const uint8_t *bytes, size_t len)
{
	unsigned char *copy = fuzz_copy(bytes, len);
	const char *kind = container_kind(copy, len);

	free(copy);
	return kind;
}

static void
check_name(const char *kind)
{
	static const char *const known[] = {
		"HDF5", "NetCDF", "LMDB", "SQLite", "Parquet", "Arrow", "tar",
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(kind, known[i]) == 0)
			return;
	must(false);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	size_t all = len < CONTAINER_HEAD ? len : CONTAINER_HEAD;
	const char *kind = kind_of(bytes, all);
	bool found = false;

	must(kind_of(bytes, len) == kind);
	if (kind != NULL)
		check_name(kind);
	for (size_t part = 0; part <= all; part++) {
		const char *then = kind_of(bytes, part);

		must(then != NULL || !found);
		found = then != NULL;
	}
	must(found == (kind != NULL));
	return 0;
}
