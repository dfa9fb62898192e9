/* SPDX-License-Identifier: Apache-2.0
 *
 * wrapped_fail.c: calls that must fail, folders, and cancelled threads.
 * Run by tests (wrapped.c).
 */

#include <config.h>

#include "tests/harness/wrapped.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/asleep.h"

#define BAD_FD 987

/* Hidden from the compiler, which knows that it must not be given. */
static void *volatile nothing;

static void
fail_to_open(const char *what, const char *path, int flags)
{
	for (unsigned i = 0; i < NR_OPENERS; i++)
		show(openers[i].name, what, openers[i].open(path, flags, 0));
}

static void
fail_to_stat(const char *what, const char *path, void *st)
{
	show("stat", what, CALL(stat)(path, st));
	show("stat64", what, CALL(stat64)(path, st));
	show("lstat", what, CALL(lstat)(path, st));
	show("lstat64", what, CALL(lstat64)(path, st));
	show("fstatat", what, CALL(fstatat)(AT_FDCWD, path, st, 0));
	show("fstatat64", what, CALL(fstatat64)(AT_FDCWD, path, st, 0));
	show("__xstat", what, CALL(__xstat)(STAT_VERSION, path, st));
	show("__lxstat64", what, CALL(__lxstat64)(STAT_VERSION, path, st));
	show("__fxstatat", what,
	    CALL(__fxstatat)(STAT_VERSION, AT_FDCWD, path, st, 0));
	show("statx", what,
	    CALL(statx)(AT_FDCWD, path, 0, STATX_BASIC_STATS, st));
}

static void
fail_by_fd(int fd)
{
	const struct timespec times[2] = { { 1, 2 }, { 3, 4 } };
	char room[512];

	show("openat", "fd", CALL(openat)(fd, "x", O_RDONLY));
	show("__openat64_2", "fd", CALL(__openat64_2)(fd, "x", O_RDONLY));
	show("fstat", "fd", CALL(fstat)(fd, (void *)room));
	show("fstat64", "fd", CALL(fstat64)(fd, (void *)room));
	show("__fxstat", "fd",
	    CALL(__fxstat)(STAT_VERSION, fd, (void *)room));
	show("fstatat", "fd", CALL(fstatat)(fd, "x", (void *)room, 0));
	show("fstatat", "empty", CALL(fstatat)(fd, "", (void *)room, 0));
	show("statx", "fd", CALL(statx)(fd, "", AT_EMPTY_PATH,
	    STATX_BASIC_STATS, (void *)room));
	show("fgetxattr", "fd", CALL(fgetxattr)(fd, "user.x", room, 9));
	show("flistxattr", "fd", CALL(flistxattr)(fd, room, 9));
	show("fsetxattr", "fd", CALL(fsetxattr)(fd, "user.x", "", 0, 0));
	show("fremovexattr", "fd", CALL(fremovexattr)(fd, "user.x"));
	show("fchmod", "fd", CALL(fchmod)(fd, 0600));
	show("fchown", "fd", CALL(fchown)(fd, 0, 0));
	show("fchownat", "fd", CALL(fchownat)(fd, "", 0, 0, AT_EMPTY_PATH));
	show("futimens", "fd", CALL(futimens)(fd, times));
	show("futimes", "fd", CALL(futimes)(fd, NULL));
	show("fstatfs", "fd", CALL(fstatfs)(fd, (void *)room));
	show("fstatvfs64", "fd", CALL(fstatvfs64)(fd, (void *)room));
	show("fchdir", "fd", CALL(fchdir)(fd));
}

void
fail(const char *dir)
{
	char path[PATH_MAX];
	char longer[PATH_MAX + 10];
	char room[512];

	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	snprintf(path, sizeof path, "%s/missing", dir);
	fail_to_open("missing", path, O_RDONLY);
	fail_to_open("NULL", nothing, O_RDONLY);
	fail_to_open("empty", "", O_RDONLY);
	fail_to_open("too long", longer, O_RDONLY);
	fail_to_open("a folder to write", dir, O_WRONLY);
	fail_to_stat("missing", path, room);
	fail_to_stat("NULL", nothing, room);
	fail_to_stat("no room", dir, nothing);
	fail_to_stat("empty", "", room);
	fail_to_stat("too long", longer, room);
	show("open", "O_TMPFILE to read",
	    CALL(open)(dir, O_TMPFILE | O_RDONLY, 0600));
	show("open", "bad flags", CALL(open)(dir, 0x40000003, 0600));
	show("fopen", "NULL", CALL(fopen)(nothing, "r") != NULL);
	show("fopen64", "missing", CALL(fopen64)(path, "r") != NULL);
	show("fopen", "bad mode", CALL(fopen)(dir, "zr") != NULL);
	show("freopen", "missing",
	    CALL(freopen)(path, "r", fopen("/dev/null", "r")) != NULL);
	show("chdir", "missing", CALL(chdir)(path));
	show("chdir", "NULL", CALL(chdir)(nothing));
	show("statx", "bad flags",
	    CALL(statx)(AT_FDCWD, dir, 1 << 30, 0, (void *)room));
	fail_by_fd(BAD_FD);
	fail_by_fd(-1);
}

static void
show_folder(void)
{
	char path[PATH_MAX];
	int fd;

	printf("  now in %s\n", getcwd(path, sizeof path));
	fd = CALL(open)("here", O_RDONLY);
	show("open", "here", fd);
	if (fd >= 0)
		printf("  %zd bytes\n", read(fd, path, sizeof path));
	close(fd);
}

void
move_about(const char *dir)
{
	int root = open("/", O_PATH | O_CLOEXEC);

	show("chdir", "dir", CALL(chdir)(dir));
	show_folder();
	show("fchdir", "/", CALL(fchdir)(root));
	show_folder();
	show("chdir", "dir", CALL(chdir)(dir));
	show("chdir", "a file", CALL(chdir)("here"));
	show_folder();
	close(root);
}

struct blocked {
	const char	*fifo;
	unsigned	way;
	_Atomic pid_t	tid;		/* set before it blocks */
	bool		was_cleaned;
};

#define NR_WAYS (NR_OPENERS + 2u)

static void
clean_up(void *arg)
{
	struct blocked *b = arg;

	b->was_cleaned = true;
}

static void *
open_blocking(void *arg)
{
	struct blocked *b = arg;

	pthread_cleanup_push(clean_up, b);
	/* release: pairs with the acquire in await_blocked() */
	atomic_store_explicit(&b->tid, (pid_t)syscall(SYS_gettid),
	    memory_order_release);
	if (b->way < NR_OPENERS)
		openers[b->way].open(b->fifo, O_RDONLY, 0);
	else if (b->way == NR_OPENERS)
		(void)CALL(fopen)(b->fifo, "r");
	else
		(void)CALL(fopen64)(b->fifo, "r");
	pthread_cleanup_pop(0);
	return NULL;
}

/* Until the kernel says that the thread sleeps: it has nothing else to sleep
 * on than the open. */
static void
await_blocked(struct blocked *b)
{
	pid_t tid;

	while ((tid = atomic_load_explicit(&b->tid, memory_order_acquire)) == 0)
		sched_yield();
	await_asleep(tid);
}

static unsigned
count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

void
cancel(const char *fifo)
{
	for (unsigned way = 0; way < NR_WAYS; way++) {
		struct blocked b = { .fifo = fifo, .way = way };
		unsigned before = count_descriptors();
		pthread_t thread;
		void *end = NULL;

		if (pthread_create(&thread, NULL, open_blocking, &b) != 0)
			give_up("pthread_create");
		await_blocked(&b);
		pthread_cancel(thread);
		pthread_join(thread, &end);
		printf("%s: %s, %s, %u descriptors more\n",
		    way < NR_OPENERS ? openers[way].name : "fopen",
		    end == PTHREAD_CANCELED ? "cancelled" : "not cancelled",
		    b.was_cleaned ? "cleaned up" : "not cleaned up",
		    count_descriptors() - before);
	}
}
