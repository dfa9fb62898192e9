/* SPDX-License-Identifier: Apache-2.0
 *
 * fail.h: the calls that tests can make fail, and how a wrapper asks.
 * Runs inside the program under test, preloaded.
 *
 * The variants of a call (open64, __open_2, ...) count as one.  A new call is
 * one word here, its wrapper in fail_memory.c or fail_system.c, and its line
 * in tests/harness/victim.c.
 */

#ifndef SHIM_FAIL_H
#define SHIM_FAIL_H

#define FAIL_CALLS(X) \
	X(malloc) X(calloc) X(realloc) X(posix_memalign) X(aligned_alloc) \
	X(open) X(openat) X(read) X(pread) X(readv) \
	X(write) X(pwrite) X(writev) \
	X(mmap) X(memfd_create) X(ftruncate) X(fallocate) X(posix_fallocate) \
	X(fsync) X(fdatasync) \
	X(rename) X(renameat) X(renameat2) X(link) X(linkat) \
	X(unlink) X(unlinkat) X(mkdir) X(mkdirat) \
	X(stat) X(lstat) X(fstat) X(fstatat) X(opendir) X(fdopendir) \
	X(fopen) X(fflush) X(fclose) \
	X(socket) X(socketpair) X(bind) X(connect) X(accept4) \
	X(sendmsg) X(recvmsg) X(poll) X(epoll_create1) X(epoll_wait) \
	X(pthread_create)

enum fail_call {
#define FAIL_ENUM(name) CALL_##name,
	FAIL_CALLS(FAIL_ENUM)
#undef FAIL_ENUM
	NR_FAIL_CALLS
};

enum fail_verdict {
	VERDICT_PASS,
	VERDICT_FAIL,		/* errno is set */
	VERDICT_SHORT,		/* do it with half the bytes */
};

enum fail_verdict fail_count(enum fail_call call);
	/* Counts the call and says what shall become of it.  A call that
	 * cannot be short passes then. */

#endif
