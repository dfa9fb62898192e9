/* SPDX-License-Identifier: Apache-2.0
 *
 * fields_ask.c: every way to ask what a descriptor is, against what the kernel
 * says of the file.  Run by tests.
 */

#include <config.h>

#include "tests/harness/fields.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*--- beneath the C library -----------------------------------------------*/

/* The C library's own: syscall() itself may be somebody else's. */
static long (*raw)(long number, ...);

static void
find_raw(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	if (libc != NULL)
		*(void **)&raw = dlsym(libc, "syscall");
	if (raw == NULL)
		FAIL("no system calls");
}

int
raw_open(const char *path, int flags)
{
	if (raw == NULL)
		find_raw();
	return (int)raw(SYS_openat, AT_FDCWD, path, flags, 0);
}

static void
raw_stat(int dir, const char *path, int flags, struct stat *st)
{
	if (raw == NULL)
		find_raw();
	memset(st, 0, sizeof *st);
	if (raw(SYS_newfstatat, dir, path, st, flags) != 0)
		FAIL("no stat of %d, %s", dir, path);
}

static bool
is_substitute(int fd)
{
	struct stat a, b;

	raw_stat(fd, "", AT_EMPTY_PATH, &a);
	raw_stat(AT_FDCWD, fields_file, 0, &b);
	return a.st_dev != b.st_dev || a.st_ino != b.st_ino;
}

static void
expect_kind(int fd, const char *what)
{
	bool plain = getenv("FIELDS_PLAIN") != NULL;

	if (is_substitute(fd) == plain)
		FAIL("%s: descriptor %d is %s substitute", what, fd,
		    plain ? "a" : "no");
}

/*--- every way to ask ----------------------------------------------------*/

static void
same_stat(const char *what, const char *call, const struct stat *st)
{
	struct stat want;

	raw_stat(AT_FDCWD, fields_file, 0, &want);
	if (memcmp(st, &want, sizeof want) != 0)
		FAIL("%s: %s: inode %ju not %ju, mode %o not %o, links %ju "
		    "not %ju, size %jd not %jd, blocks %jd not %jd", what,
		    call, (uintmax_t)st->st_ino, (uintmax_t)want.st_ino,
		    st->st_mode, want.st_mode, (uintmax_t)st->st_nlink,
		    (uintmax_t)want.st_nlink, (intmax_t)st->st_size,
		    (intmax_t)want.st_size, (intmax_t)st->st_blocks,
		    (intmax_t)want.st_blocks);
	fields_looks++;
}

#define ASK(what, st, call) do { \
	memset(&(st), 0, sizeof (st)); \
	if ((call) != 0) \
		FAIL("%s: " #call " failed", what); \
	same_stat(what, #call, &(st)); \
} while (0)

static void
ask_stat(const char *what, int fd)
{
	char proc[64], dev[64];
	struct stat64 st64;
	struct stat st;

	snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
	snprintf(dev, sizeof dev, "/dev/fd/%d", fd);
	ASK(what, st, fstat(fd, &st));
	ASK(what, st, fstatat(fd, "", &st, AT_EMPTY_PATH));
	ASK(what, st, stat(proc, &st));
	ASK(what, st, stat(dev, &st));
	ASK(what, st, fstatat(AT_FDCWD, proc, &st, 0));
	ASK(what, st, (int)syscall(SYS_fstat, fd, &st));
	ASK(what, st, (int)syscall(SYS_newfstatat, fd, "", &st,
	    AT_EMPTY_PATH));
	memset(&st64, 0, sizeof st64);
	if (fstat64(fd, &st64) != 0)
		FAIL("%s: fstat64 failed", what);
	memcpy(&st, &st64, sizeof st);
	same_stat(what, "fstat64", &st);
	memset(&st64, 0, sizeof st64);
	if (fstatat64(fd, "", &st64, AT_EMPTY_PATH) != 0)
		FAIL("%s: fstatat64 failed", what);
	memcpy(&st, &st64, sizeof st);
	same_stat(what, "fstatat64", &st);
}

/* What programs call that were built before glibc 2.33. */
static void
ask_old_stat(const char *what, int fd)
{
	static const char *const names[] = { "__fxstat", "__fxstat64" };
	int (*fxstat)(int, int, struct stat *);
	int (*fxstatat)(int, int, const char *, struct stat *, int);
	int version =
#ifdef __x86_64__
	    1;
#else
	    0;
#endif
	struct stat st;

	for (unsigned i = 0; i < 2; i++) {
		*(void **)&fxstat = dlsym(RTLD_DEFAULT, names[i]);
		if (fxstat != NULL)
			ASK(what, st, fxstat(version, fd, &st));
	}
	*(void **)&fxstatat = dlsym(RTLD_DEFAULT, "__fxstatat");
	if (fxstatat != NULL)
		ASK(what, st, fxstatat(version, fd, "", &st, AT_EMPTY_PATH));
}

static void
ask_statx_of(const char *what, int fd, unsigned mask, int flags)
{
	struct statx got, want;
	char proc[64];

	snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
	memset(&want, 0, sizeof want);
	if (raw(SYS_statx, AT_FDCWD, fields_file, flags, mask, &want) != 0)
		FAIL("no statx");
	memset(&got, 0, sizeof got);
	if (statx(fd, "", flags | AT_EMPTY_PATH, mask, &got) != 0 ||
	    memcmp(&got, &want, sizeof got) != 0)
		FAIL("%s: statx with mask %x, flags %x: mask %x not %x, "
		    "inode %llu not %llu", what, mask, (unsigned)flags,
		    got.stx_mask, want.stx_mask,
		    (unsigned long long)got.stx_ino,
		    (unsigned long long)want.stx_ino);
	memset(&got, 0, sizeof got);
	if (syscall(SYS_statx, fd, "", flags | AT_EMPTY_PATH, mask, &got) != 0 ||
	    memcmp(&got, &want, sizeof got) != 0)
		FAIL("%s: the system call statx with mask %x", what, mask);
	memset(&got, 0, sizeof got);
	if (statx(AT_FDCWD, proc, flags, mask, &got) != 0 ||
	    memcmp(&got, &want, sizeof got) != 0)
		FAIL("%s: statx of %s with mask %x", what, proc, mask);
	fields_looks += 3;
}

static void
ask_statx(const char *what, int fd)
{
	static const int flags[] = { 0, AT_STATX_FORCE_SYNC,
	    AT_STATX_DONT_SYNC };

	for (unsigned i = 0; i < 3; i++) {
		ask_statx_of(what, fd, 0, flags[i]);
		ask_statx_of(what, fd, STATX_BASIC_STATS, flags[i]);
		ask_statx_of(what, fd, STATX_BASIC_STATS | STATX_BTIME,
		    flags[i]);
	}
	for (unsigned bit = 0; bit < 15; bit++)
		ask_statx_of(what, fd, 1u << bit, 0);
}

void
ask_all(const char *what, int fd)
{
	expect_kind(fd, what);
	ask_stat(what, fd);
	ask_old_stat(what, fd);
	ask_statx(what, fd);
}

void
same_bytes(const char *what, int fd)
{
	static char a[1 << 16], b[1 << 16];
	int plain = raw_open(fields_file, O_RDONLY | O_CLOEXEC);
	off_t at = 0;
	ssize_t n;

	if (plain < 0)
		FAIL("cannot open it");
	do {
		n = pread(plain, a, sizeof a, at);
		if (pread(fd, b, sizeof b, at) != n ||
		    (n > 0 && memcmp(a, b, (size_t)n) != 0))
			FAIL("%s: other bytes at %jd", what, (intmax_t)at);
		at += n;
	} while (n > 0);
	close(plain);
	if (lseek(fd, 0, SEEK_CUR) != 0 || lseek(fd, 0, SEEK_END) != at ||
	    lseek(fd, 0, SEEK_SET) != 0)
		FAIL("%s: its offset or its end", what);
}
