/* SPDX-License-Identifier: Apache-2.0
 *
 * io.c: whole reads and writes.  Runs in every process.
 */

#include <config.h>

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/must.h"

int
io_write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;
	ssize_t n;

	while (len > 0) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;	/* or we would ask for ever */
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A signal that our own write made, if it was not waiting already. */
static void
take_back(int signal, const sigset_t *waiting)
{
	static const struct timespec at_once;
	sigset_t set;

	if (sigismember(waiting, signal) == 1)
		return;
	sigemptyset(&set);
	sigaddset(&set, signal);
	while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR)
		;
}

int
io_write_quiet(int fd, const void *bytes, size_t len)
{
	sigset_t block, before, waiting;
	int rc;

	sigemptyset(&block);
	sigaddset(&block, SIGPIPE);
	sigaddset(&block, SIGTTOU);	/* ignored or blocked, it lets us write */
	sigaddset(&block, SIGXFSZ);
	rc = pthread_sigmask(SIG_BLOCK, &block, &before);
	if (rc != 0)
		return -rc;
	sigpending(&waiting);
	rc = io_write_all(fd, bytes, len);
	if (rc == -EPIPE)
		take_back(SIGPIPE, &waiting);
	else if (rc == -EFBIG)
		take_back(SIGXFSZ, &waiting);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

ssize_t
io_read_all(int fd, void *bytes, size_t len)
{
	char *p = bytes;
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = read(fd, p + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t
io_read_text(int dirfd, const char *path, char *text, size_t size)
{
	ssize_t n;
	int fd;

	must(size > 0);
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = io_read_all(fd, text, size - 1);
	io_close(&fd);
	if (n < 0)
		return n;
	if (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	return n;
}

void
io_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

#define HIGH_MOST	3072	/* a table of descriptors of 32 KiB */

int
io_out_of_the_way(int fd)
{
	struct rlimit limit;
	int high, floor = HIGH_MOST;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur / 4 * 3 < HIGH_MOST)
		floor = (int)(limit.rlim_cur / 4 * 3);
	if (fd >= floor)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, floor);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}
