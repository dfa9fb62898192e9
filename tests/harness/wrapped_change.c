/* SPDX-License-Identifier: Apache-2.0
 *
 * wrapped_change.c: what a program says of a descriptor, and what became of
 * the file.  Run by tests (wrapped.c).
 */

#include <config.h>

#include "tests/harness/wrapped.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SOME_TIME	1000000000

/* The file itself, by its path and no function that is wrapped; ctime is left
 * out, because it is that of the test. */
static void
show_file(const char *path)
{
	char text[64] = "";
	struct stat st;

	if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0)
		give_up(path);
	if (getxattr(path, "user.mark", text, sizeof text - 1) < 0)
		strcpy(text, "-");
	printf("  mode %o uid %u gid %u atime %ld.%09ld mtime %ld.%09ld "
	    "mark %s\n", st.st_mode, st.st_uid, st.st_gid, st.st_atim.tv_sec,
	    st.st_atim.tv_nsec, st.st_mtim.tv_sec, st.st_mtim.tv_nsec, text);
}

#define SHOW_CHANGE(name, ...) \
	do { \
		show(#name, "fd", CALL(name)(__VA_ARGS__)); \
		show_file(path); \
	} while (0)

/* Times of its mtime are kept as long as possible: another is another file to
 * a cache. */
static void
change_fd(const char *path, int fd)
{
	const struct timespec times[2] = { { SOME_TIME, 5 },
		{ 0, UTIME_OMIT } };
	const struct timespec later[2] = { { SOME_TIME + 1, 6 },
		{ 0, UTIME_OMIT } };
	const struct timeval last[2] = { { SOME_TIME + 2, 7 },
		{ SOME_TIME + 3, 8 } };
	char text[256] = "";

	SHOW_CHANGE(fchmod, fd, 0640);
	SHOW_CHANGE(fchmodat, fd, "", 0600, AT_EMPTY_PATH);
	SHOW_CHANGE(fchmodat, AT_FDCWD, path, 0604, 0);
	SHOW_CHANGE(fchown, fd, getuid(), getgid());
	SHOW_CHANGE(fchown, fd, (uid_t)-1, (gid_t)-1);
	SHOW_CHANGE(fchownat, fd, "", getuid(), getgid(), AT_EMPTY_PATH);
	SHOW_CHANGE(fsetxattr, fd, "user.mark", "one", 3, XATTR_CREATE);
	SHOW_CHANGE(fsetxattr, fd, "user.mark", "two", 3, XATTR_CREATE);
	show("flistxattr", "fd", CALL(flistxattr)(fd, text, sizeof text));
	printf("  %s\n", text);
	show("fgetxattr", "fd",
	    CALL(fgetxattr)(fd, "user.mark", text, sizeof text - 1));
	printf("  %.3s\n", text);
	SHOW_CHANGE(fremovexattr, fd, "user.mark");
	SHOW_CHANGE(fremovexattr, fd, "user.mark");
	SHOW_CHANGE(futimens, fd, times);
	SHOW_CHANGE(utimensat, fd, "", later, AT_EMPTY_PATH);
	SHOW_CHANGE(utimensat, fd, NULL, times, 0);
	SHOW_CHANGE(futimes, fd, last);
}

void
change(const char *path)
{
	int fd = CALL(open)(path, O_RDONLY | O_NONBLOCK);

	printf("%s\n", path);
	show("open", "path", fd);
	if (fd < 0)
		return;
	change_fd(path, fd);
	close(fd);
}

/* Not by a descriptor, and not everywhere possible. */
void
mark(const char *path)
{
	begin();
	show("setxattr", "path", setxattr(path, "user.mark", "value", 5, 0));
}

/* In a process of its own: a program that forgot the mode is ended. */
static void
create_checked(const struct opener *o, const char *path)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		o->open(path, O_CREAT | O_WRONLY, 0);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		give_up("fork");
	printf("%s of a file without a mode: %d\n", o->name, status);
}

static void
show_mode(const char *path)
{
	struct stat st;

	if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0)
		give_up(path);
	printf("  mode %o\n", st.st_mode);
}

static void
create_by(const struct opener *o, const char *dir, const char *path)
{
	struct stat st;
	int fd;

	fd = o->open(path, O_CREAT | O_EXCL | O_WRONLY, 0640);
	show(o->name, "O_CREAT", fd);
	show_mode(path);
	close(fd);
	fd = o->open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
	show(o->name, "O_CREAT again", fd);
	unlink(path);
	fd = o->open(path, O_CREAT | O_RDONLY, 0204);
	show(o->name, "O_CREAT to read", fd);
	show_mode(path);
	close(fd);
	unlink(path);
	fd = o->open(dir, O_TMPFILE | O_RDWR, 0604);
	show(o->name, "O_TMPFILE", fd);
	if (fd >= 0 && CALL(fstat)(fd, &st) == 0)
		printf("  mode %o\n", st.st_mode);
	close(fd);
}

void
create(const char *dir)
{
	char path[PATH_MAX];
	FILE *fp;

	snprintf(path, sizeof path, "%s/new", dir);
	for (unsigned i = 0; i < NR_OPENERS; i++) {
		if (openers[i].is_checked)
			create_checked(&openers[i], path);
		else
			create_by(&openers[i], dir, path);
	}
	fp = CALL(fopen)(path, "wx");
	show("fopen", "wx", fp != NULL);
	show_mode(path);
	if (fp != NULL)
		fclose(fp);
	fp = CALL(fopen)(path, "a+");
	show("fopen", "a+", fp != NULL);
	fp = fp == NULL ? NULL : CALL(freopen)(NULL, "r", fp);
	show("freopen", "NULL", fp != NULL);
	if (fp != NULL)
		fclose(fp);
	unlink(path);
}
