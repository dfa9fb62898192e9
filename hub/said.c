/* SPDX-License-Identifier: Apache-2.0
 *
 * said.c: which jobs have had their one line.  Runs in clients, and in the
 * command that starts them.
 */

#include <config.h>

#include "hub/said.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "hub/rundir.h"

#define NAME_SIZE	(sizeof RUNDIR_SAID + 16)
#define OLD_S		(7 * 24 * 3600)

static void
set_name(char name[NAME_SIZE], uint64_t job)
{
	(void)snprintf(name, NAME_SIZE, RUNDIR_SAID "%016" PRIx64, job);
}

static int
open_folder(void)
{
	struct rundir r;
	int rc = rundir_find(&r, NULL);

	return rc < 0 ? rc : rundir_look(&r, NULL);
}

int
said_mark(uint64_t job)
{
	char name[NAME_SIZE];
	int dir = open_folder(), fd, rc = 1;

	if (dir < 0)
		return dir;
	set_name(name, job);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		rc = errno == EEXIST ? 0 : -errno;
	io_close(&fd);
	io_close(&dir);
	return rc;
}

/* Files' times are the wall clock's, the only use of it here.  If it jumped a
 * job may have its line twice. */
static void
remove_old(DIR *dir)
{
	time_t now = time(NULL);
	struct dirent *e;
	struct stat st;

	while ((e = readdir(dir)) != NULL) {
		if (strncmp(e->d_name, RUNDIR_SAID, sizeof RUNDIR_SAID - 1) != 0)
			continue;
		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0
		    && st.st_mtime < now - OLD_S)
			(void)unlinkat(dirfd(dir), e->d_name, 0);
	}
}

void
said_forget(uint64_t job)
{
	char name[NAME_SIZE];
	int fd = open_folder();
	DIR *dir;

	if (fd < 0)
		return;
	set_name(name, job);
	(void)unlinkat(fd, name, 0);
	dir = fdopendir(fd);
	if (dir == NULL) {
		io_close(&fd);
		return;
	}
	remove_old(dir);
	closedir(dir);
}
