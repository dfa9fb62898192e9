/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_arrays.c: the demo's data set that costs reading and hardly any
 * preparing.  Runs in the command only.
 */

#include <config.h>

#include "tool/demo_arrays.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "tool/gen_rng.h"

#define WORDS	(DEMO_ARRAYS_BYTES / sizeof(uint64_t))

struct arrays {
	int		dir;
	uint64_t	seed;
	uint64_t	*words;		/* of one of them */
};

static void
fill(const struct arrays *a, unsigned item)
{
	uint64_t from = gen_rng_mix(a->seed) + item * (uint64_t)WORDS;

	for (size_t i = 0; i < WORDS; i++)
		a->words[i] = gen_rng_mix(from + i);
}

static int
write_one(const struct arrays *a, unsigned item, struct ds_err *err)
{
	char name[32];
	int fd, rc;

	(void)snprintf(name, sizeof name, "%04u.raw", item);
	fd = openat(a->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    0600);
	if (fd < 0)
		return err_errno(err, "demo: cannot make %s", name);
	fill(a, item);
	rc = io_write_all(fd, a->words, DEMO_ARRAYS_BYTES);
	/* The disk has something to do while the next one is made. */
	if (rc == 0)
		(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	io_close(&fd);
	errno = -rc;
	return rc < 0 ? err_errno(err, "demo: cannot write %s", name) : 0;
}

static int
write_all(const struct arrays *a, struct stop *stop, struct ds_err *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < DEMO_ARRAYS_ITEMS; i++) {
		if (stop_look(stop) != 0)
			return err_fail(err, -EINTR, "demo: stopped");
		rc = write_one(a, i, err);
	}
	/* What a file system cannot do here, the profile will see. */
	if (rc == 0)
		(void)syncfs(a->dir);
	return rc;
}

int
demo_arrays_make(const char *dir, uint64_t seed, struct stop *stop,
    struct ds_err *err)
{
	struct arrays a = { .dir = -1, .seed = seed };
	int rc;

	if (mkdir(dir, 0700) != 0)
		return err_errno(err, "demo: cannot make %s", dir);
	a.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a.dir < 0)
		return err_errno(err, "demo: cannot open %s", dir);
	a.words = malloc(DEMO_ARRAYS_BYTES);
	rc = a.words == NULL ? err_fail(err, -ENOMEM, "demo: no memory") :
	    write_all(&a, stop, err);
	free(a.words);
	io_close(&a.dir);
	return rc;
}
