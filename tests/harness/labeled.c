/* SPDX-License-Identifier: Apache-2.0
 *
 * labeled.c: the samples of a data set with their labels, and a ledger of one
 * epoch of them.  Run by tests.
 *
 *     labeled HOW URI [LEDGER [EPOCH POSITION]]
 *
 * Prints "NAME LABEL CLASS" for each sample.  A sample is the eight bytes of
 * its item's number; they are delivered in order, in batches of four, sample 5
 * skipped, as epoch EPOCH from POSITION on if it resumes, else as epoch 0.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "loader/labels.h"
#include "loader/ledger.h"

#define BATCH	4u
#define SKIPPED	5u

static int
say_why(const struct ds_err *err)
{
	(void)fprintf(stderr, "labeled: %s\n", err->text);
	return 1;
}

static void
print_samples(const struct labels *l, const struct ds_data *data,
    const uint64_t *items, uint64_t nr)
{
	struct ds_info info;

	for (uint64_t i = 0; i < nr; i++) {
		int64_t label = labels_of(l, i);
		const char *class = labels_class(l, label);

		if (ds_data_info(data, items[i], &info) == 0)
			printf("%s %" PRId64 " %s\n", info.name, label,
			    class != NULL ? class : "-");
	}
}

/* The samples from..to - 1. */
static int
deliver(struct ledger *l, const struct ds_data *data, const uint64_t *items,
    uint64_t epoch, uint64_t from, uint64_t to, struct ds_err *err)
{
	uint64_t given[BATCH], positions[BATCH];
	struct ledger_skip skip = { .position = SKIPPED };
	struct ds_batch b = {
		.samples = given, .sample_bytes = sizeof given[0],
		.epoch = epoch, .number = from / BATCH, .items = given,
		.positions = positions,
	};

	for (uint64_t i = from; i < to; i++) {
		if (i == SKIPPED) {
			b.skipped = 1;
			skip.item = items[i];
			skip.before = b.count;
			continue;
		}
		given[b.count] = items[i];
		positions[b.count++] = i;
	}
	return ledger_batch(l, &b, data, &skip, b.skipped, err);
}

static int
write_ledger(const char *path, char **resume, const struct ds_data *data,
    const uint64_t *items, uint64_t nr, struct ds_err *err)
{
	struct plan plan = { .turns = nr, .batch = BATCH };
	uint64_t epoch = 0, at = 0;
	struct ledger_end end;
	struct ledger *l = NULL;
	int rc, closed;

	if (resume[0] != NULL && resume[1] != NULL) {
		epoch = strtoull(resume[0], NULL, 10);
		at = strtoull(resume[1], NULL, 10);
	}
	rc = ledger_open(&l, path, resume[0] != NULL, 1, err);
	if (rc == 0 && resume[0] != NULL)
		rc = ledger_find(l, &plan, &(struct plan_place){
		    .epoch = epoch, .turn = at }, &end, err);
	if (rc == 0 && resume[0] != NULL)
		rc = ledger_cut(l, &end, err);
	for (; rc == 0 && at < nr; at += BATCH)
		rc = deliver(l, data, items, epoch, at,
		    at + BATCH < nr ? at + BATCH : nr, err);
	closed = ledger_close(&l, rc == 0 ? err : NULL);
	return rc < 0 ? rc : closed;
}

int
main(int argc, char **argv)
{
	struct labels *l = NULL;
	struct ds_data *data = NULL;
	const uint64_t *items = NULL;
	struct ds_err err = { .text = "" };
	uint64_t nr = 0;
	int rc;

	if (argc < 3)
		return 99;
	rc = ds_data_open(&data, NULL, argv[2], NULL, &err);
	if (rc == 0)
		rc = labels_open(&l, argv[1], data, &items, &nr, &err);
	if (rc == 0)
		print_samples(l, data, items, nr);
	if (rc == 0 && argc > 3)
		rc = write_ledger(argv[3], argv + 4, data, items, nr, &err);
	labels_close(&l);
	ds_data_close(&data);
	return rc < 0 ? say_why(&err) : 0;
}
