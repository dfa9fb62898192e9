/* SPDX-License-Identifier: Apache-2.0
 *
 * folder_sweep.c: folders of sessions whose command was killed.
 * Runs in the command only.
 *
 *  1. Removed is what belongs to this user, has a schedule, and has not been
 *     touched for a while, if nobody holds the lock of its command.
 */

#include <config.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/folder.h"
#include "base/io.h"

#define AGE_S	30		/* one that is new may not be locked yet */

static bool
is_left(int dir)
{
	struct flock lock = { .l_type = F_WRLCK };
	struct stat st;
	bool is_free;
	int fd;

	if (fstat(dir, &st) != 0 || st.st_uid != geteuid() ||
	    time(NULL) - st.st_mtime < AGE_S)
		return false;
	fd = openat(dir, SCHEDULE_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_free = fcntl(fd, F_OFD_SETLK, &lock) == 0;
	io_close(&fd);
	return is_free;
}

static void
sweep_one(int place, const char *name)
{
	int dir = openat(place, name, O_DIRECTORY | O_RDONLY | O_NOFOLLOW |
	    O_CLOEXEC);

	if (dir >= 0 && is_left(dir)) {
		folder_empty(dir);
		(void)unlinkat(place, name, AT_REMOVEDIR);
	}
	io_close(&dir);
}

void
folder_sweep(const char *place)
{
	struct dirent *entry;
	DIR *dir = opendir(place);

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, FOLDER_NAME, strlen(FOLDER_NAME)) == 0)
			sweep_one(dirfd(dir), entry->d_name);
	}
	if (dir != NULL)
		(void)closedir(dir);
}
