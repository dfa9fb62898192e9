/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_eviction.c: can a file be put out of the page cache without root?
 * The profiler's cold phases rest on it: POSIX_FADV_DONTNEED, checked with
 * mincore(2).  Runs in the command only, the trying in a child, because the
 * disk may be slow or stuck.
 */

#include <config.h>

#include "tool/doctor_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/io.h"
#include "tool/doctor_child.h"

#define LIMIT_MS	3000u
#define FILE_SIZE	((size_t)256 << 10)
#define MAX_PAGES	(FILE_SIZE / 4096)

struct eviction_answer {
	int	 error;			/* errno, or 0 */
	unsigned before, after;		/* pages in memory */
	char	 where[256];
};

/* A file without a name in a directory whose file system is not memory;
 * -ENODEV if it is. */
static int
open_unnamed(const char *dir)
{
	char path[256];
	struct statfs fs;
	int fd;

	if (dir == NULL || dir[0] != '/')
		return -ENOENT;
	if (statfs(dir, &fs) != 0)
		return -errno;
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		return -ENODEV;
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd < 0 ? -errno : fd;
	if (snprintf(path, sizeof path, "%s/destall-doctor.XXXXXX", dir) >=
	    (int)sizeof path)
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static int
open_somewhere(struct eviction_answer *a)
{
	const char *const dirs[] = {
		getenv("TMPDIR"), "/var/tmp", "/tmp", getenv("HOME"),
	};
	int fd = -ENOENT, first = 0;

	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		fd = open_unnamed(dirs[i]);
		if (fd >= 0) {
			(void)snprintf(a->where, sizeof a->where, "%s", dirs[i]);
			return fd;
		}
		if (first == 0 && fd != -ENOENT)
			first = fd;
	}
	return first != 0 ? first : fd;
}

static int
count_resident(void *map, unsigned *pages)
{
	unsigned char in_core[MAX_PAGES];
	size_t nr = FILE_SIZE / (size_t)sysconf(_SC_PAGESIZE);

	if (mincore(map, FILE_SIZE, in_core) != 0)
		return -errno;
	*pages = 0;
	for (size_t i = 0; i < nr; i++)
		*pages += in_core[i] & 1;
	return 0;
}

static int
evict(int fd, struct eviction_answer *a)
{
	static const char bytes[FILE_SIZE];
	void *map;
	int rc;

	rc = io_write_all(fd, bytes, sizeof bytes);
	if (rc < 0)
		return rc;
	/* Only pages that are on the disk can be dropped. */
	if (fdatasync(fd) != 0)
		return -errno;
	map = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	rc = count_resident(map, &a->before);
	if (rc < 0)
		return rc;
	rc = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return rc < 0 ? rc : count_resident(map, &a->after);
}

static void
try_eviction(int out, void *arg)
{
	struct eviction_answer a;
	int fd;

	(void)arg;
	memset(&a, 0, sizeof a);
	fd = open_somewhere(&a);
	a.error = fd < 0 ? -fd : -evict(fd, &a);
	(void)io_write_all(out, &a, sizeof a);
}

void
doctor_eviction(struct doctor_report *r)
{
	static const struct doctor_verdict kept = {
		DOCTOR_LIMITED,
		"the profiler cannot make its cold phases, so fetch stall is "
		"estimated from what happens to be out of memory",
		"keep data sets on a local file system such as ext4 or xfs",
		false,
	}, untried = {
		DOCTOR_LIMITED,
		"it could not be tried whether cold phases of the profiler work",
		"set TMPDIR to a directory on the file system of the data", false,
	};
	static const char name[] = "page eviction";
	struct eviction_answer a;
	struct child c;
	char why[128];

	child_ask(&c, try_eviction, NULL, LIMIT_MS);
	if (!child_answered(&c, &a, sizeof a)) {
		child_explain(&c, why, sizeof why);
		doctor_add(r, name, child_blame(&c, &untried), "the trial %s",
		    why);
		return;
	}
	a.where[sizeof a.where - 1] = '\0';
	if (a.error == ENODEV)
		doctor_add(r, name, &untried,
		    "the temporary directories are all in memory");
	else if (a.error != 0)
		doctor_add(r, name, doctor_blame(a.error, &untried), "%s",
		    doctor_errno(a.error));
	else if (a.before == 0)
		doctor_add(r, name, &untried,
		    "a file just written in %s is not in memory", a.where);
	else if (a.after > 0)
		doctor_add(r, name, &kept, "%u of %u pages stayed in memory in %s",
		    a.after, a.before, a.where);
	else
		doctor_add(r, name, &doctor_fine,
		    "POSIX_FADV_DONTNEED puts a file in %s out of memory",
		    a.where);
}
