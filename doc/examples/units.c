/* SPDX-License-Identifier: Apache-2.0
 *
 * units.c: a job that makes its batches in a way of its own, and shares them by
 * destall's stage: of several such jobs each batch is made by one.
 *
 *     cc -o units units.c $(pkg-config --cflags --libs destall)
 *     ./units 200 & ./units 200 & wait
 *
 * One thread does everything here: it makes what there is to make while it waits
 * for the unit that it needs.  A real job would make units in other threads, or
 * processes, that open the same pass.
 */

#include <destall.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS	65536u		/* in a unit */
#define BYTES	(NUMBERS * sizeof(uint64_t))
#define STREAM	"example units, numbers that are slow to find, 1"

struct job {
	struct ds_hub	*hub;
	struct ds_stage	*stage;
	struct ds_pass	*pass;		/* NULL: alone */
	int		is_member;
	uint64_t	units;
	uint64_t	own[NUMBERS];	/* what it makes for itself */
	uint64_t	sum, nr_made, nr_taken;
	struct ds_err	err;
};

/* The same for everyone: all that it depends on is which unit it is. */
static void
make(uint64_t unit, void *bytes)
{
	uint64_t *n = (uint64_t *)bytes, x = unit + 1;

	for (unsigned i = 0; i < NUMBERS; i++) {
		for (int k = 0; k < 100; k++)
			x = x * UINT64_C(6364136223846793005) + 1;
		n[i] = x;
	}
}

static void
use(struct job *j, const void *bytes)
{
	const uint64_t *n = (const uint64_t *)bytes;

	for (unsigned i = 0; i < NUMBERS; i++)
		j->sum = j->sum * 31 + n[i];
}

static void
make_for_itself(struct job *j, uint64_t unit)
{
	make(unit, j->own);
	use(j, j->own);
	j->nr_made++;
}

/*--- sharing -------------------------------------------------------------*/

/* A unit for all, if there is one to make now.  1: there was. */
static int
make_for_all(struct job *j)
{
	struct ds_lease lease;

	if (ds_pass_lease(j->pass, 0, &lease, NULL) != 1)
		return 0;
	make(lease.unit, lease.bytes);
	(void)ds_pass_publish(j->pass, &lease, BYTES, lease.unit, 0, NULL);
	j->nr_made++;
	return 1;
}

/* Makes others while it waits. */
static int
take(struct job *j, uint64_t unit, struct ds_taken *taken)
{
	int rc;

	do {
		rc = ds_pass_take(j->pass, unit, 0, taken, &j->err);
		if (rc == DS_TAKE_WAIT && !make_for_all(j))
			rc = ds_pass_take(j->pass, unit, 10, taken, &j->err);
	} while (rc == DS_TAKE_WAIT);
	return rc;
}

/* Whatever the stage cannot do the job does itself, with the same outcome. */
static void
next(struct job *j, uint64_t unit)
{
	struct ds_taken taken;

	if (j->pass != NULL && !j->is_member)
		j->is_member = ds_pass_begin(j->pass, unit, j->units, NULL,
		    &j->err) == 1;
	if (!j->is_member) {
		make_for_itself(j, unit);
		return;
	}
	switch (take(j, unit, &taken)) {
	case DS_TAKEN:
		use(j, taken.bytes);
		j->nr_taken++;
		ds_stage_release(j->stage, &taken);
		ds_pass_delivered(j->pass, 1);
		break;
	case DS_TAKE_SELF:
		make_for_itself(j, unit);
		ds_pass_skip(j->pass, unit);
		break;
	default:		/* too slow for the others, or no hub any more */
		ds_pass_close(&j->pass);
		j->is_member = 0;
		make_for_itself(j, unit);
	}
}

static int
set_up(struct job *j, const char *units)
{
	char bytes[24];

	(void)snprintf(bytes, sizeof bytes, "%zu", BYTES);
	if (ds_connect(&j->hub, 0, &j->err) < 0 ||
	    ds_stage_open(&j->stage, j->hub, &j->err) < 0 ||
	    ds_stage_set(j->stage, "stream", STREAM, &j->err) < 0 ||
	    ds_stage_set(j->stage, "seed", "0", &j->err) < 0 ||
	    ds_stage_set(j->stage, "samples", units, &j->err) < 0 ||
	    ds_stage_set(j->stage, "order", "listed", &j->err) < 0 ||
	    ds_stage_set(j->stage, "bytes", bytes, &j->err) < 0 ||
	    ds_pass_open(&j->pass, j->stage, 0, 0, NULL, &j->err) < 0)
		return -1;
	return 0;
}

int
main(int argc, char **argv)
{
	static struct job j;

	if (argc != 2) {
		fprintf(stderr, "usage: units NUMBER\n");
		return 2;
	}
	j.units = strtoull(argv[1], NULL, 10);
	if (set_up(&j, argv[1]) < 0)
		fprintf(stderr, "units: alone: %s\n", j.err.text);
	for (uint64_t unit = 0; unit < j.units; unit++)
		next(&j, unit);
	printf("sum %016" PRIx64 ": %" PRIu64 " units made here, %" PRIu64
	    " taken\n", j.sum, j.nr_made, j.nr_taken);
	ds_pass_close(&j.pass);
	ds_stage_close(&j.stage);
	ds_disconnect(&j.hub);
	return 0;
}
