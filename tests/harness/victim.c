/* SPDX-License-Identifier: Apache-2.0
 *
 * victim.c: a program that makes the calls it is told to, for the tests of the
 * preloaded shims.  Run by those tests, in an empty directory.
 *
 *     victim CALL...        each once, and one line each: "write ok", or the
 *                           count of a call that moves bytes ("read 4"), or
 *                           the errno ("open EMFILE")
 *     victim list           the names of all calls, one a line
 *     victim threads N      N threads with 1000 calls of write each; prints
 *                           how many of them failed
 *     victim interrupted N  waits until N reads were interrupted
 *     victim abort          dies of a signal
 */

#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define WRITES_PER_THREAD 1000

static char bytes[8];
static int zero;		/* /dev/zero */
static int file;		/* a file of our own, "file" */
static int pair[2];		/* two ends of a socket */
static int directory;
static struct iovec vector = { bytes, sizeof bytes };
static const struct sockaddr_un nowhere = { .sun_family = AF_UNIX };

/* An allocation that is not used would be optimised away. */
static void *volatile sink;
static void *volatile nothing;

static int
keep(void *p)
{
	sink = p;
	return p == NULL ? -1 : 0;
}

/* What returns an errno: as a call that sets it. */
static int
by_code(int code)
{
	errno = code;
	return code == 0 ? 0 : -1;
}

static void *
do_nothing(void *arg)
{
	return arg;
}

static int
start_thread(void)
{
	pthread_t thread;
	int code = pthread_create(&thread, NULL, do_nothing, NULL);

	if (code == 0)
		pthread_join(thread, NULL);
	return by_code(code);
}

static int
align_posix(void)
{
	void *p = NULL;
	int code = posix_memalign(&p, 64, 64);

	sink = p;
	return by_code(code);
}

static int
map_page(void)
{
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, zero, 0) == MAP_FAILED
	    ? -1 : 0;
}

/* A message first, so that receiving does not wait. */
static long
receive(void)
{
	struct msghdr msg = { .msg_iov = &vector, .msg_iovlen = 1 };

	if (write(pair[0], bytes, sizeof bytes) < 0)
		return -1;
	return recvmsg(pair[1], &msg, 0);
}

/* A socket without a name is never answered: what matters is who says so. */
static int
unless(int expected, int rc)
{
	return rc < 0 && errno == expected ? 0 : rc;
}

#define STAT(expression) ({ struct stat st; (expression); })
#define MESSAGE ((struct msghdr){ .msg_iov = &vector, .msg_iovlen = 1 })
#define NO_FDS ((struct pollfd[1]){ { .fd = -1 } })

/* name, whether it moves bytes, the call */
#define CALLS(X) \
	X(malloc, false, keep(malloc(64))) \
	X(calloc, false, keep(calloc(8, 8))) \
	X(realloc, false, keep(realloc(nothing, 64))) \
	X(posix_memalign, false, align_posix()) \
	X(aligned_alloc, false, keep(aligned_alloc(64, 64))) \
	X(open, false, open("file", O_RDONLY)) \
	X(openat, false, openat(AT_FDCWD, "new", O_WRONLY | O_CREAT, 0600)) \
	X(read, true, read(zero, bytes, sizeof bytes)) \
	X(pread, true, pread(zero, bytes, sizeof bytes, 0)) \
	X(readv, true, readv(zero, &vector, 1)) \
	X(write, true, write(file, bytes, sizeof bytes)) \
	X(pwrite, true, pwrite(file, bytes, sizeof bytes, 0)) \
	X(writev, true, writev(file, &vector, 1)) \
	X(mmap, false, map_page()) \
	X(memfd_create, false, memfd_create("victim", 0)) \
	X(ftruncate, false, ftruncate(file, 10)) \
	X(fallocate, false, fallocate(file, 0, 0, 4096)) \
	X(posix_fallocate, false, by_code(posix_fallocate(file, 0, 4096))) \
	X(fsync, false, fsync(file)) \
	X(fdatasync, false, fdatasync(file)) \
	X(rename, false, unless(ENOENT, rename("none", "new"))) \
	X(renameat, false, unless(ENOENT, \
	    renameat(AT_FDCWD, "none", AT_FDCWD, "new"))) \
	X(renameat2, false, unless(ENOENT, \
	    renameat2(AT_FDCWD, "none", AT_FDCWD, "new", 0))) \
	X(link, false, unless(ENOENT, link("none", "new"))) \
	X(linkat, false, unless(ENOENT, \
	    linkat(AT_FDCWD, "none", AT_FDCWD, "new", 0))) \
	X(unlink, false, unless(ENOENT, unlink("none"))) \
	X(unlinkat, false, unless(ENOENT, unlinkat(AT_FDCWD, "none", 0))) \
	X(mkdir, false, unless(EEXIST, mkdir("dir", 0700))) \
	X(mkdirat, false, unless(EEXIST, mkdirat(AT_FDCWD, "dir", 0700))) \
	X(stat, false, STAT(stat("file", &st))) \
	X(lstat, false, STAT(lstat("file", &st))) \
	X(fstat, false, STAT(fstat(file, &st))) \
	X(fstatat, false, STAT(fstatat(AT_FDCWD, "file", &st, 0))) \
	X(opendir, false, keep(opendir("."))) \
	X(fdopendir, false, keep(fdopendir(dup(directory)))) \
	X(fopen, false, keep(fopen("file", "r"))) \
	X(fflush, false, fflush(stderr)) \
	X(fclose, false, fclose(fdopen(dup(file), "r"))) \
	X(socket, false, socket(AF_UNIX, SOCK_STREAM, 0)) \
	X(socketpair, false, \
	    socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){ 0 })) \
	X(bind, false, unless(EBADF, \
	    bind(-1, (const struct sockaddr *)&nowhere, sizeof nowhere))) \
	X(connect, false, unless(EBADF, \
	    connect(-1, (const struct sockaddr *)&nowhere, sizeof nowhere))) \
	X(accept4, false, unless(EBADF, accept4(-1, NULL, NULL, 0))) \
	X(sendmsg, true, sendmsg(pair[0], &MESSAGE, 0)) \
	X(recvmsg, true, receive()) \
	X(poll, false, poll(NO_FDS, 1, 0)) \
	X(epoll_create1, false, epoll_create1(0)) \
	X(epoll_wait, false, unless(EBADF, \
	    epoll_wait(-1, (struct epoll_event[1]){ 0 }, 1, 0))) \
	X(pthread_create, false, start_thread())

/* Raw system calls, so that the first call a shim sees is one we were told to
 * make. */
static int
open_raw(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static void
prepare(void)
{
	zero = open_raw("/dev/zero", O_RDONLY);
	file = open_raw("file", O_RDWR | O_CREAT);
	directory = open_raw(".", O_RDONLY | O_DIRECTORY);
	if (zero < 0 || file < 0 || directory < 0 ||
	    syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
		perror("victim");
		exit(99);
	}
}

static void
show(const char *name, bool is_count, long rc)
{
	if (rc < 0)
		printf("%s %s\n", name, strerrorname_np(errno));
	else if (is_count)
		printf("%s %ld\n", name, rc);
	else
		printf("%s ok\n", name);
}

static int
make_call(const char *name)
{
#define CALL(call, is_count, expression) \
	if (strcmp(name, #call) == 0) { \
		show(name, is_count, (long)(expression)); \
		return 0; \
	}
	CALLS(CALL)
#undef CALL
	fprintf(stderr, "victim: no call %s\n", name);
	return 99;
}

static int
list_calls(void)
{
#define LIST(call, is_count, expression) puts(#call);
	CALLS(LIST)
#undef LIST
	return 0;
}

static atomic_ulong nr_failed;

static void *
write_often(void *arg)
{
	for (int i = 0; i < WRITES_PER_THREAD; i++)
		if (write(file, bytes, sizeof bytes) < 0)
			atomic_fetch_add(&nr_failed, 1);
	return arg;
}

static int
write_in_threads(unsigned nr)
{
	pthread_t threads[16];

	nr = nr < 16 ? nr : 16;
	for (unsigned i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, write_often, NULL) != 0)
			return 99;
	for (unsigned i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("%lu failed\n", atomic_load(&nr_failed));
	return 0;
}

/* Nobody writes to our pair: only a signal ends the read. */
static int
wait_for_interruptions(unsigned nr)
{
	alarm(120);
	for (unsigned i = 0; i < nr; i++)
		if (read(pair[0], bytes, sizeof bytes) >= 0 || errno != EINTR)
			return 1;
	printf("interrupted %u times\n", nr);
	return 0;
}

int
main(int argc, char **argv)
{
	static char buffer[BUFSIZ];

	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list_calls();
	if (argc == 2 && strcmp(argv[1], "abort") == 0)
		abort();
	prepare();
	/* Otherwise the first line would allocate. */
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	if (argc == 3 && strcmp(argv[1], "threads") == 0)
		return write_in_threads((unsigned)atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "interrupted") == 0)
		return wait_for_interruptions((unsigned)atoi(argv[2]));
	for (int i = 1; i < argc; i++)
		if (make_call(argv[i]) != 0)
			return 99;
	return 0;
}
