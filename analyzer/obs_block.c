/* SPDX-License-Identifier: Apache-2.0
 *
 * obs_block.c: the observer of the device that the data lie on.
 * Runs in the command only.
 *
 * Whoever reads from it is counted, not only the job.  Its figures begin with its
 * name.
 */

#include <config.h>

#include "analyzer/observer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/text.h"

#define SECTOR	512		/* of the file, whatever the device's is */

enum { READS, BYTES, READ_TIME, BUSY, QUEUED, ROTATES };

static const struct metric metrics[] = {
	[READS] = { .name = "reads", .unit = "1" },
	[BYTES] = { .name = "read", .unit = "bytes" },
	[READ_TIME] = { .name = "read_time", .unit = "ns" },
	[BUSY] = { .name = "busy", .unit = "ns" },
	[QUEUED] = { .name = "queue_time", .unit = "ns" },
	[ROTATES] = { .name = "rotational", .unit = "1",
	    .kind = METRIC_LEVEL },
	{ .name = NULL },
};

/* Words of /sys/dev/block/MAJ:MIN/stat. */
enum { STAT_READS = 0, STAT_SECTORS = 2, STAT_READ_MS = 3, STAT_BUSY_MS = 9,
    STAT_QUEUED_MS = 10 };

static ssize_t
read_file(const struct observe *o, const char *name, char *text, size_t size,
    struct ds_err *err)
{
	char path[96];

	(void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u/%s",
	    major(o->data_dev), minor(o->data_dev), name);
	return observe_read(o, path, text, size, err);
}

static void
find_name(struct watch *w)
{
	char text[512], *at;

	if (read_file(w->o, "uevent", text, sizeof text, NULL) < 0)
		return;
	at = strstr(text, "DEVNAME=");
	if (at == NULL)
		return;
	at += strlen("DEVNAME=");
	at[strcspn(at, "\n")] = '\0';
	text_clean(w->label, sizeof w->label, at);
}

static int
open_block(struct watch *w, struct ds_err *err)
{
	const struct observe *o = w->o;
	char text[512];
	ssize_t n;

	if (o->data == NULL)
		return OBSERVER_LATER;
	/* Networks, memory and layers of file systems. */
	if (major(o->data_dev) == 0)
		return err_fail(err, -ENODEV, "%s is on no block device",
		    o->data);
	n = read_file(o, "stat", text, sizeof text, err);
	if (n < 0)
		return (int)n;
	find_name(w);
	return 0;
}

/* A partition has the queue of its disk. */
static double
find_rotates(const struct observe *o)
{
	char text[16];

	if (read_file(o, "queue/rotational", text, sizeof text, NULL) < 0 &&
	    read_file(o, "../queue/rotational", text, sizeof text, NULL) < 0)
		return NAN;
	return number_at(text);
}

static int
read_block(struct watch *w, struct subject *s, double *value,
    struct ds_err *err)
{
	char text[512];
	ssize_t n = read_file(w->o, "stat", text, sizeof text, err);

	(void)s;
	if (n < 0)
		return (int)n;
	value[READS] = number_nth(text, STAT_READS);
	value[BYTES] = SECTOR * number_nth(text, STAT_SECTORS);
	value[READ_TIME] = 1e6 * number_nth(text, STAT_READ_MS);
	value[BUSY] = 1e6 * number_nth(text, STAT_BUSY_MS);
	value[QUEUED] = 1e6 * number_nth(text, STAT_QUEUED_MS);
	value[ROTATES] = find_rotates(w->o);
	return isnan(value[READS]) || isnan(value[BYTES]) ? err_fail(err,
	    -EBADMSG, "/sys/dev/block/%u:%u/stat: no numbers",
	    major(w->o->data_dev), minor(w->o->data_dev)) : 0;
}

const struct observer obs_block = {
	.name = "block",
	.what = "the device of the data",
	.scope = SCOPE_JOB,
	.pause_ns = AT_CHANGES,
	.metrics = metrics,
	.open = open_block,
	.read = read_block,
};
