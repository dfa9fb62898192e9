/* SPDX-License-Identifier: Apache-2.0
 *
 * wrapped_look.c: opens, reads and stats a file by every wrapped name.
 * Run by tests (wrapped.c).
 */

#include <config.h>

#include "tests/harness/wrapped.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNTOUCHED 0xa5

/* All that a call has filled in, by its 64-bit words; those that it left as
 * they were are not shown. */
static void
show_words(const void *bytes, size_t len)
{
	uint64_t word, untouched;

	memset(&untouched, UNTOUCHED, sizeof untouched);
	for (size_t i = 0; i + sizeof word <= len; i += sizeof word) {
		memcpy(&word, (const char *)bytes + i, sizeof word);
		if (word != untouched)
			printf(" %zu:%llx", i, (unsigned long long)word);
	}
	printf("\n");
}

static void
show_stat(const char *call, const char *what, int rc, const struct stat *st)
{
	show(call, what, rc);
	if (rc == 0)
		printf("  dev %lu ino %lu mode %o nlink %lu uid %u gid %u "
		    "rdev %lu size %ld blksize %ld blocks %ld "
		    "atime %ld.%09ld mtime %ld.%09ld ctime %ld.%09ld\n",
		    st->st_dev, st->st_ino, st->st_mode, st->st_nlink,
		    st->st_uid, st->st_gid, st->st_rdev, st->st_size,
		    st->st_blksize, st->st_blocks, st->st_atim.tv_sec,
		    st->st_atim.tv_nsec, st->st_mtim.tv_sec,
		    st->st_mtim.tv_nsec, st->st_ctim.tv_sec,
		    st->st_ctim.tv_nsec);
	printf(" ");
	show_words(st, sizeof *st);
}

#define SHOW_STAT(name, what, ...) \
	do { \
		struct stat st; \
		int rc; \
\
		memset(&st, UNTOUCHED, sizeof st); \
		rc = CALL(name)(__VA_ARGS__); \
		show_stat(#name, what, rc, &st); \
	} while (0)

static void
look_by_path(const char *path, const char *what)
{
	SHOW_STAT(stat, what, path, &st);
	SHOW_STAT(stat64, what, path, &st);
	SHOW_STAT(lstat, what, path, &st);
	SHOW_STAT(lstat64, what, path, &st);
	SHOW_STAT(__xstat, what, STAT_VERSION, path, &st);
	SHOW_STAT(__xstat64, what, STAT_VERSION, path, &st);
	SHOW_STAT(__lxstat, what, STAT_VERSION, path, &st);
	SHOW_STAT(__lxstat64, what, STAT_VERSION, path, &st);
	SHOW_STAT(__xstat, "version 99", 99, path, &st);
}

static void
look_at(int dir, const char *path, int flags, const char *what)
{
	SHOW_STAT(fstatat, what, dir, path, &st, flags);
	SHOW_STAT(fstatat64, what, dir, path, &st, flags);
	SHOW_STAT(__fxstatat, what, STAT_VERSION, dir, path, &st, flags);
	SHOW_STAT(__fxstatat64, what, STAT_VERSION, dir, path, &st, flags);
}

static void
look_statx(int dir, const char *path, int flags, unsigned mask,
    const char *what)
{
	struct statx stx;
	int rc;

	memset(&stx, UNTOUCHED, sizeof stx);
	rc = CALL(statx)(dir, path, flags, mask, &stx);
	show("statx", what, rc);
	if (rc == 0)
		printf("  mask %x mode %o ino %llu size %llu dev %u:%u\n",
		    stx.stx_mask, stx.stx_mode,
		    (unsigned long long)stx.stx_ino,
		    (unsigned long long)stx.stx_size, stx.stx_dev_major,
		    stx.stx_dev_minor);
	printf(" ");
	show_words(&stx, sizeof stx);
}

/* Without a name of their own; and one that nobody wraps. */
static void
look_by_number(int fd)
{
	struct stat st;
	struct statx stx;

	memset(&st, UNTOUCHED, sizeof st);
	show("syscall", "fstat", (int)CALL(syscall)(SYS_fstat, fd, (long)&st,
	    0, 0, 0, 0));
	show_words(&st, sizeof st);
	memset(&stx, UNTOUCHED, sizeof stx);
	show("syscall", "statx", (int)CALL(syscall)(SYS_statx, fd, (long)"",
	    AT_EMPTY_PATH, STATX_BASIC_STATS, (long)&stx, 0));
	show_words(&stx, sizeof stx);
	show("syscall", "lseek", (int)CALL(syscall)(SYS_lseek, fd, 3, SEEK_SET,
	    0, 0, 0));
	show("syscall", "bad", (int)CALL(syscall)(SYS_lseek, -1, 0, 0, 0, 0,
	    0));
	(void)lseek(fd, 0, SEEK_SET);
}

static void
look_by_statx(int dir, const char *path, int flags, const char *what)
{
	look_statx(dir, path, flags, STATX_BASIC_STATS, what);
	look_statx(dir, path, flags, STATX_ALL | STATX_MNT_ID, what);
	look_statx(dir, path, flags, STATX_SIZE, what);
	look_statx(dir, path, flags | AT_STATX_DONT_SYNC, 0, what);
}

/* But for what changes by itself: blocks and files that are free. */
static void
look_at_file_system(int fd)
{
	struct statfs sf = { 0 };
	struct statvfs sv = { 0 };
	int rc;

	rc = CALL(fstatfs)(fd, &sf);
	show("fstatfs", "fd", rc);
	printf("  %lx %lu\n", (unsigned long)sf.f_type,
	    (unsigned long)sf.f_blocks);
	rc = CALL(fstatfs64)(fd, &sf);
	show("fstatfs64", "fd", rc);
	printf("  %lx %lu\n", (unsigned long)sf.f_type,
	    (unsigned long)sf.f_blocks);
	rc = CALL(fstatvfs)(fd, &sv);
	show("fstatvfs", "fd", rc);
	printf("  %lu %lx %lu\n", sv.f_fsid, sv.f_flag, sv.f_blocks);
	rc = CALL(fstatvfs64)(fd, &sv);
	show("fstatvfs64", "fd", rc);
	printf("  %lu %lx %lu\n", sv.f_fsid, sv.f_flag, sv.f_blocks);
}

static void
look_at_attributes(int fd)
{
	char text[256] = "";
	long rc;

	rc = CALL(flistxattr)(fd, text, sizeof text);
	show("flistxattr", text, rc);
	rc = CALL(fgetxattr)(fd, "user.mark", text, sizeof text - 1);
	text[rc > 0 ? rc : 0] = '\0';
	show("fgetxattr", text, rc);
	rc = CALL(fgetxattr)(fd, "user.none", text, sizeof text - 1);
	show("fgetxattr", "user.none", rc);
}

static void
look_at_locks(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_len = 1 };

	show("flock", "shared", CALL(flock)(fd, LOCK_SH | LOCK_NB));
	show("flock", "none", CALL(flock)(fd, LOCK_UN));
	show("flock", "bad", CALL(flock)(-1, LOCK_UN));
	show("fcntl", "F_SETLK", CALL(fcntl)(fd, F_SETLK, &lock));
	show("fcntl64", "F_GETLK", CALL(fcntl64)(fd, F_GETLK, &lock));
	show("fcntl", "F_GETFL", CALL(fcntl)(fd, F_GETFL));
	show("fcntl64", "F_GETFD", CALL(fcntl64)(fd, F_GETFD));
	show("fcntl", "F_DUPFD", CALL(fcntl)(-1, F_DUPFD, 3));
}

/* To one that is on no file system of anybody's. */
static void
look_at_copying(int fd)
{
	int to = memfd_create("copy", MFD_CLOEXEC);
	off_t at = 0;

	show("copy_file_range", "memfd",
	    CALL(copy_file_range)(fd, &at, to, NULL, 10, 0));
	show("copy_file_range", "flags",
	    CALL(copy_file_range)(fd, &at, to, NULL, 10, 1));
	show("copy_file_range", "none",
	    CALL(copy_file_range)(fd, &at, -1, NULL, 10, 0));
	printf("  at %ld\n", (long)at);
	close(to);
}

static void
look_by_fd(int fd)
{
	char path[32];

	SHOW_STAT(fstat, "fd", fd, &st);
	SHOW_STAT(fstat64, "fd", fd, &st);
	SHOW_STAT(__fxstat, "fd", STAT_VERSION, fd, &st);
	SHOW_STAT(__fxstat64, "fd", STAT_VERSION, fd, &st);
	look_at(fd, "", AT_EMPTY_PATH, "fd");
	look_by_statx(fd, "", AT_EMPTY_PATH, "fd");
	look_by_number(fd);
	show("copy_file_range", "nowhere", (int)CALL(copy_file_range)(fd, NULL,
	    -1, NULL, 10, 0));
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	SHOW_STAT(stat, "/proc/self/fd", path, &st);
	SHOW_STAT(__xstat64, "/proc/self/fd", STAT_VERSION, path, &st);
	look_at(AT_FDCWD, path, 0, "/proc/self/fd");
	look_by_statx(AT_FDCWD, path, 0, "/proc/self/fd");
	look_at_file_system(fd);
	look_at_attributes(fd);
	look_at_copying(fd);
	look_at_locks(fd);
}

static void
show_sum(unsigned long long len, uint32_t sum)
{
	printf("  %llu bytes, sum %u\n", len, sum);
}

static uint32_t
add(uint32_t sum, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

/* The bytes by read() and by mmap(); the flags. */
static void
use_fd(int fd)
{
	static _Alignas(4096) unsigned char bytes[4096]; /* for O_DIRECT */
	unsigned long long len = 0;
	uint32_t sum = 0;
	ssize_t n;
	void *p;

	printf("  flags %x %x at %ld\n", (unsigned)fcntl(fd, F_GETFL),
	    (unsigned)fcntl(fd, F_GETFD), (long)lseek(fd, 0, SEEK_CUR));
	begin();
	while ((n = read(fd, bytes, sizeof bytes)) > 0) {
		sum = add(sum, bytes, (size_t)n);
		len += (unsigned long long)n;
	}
	show("read", "to the end", n);
	show_sum(len, sum);
	p = len == 0 ? MAP_FAILED :
	    mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED) {
		show_sum(len, add(0, p, len));
		munmap(p, len);
	}
}

static void
use_stream(const char *call, const char *mode, FILE *fp)
{
	unsigned char bytes[4096];
	unsigned long long len = 0;
	uint32_t sum = 0;
	size_t n;

	show(call, mode, fp == NULL ? -1 : fileno(fp));
	if (fp == NULL)
		return;
	printf("  flags %x %x\n", (unsigned)fcntl(fileno(fp), F_GETFL),
	    (unsigned)fcntl(fileno(fp), F_GETFD));
	SHOW_STAT(fstat, "stream", fileno(fp), &st);
	/* A stream with a character set is for wide characters. */
	while (strchr(mode, ',') == NULL &&
	    (n = fread(bytes, 1, sizeof bytes, fp)) > 0) {
		sum = add(sum, bytes, n);
		len += n;
	}
	show_sum(len, sum);
	fclose(fp);
}

static void
look_by_stream(const char *path)
{
	static const char *const modes[] = { "r", "rb", "re", "rm", "rbe",
		"r,ccs=UTF-8", "r+", "", "q" };
	FILE *fp;

	for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
		use_stream("fopen", modes[i], CALL(fopen)(path, modes[i]));
		use_stream("fopen64", modes[i], CALL(fopen64)(path, modes[i]));
		fp = fopen("/dev/null", "r");
		use_stream("freopen", modes[i],
		    CALL(freopen)(path, modes[i], fp));
		fp = fopen("/dev/null", "r");
		use_stream("freopen64", modes[i],
		    CALL(freopen64)(path, modes[i], fp));
	}
}

/* By its name in its folder. */
static void
look_by_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int dir, fd;

	if (slash == NULL)
		return;
	snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
	dir = open(folder, O_PATH | O_CLOEXEC);
	if (dir < 0)
		return;
	look_at(dir, slash + 1, 0, "name");
	look_at(dir, slash + 1, AT_SYMLINK_NOFOLLOW, "name");
	look_by_statx(dir, slash + 1, AT_SYMLINK_NOFOLLOW, "name");
	fd = CALL(openat)(dir, slash + 1, O_RDONLY | O_NONBLOCK);
	show("openat", "name", fd);
	if (fd >= 0) {
		use_fd(fd);
		SHOW_STAT(fstat, "fd", fd, &st);
		close(fd);
	}
	close(dir);
}

void
look(const char *path)
{
	static const int flags[] = { O_RDONLY, O_RDONLY | O_CLOEXEC,
		O_RDONLY | O_NOFOLLOW | O_NOATIME, O_RDWR, O_PATH,
		O_RDONLY | O_DIRECTORY, O_RDONLY | O_DIRECT };
	struct stat st;
	int fd;

	printf("%s\n", path);
	look_by_path(path, "path");
	look_by_name(path);
	for (unsigned i = 0; i < NR_OPENERS; i++) {
		for (unsigned j = 0; j < sizeof flags / sizeof flags[0]; j++) {
			/* A FIFO is not waited for. */
			fd = openers[i].open(path, flags[j] | O_NONBLOCK, 0);
			show(openers[i].name, "path", fd);
			if (fd < 0)
				continue;
			use_fd(fd);
			look_by_fd(fd);
			close(fd);
		}
	}
	if (stat(path, &st) != 0 || !S_ISFIFO(st.st_mode))
		look_by_stream(path);
}
