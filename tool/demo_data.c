/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_data.c: the files that the demo reads.  Runs in the command only.
 */

#include <config.h>

#include "tool/demo_data.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/io.h"
#include "tool/gen_rng.h"
#include "tool/gen_run.h"

uint64_t
demo_digest(uint32_t item, uint32_t crc)
{
	return gen_rng_mix((uint64_t)item << 32 | crc);
}

/*--- made ----------------------------------------------------------------*/

static void
say_stopping(unsigned in_work)
{
	(void)in_work;		/* milliseconds */
}

int
demo_data_make(const char *path, uint64_t seed, uint64_t count,
    struct stop *stop, struct ds_err *err)
{
	const struct gen_plan plan = {
		.seed = seed, .classes = 10, .quality = 94,
		.size = { .width = 500, .height = 375 },
	};
	struct gen_request ask = {
		.plan = &plan, .path = path, .count = count,
		.stopping = say_stopping,
	};
	struct gen_outcome r;
	int rc = gen_run(&ask, &r, err);

	if (rc < 0)
		return rc;
	if (r.signal != 0) {
		stop->signal = r.signal;
		return err_fail(err, -EINTR, "demo: stopped");
	}
	return 0;
}

/*--- what is there -------------------------------------------------------*/

static int
read_item(struct demo_data *d, struct demo_law *law, uint32_t i,
    struct ds_err *err)
{
	struct ds_item item;
	int rc = ds_get(d->data, i, &item, err);

	if (rc < 0)
		return rc;
	law->size[i] = item.len;
	d->bytes += item.len;
	d->digest += demo_digest(i, crc32c(0, item.bytes, item.len));
	ds_put(d->data, &item);
	return 0;
}

int
demo_data_open(struct demo_data *d, const char *path, struct demo_law *law,
    struct stop *stop, struct ds_err *err)
{
	int rc;

	*d = (struct demo_data){ .dir = -1 };
	rc = ds_data_open(&d->data, NULL, path, NULL, err);
	if (rc < 0)
		return rc;
	if (ds_data_count(d->data) != law->items)
		return err_fail(err, -EBADMSG, "demo: %" PRIu64 " items are "
		    "listed where %" PRIu32 " were made",
		    ds_data_count(d->data), law->items);
	d->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir < 0)
		return err_errno(err, "demo: cannot open %s", path);
	for (uint32_t i = 0; rc == 0 && i < law->items; i++) {
		if (stop_look(stop) != 0)
			return err_fail(err, -EINTR, "demo: stopped");
		rc = read_item(d, law, i, err);
	}
	return rc;
}

void
demo_data_close(struct demo_data *d)
{
	if (d->data == NULL)
		return;
	ds_data_close(&d->data);
	io_close(&d->dir);
}

/*--- orders --------------------------------------------------------------*/

int
demo_data_order(const struct demo_data *d, const struct demo_law *law,
    unsigned epoch, const char *path, struct ds_err *err)
{
	FILE *out = fopen(path, "we");
	struct ds_info info;
	int rc = 0;

	if (out == NULL)
		return err_errno(err, "demo: cannot make %s", path);
	for (uint32_t at = 0; rc == 0 && at < law->items; at++) {
		rc = ds_data_info(d->data, law->order[epoch][at], &info);
		if (rc == 0)
			(void)fprintf(out, "%s\n", info.name);
	}
	if (ferror(out) != 0 && rc == 0)
		rc = -EIO;
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	errno = -rc;
	return rc < 0 ? err_errno(err, "demo: cannot write %s", path) : 0;
}

/*--- the page cache ------------------------------------------------------*/

enum step { BEGIN_WRITING, FORGET };

/* Pages that the disk does not have yet cannot be dropped.  A file system that
 * knows neither call keeps them; the demo measures what that means. */
static void
do_step(int fd, enum step step)
{
	if (step == BEGIN_WRITING) {
		(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
		return;
	}
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE |
	    SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static int
do_all(const struct demo_data *d, enum step step, struct ds_err *err)
{
	struct ds_info info;
	int fd, rc;

	for (uint64_t i = 0; i < ds_data_count(d->data); i++) {
		rc = ds_data_info(d->data, i, &info);
		if (rc < 0)
			return err_fail(err, rc, "demo: an item has no name");
		fd = openat(d->dir, info.name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return err_errno(err, "demo: cannot open %s",
			    info.name);
		do_step(fd, step);
		io_close(&fd);
	}
	return 0;
}

int
demo_data_evict(const struct demo_data *d, struct ds_err *err)
{
	int rc = do_all(d, BEGIN_WRITING, err);

	return rc < 0 ? rc : do_all(d, FORGET, err);
}
