/* SPDX-License-Identifier: Apache-2.0
 *
 * loads.c: a job that does not give up at once.  Run by tests.
 *
 *     loads FOLDER [NAME=VALUE...]
 *
 * Prints "EPOCH POSITION ITEM STATE CRC" for each sample that it was given, at
 * the end "bad EPOCH POSITION ITEM" for each that was left out.  What fails for
 * want of memory is tried again, a few times in a row; then it says why, and
 * ends with 1.  So it ends when anything else fails.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "destall.h"

#define TRIES	10

static struct ds_err err;

/* Is it worth another try?  A thread without memory is -EAGAIN. */
static int
may_try(int rc, int *tries)
{
	return (rc == -ENOMEM || rc == -EAGAIN) && ++*tries < TRIES;
}

static int
open_data(struct ds_data **out, const char *folder)
{
	int rc, tries = 0;

	do
		rc = ds_data_open(out, NULL, folder, NULL, &err);
	while (may_try(rc, &tries));
	return rc;
}

static int
open_loader(struct ds_loader **out, struct ds_data *data, char **options)
{
	int rc, tries = 0;

	do
		rc = ds_loader_open(out, data, &err);
	while (may_try(rc, &tries));
	for (; rc == 0 && *options != NULL; options++) {
		char *value = strchr(*options, '=');

		if (value == NULL)
			return -EINVAL;
		*value++ = '\0';
		rc = ds_loader_set(*out, *options, value, &err);
	}
	return rc;
}

static void
print_batch(const struct ds_batch *b)
{
	for (uint32_t i = 0; i < b->count; i++)
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %u %08x\n",
		    b->epoch, b->positions[i], b->items[i], b->states[i],
		    crc32c(0, (const char *)b->samples + i * b->sample_bytes,
		    b->sample_bytes));
}

static int
load(struct ds_loader *l)
{
	struct ds_batch *b = NULL;
	int rc, tries = 0;

	for (;;) {
		rc = ds_loader_next(l, &b, &err);
		if (rc < 0 && !may_try(rc, &tries))
			return rc == -ENOENT ? 0 : rc;
		if (rc >= 0)
			tries = 0;
		if (rc != 1)
			continue;
		print_batch(b);
		ds_loader_release(l, &b);
	}
}

static void
print_bad(const struct ds_loader *l)
{
	struct ds_bad bad;

	for (uint64_t i = 0; ds_loader_bad(l, i, &bad) == 0; i++)
		printf("bad %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", bad.epoch,
		    bad.position, bad.item);
}

int
main(int argc, char **argv)
{
	static char lines[1 << 16];
	struct ds_data *data = NULL;
	struct ds_loader *loader = NULL;
	int rc;

	if (argc < 2)
		return 99;
	(void)setvbuf(stdout, lines, _IOFBF, sizeof lines);
	rc = open_data(&data, argv[1]);
	if (rc == 0)
		rc = open_loader(&loader, data, argv + 2);
	if (rc == 0)
		rc = load(loader);
	if (loader != NULL)
		print_bad(loader);
	ds_loader_close(&loader);
	ds_data_close(&data);
	if (rc < 0)
		(void)fprintf(stderr, "loads: %s\n", err.text);
	return rc < 0;
}
