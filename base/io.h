/* SPDX-License-Identifier: Apache-2.0
 *
 * io.h: descriptors; whole reads and writes, whatever signals and short counts
 * do.  Runs in every process.
 */

#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <sys/types.h>

int io_write_all(int fd, const void *bytes, size_t len);
	/* 0 when every byte was taken, else -errno, when some may have been.
	 * For descriptors that block: -EAGAIN is not waited out. */

int io_write_quiet(int fd, const void *bytes, size_t len);
	/* The same, for guests: a reader that is gone, a limit of the file's
	 * size or a terminal in the foreground is an error or nothing, and no
	 * signal to the program (SIGPIPE, SIGXFSZ, SIGTTOU). */

ssize_t io_read_all(int fd, void *bytes, size_t len);
	/* Reads until len or the end; the count, or -errno. */

ssize_t io_read_text(int dirfd, const char *path, char *text, size_t size);
	/* A small file such as those of /proc, terminated, its last newline
	 * cut off; what does not fit is left out.  The length, or -errno. */

void io_close(int *fd);
	/* Closes what is open and leaves -1; errno is kept. */

int io_out_of_the_way(int fd);
	/* The same open file under a high number, close-on-exec, so that the
	 * program we are a guest in gets the numbers that it would get without
	 * us; fd is closed.  fd itself where there is no room. */

#endif
