/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate_save.c: the file that a job's position is kept in.
 * Runs in the command only.
 *
 *  1. What is no position is never written over.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crash.h"
#include "base/io.h"
#include "base/outfile.h"
#include "loader/emulate_job.h"
#include "loader/position.h"

static bool
has_bytes(const char *path)
{
	struct stat st;

	/* What is no file (/dev/null, a FIFO) is not read, only written. */
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

int
emulate_save_check(const char *path, struct ds_err *err)
{
	char text[DS_POSITION_TEXT + 1];
	struct position pos;
	ssize_t len;
	int rc = outfile_check(path, err);

	if (rc < 0 || !has_bytes(path))
		return rc;
	len = io_read_text(AT_FDCWD, path, text, sizeof text);
	if (len < 0) {
		errno = (int)-len;
		return err_errno(err, "cannot read %s", path);
	}
	if (strlen(text) == (size_t)len &&
	    position_parse(&pos, text, NULL) == 0)
		return 0;
	return err_fail(err, -EEXIST, "--save %s: it has something else in it "
	    "than a position: name another file, or remove it", path);
}

int
emulate_save(const char *path, const char *position, struct ds_err *err)
{
	char line[DS_POSITION_TEXT + 1];
	size_t len = strlen(position);
	int rc;

	memcpy(line, position, len);
	memcpy(line + len, "\n", 2);
	rc = crash_point("emulate.save");
	if (rc < 0)
		return err_fail(err, rc, "cannot write %s: %s", path,
		    strerror(-rc));
	return outfile_write(path, line, err);
}
