/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_labels.c: any bytes as a list of labels.
 *
 * What is given to the data set is a path and a label, and each line that is
 * refused has its number.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "loader/label_list.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "labels";

struct counts {
	uint64_t	lines;		/* of the file, a torn one too */
	uint64_t	samples;
	uint64_t	stop_at;	/* the sample that is refused */
};

static int
take(void *arg, const char *path, int32_t label, struct ds_err *err)
{
	struct counts *c = arg;

	must(path[0] != '\0' && strncmp(path, "./", 2) != 0);
	must(strlen(path) <= LABEL_LINE_MAX);
	must(strchr(path, '\n') == NULL);
	must(path[strlen(path) - 1] != ' ' && path[strlen(path) - 1] != '\t');
	must(label >= 0);
	if (++c->samples == c->stop_at)
		return err_fail(err, -EEXIST, "stopped");
	must(c->samples <= c->lines);
	return 0;
}

static void
check_refused(const struct counts *c, int rc, const struct ds_err *err)
{
	unsigned long long line = 0;

	fuzz_check_error(err, rc);
	must(rc == -EBADMSG || (rc == -EEXIST && c->samples == c->stop_at));
	must(sscanf(err->text, "list: line %llu: ", &line) == 1);
	must(line >= 1 && line <= c->lines);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;
	struct counts c = { .lines = 1 };
	struct ds_err err;

	must(fd >= 0 && io_write_all(fd, bytes, len) == 0);
	for (size_t i = 0; i < len; i++)
		c.lines += bytes[i] == '\n';
	for (c.stop_at = 0; c.stop_at < 3; c.stop_at++) {
		c.samples = 0;
		must(lseek(fd, 0, SEEK_SET) == 0);
		rc = label_list_read_fd(fd, "list", take, &c, &err);
		if (rc < 0)
			check_refused(&c, rc, &err);
	}
	close(fd);
	return 0;
}
