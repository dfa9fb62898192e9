/* SPDX-License-Identifier: Apache-2.0
 *
 * conducted.h: the folder of a session, as `destall profile` would have it, for
 * unit tests.
 */

#ifndef HARNESS_CONDUCTED_H
#define HARNESS_CONDUCTED_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/schedule.h"
#include "tests/harness/folder.h"

static char folder[FOLDER_PATH];
static struct schedule *schedule;	/* the command's */
static int command = -1;

static inline const char *
in_folder(const char *name)
{
	static char path[2 * FOLDER_PATH];

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

/* In memory of our own, which does not count as a leak. */
static inline void
conducted_set(const char *value)
{
	static char setting[sizeof SCHEDULE_ENV + FOLDER_PATH];

	(void)snprintf(setting, sizeof setting, "%s=%s", SCHEDULE_ENV, value);
	(void)putenv(setting);
}

static inline int
conducted_lock(short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(command, F_OFD_SETLK, &l);
}

/* Before the check for leaks. */
static inline int
conducted_make(const char *test)
{
	if (folder_make(folder, test) != 0)
		return -1;
	conducted_set(folder);
	return 0;
}

static inline int
conducted_start(void)
{
	command = open(in_folder(SCHEDULE_FILE), O_RDWR | O_CREAT | O_CLOEXEC,
	    0600);
	if (command < 0 || ftruncate(command, sizeof *schedule) != 0 ||
	    conducted_lock(F_WRLCK) != 0)
		return -1;
	schedule = mmap(NULL, sizeof *schedule, PROT_READ | PROT_WRITE,
	    MAP_SHARED, command, 0);
	if (schedule == MAP_FAILED)
		return -1;
	schedule->magic = SCHEDULE_MAGIC;
	schedule->layout = SCHEDULE_LAYOUT;
	return 0;
}

static inline void
conducted_stop(void)
{
	munmap(schedule, sizeof *schedule);
	close(command);
	conducted_set(folder);
}

static inline void
conducted_add(uint32_t i, uint32_t id, uint32_t kind, uint32_t batches)
{
	schedule->block[i].kind = kind;
	schedule->block[i].batches = batches;
	/* release: pairs with the acquire of readers */
	atomic_store_explicit(&schedule->block[i].id, id,
	    memory_order_release);
}

#endif
