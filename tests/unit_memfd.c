/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_memfd.c: tests of base/memfd.c: the order of seals that memfd.h
 * describes, and what a stranger cannot do after each.
 */

#include <config.h>

#include "base/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/unit.h"

#define LEN	((size_t)3 * 4096 + 100)	/* not whole pages */

static int
new_memfd(void)
{
	struct ds_err err;
	int fd = memfd_new("unit", LEN, &err);

	if (fd < 0)
		fail_msg("%s", err.text);
	return fd;
}

static int
reopen(int fd, int flags)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

static void
is_allocated_and_of_fixed_size(void **state)
{
	int fd = new_memfd();
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, LEN);
	assert_true((size_t)st.st_blocks * 512 >= LEN);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(ftruncate(fd, LEN + 1), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(fallocate(fd, 0, 0, 2 * LEN), -1);
	assert_int_equal(errno, EPERM);
	close(fd);
}

static void
impossible_sizes_are_refused(void **state)
{
	static const size_t sizes[] = { 0, SIZE_MAX, (size_t)INT64_MAX + 1 };
	struct rlimit before, small;
	struct ds_err err;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		assert_int_equal(memfd_new("unit", sizes[i], &err), -EINVAL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	small = before;
	small.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	assert_int_equal(memfd_new("unit", LEN, &err), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(strstr(err.text, "unit"));
}

/* No memory is an error now, and nothing of it stays allocated. */
static void
too_much_is_an_error_not_a_signal(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before_act;
	struct rlimit before, small;
	struct ds_err err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	sigaction(SIGXFSZ, &ignore, &before_act);
	small = before;
	small.rlim_cur = LEN / 2;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(memfd_new("unit", LEN, &err), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	sigaction(SIGXFSZ, &before_act, NULL);
}

/* Linked before the C library's.  While a limit is set, a call that takes
 * longer than so many bytes do is interrupted, as by a timer, on a kernel that
 * then undoes it; but not for ever. */
static off_t interrupted_above;
static unsigned interruptions;

int
fallocate(int fd, int mode, off_t offset, off_t len)
{
	if (interrupted_above > 0 && len > interrupted_above) {
		errno = ++interruptions < 1000 ? EINTR : EIO;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

static void
signals_do_not_stop_allocation(void **state)
{
	static const off_t limits[] = { 1 << 20, 1 << 16, 1 << 12 };

	(void)state;
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		struct ds_err err;
		struct stat st;
		int fd;

		interruptions = 0;
		interrupted_above = limits[i];
		fd = memfd_new("unit", ((size_t)8 << 20) + 1, &err);
		interrupted_above = 0;
		assert_true(fd >= 0);
		assert_true(interruptions > 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_size, (8 << 20) + 1);
		assert_true(st.st_blocks * 512 > 8 << 20);
		close(fd);
	}
}

static void
check_no_writing(int fd)
{
	int again = reopen(fd, O_RDWR);
	void *p;

	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(errno, EPERM);
	p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_equal(p, MAP_FAILED);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE |
	    FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
	/* The inode may be opened for writing; the seals are the inode's. */
	if (again >= 0) {
		assert_int_equal(pwrite(again, "x", 1, 0), -1);
		p = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
		assert_ptr_equal(p, MAP_FAILED);
		close(again);
	}
	p = mmap(NULL, LEN, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p, LEN, PROT_READ | PROT_WRITE), -1);
	munmap(p, LEN);
}

static void
whole_order_of_seals(void **state)
{
	int fd = new_memfd();
	struct ds_err err;
	void *writer, *reader;
	uint64_t len;

	(void)state;
	assert_int_equal(memfd_check(fd, &len, &err), -EBADMSG);
	assert_int_equal(memfd_map_writer(fd, LEN, &writer, &err), 0);
	assert_int_equal(memfd_seal_new_writers(fd, &err), 0);
	assert_int_equal(memfd_check(fd, &len, &err), 0);
	assert_int_equal(len, LEN);
	check_no_writing(fd);
	assert_int_equal(memfd_map_reader(fd, LEN, &reader, &err), 0);
	memset(writer, 'w', LEN);
	assert_int_equal(((char *)reader)[LEN - 1], 'w');
	assert_int_equal(memfd_seal_all(fd, &err), -EBUSY);
	munmap(writer, LEN);
	assert_int_equal(memfd_seal_all(fd, &err), 0);
	check_no_writing(fd);
	assert_int_equal(((char *)reader)[0], 'w');
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(memfd_check(fd, &len, &err), 0);
	munmap(reader, LEN);
	close(fd);
}

static void
writer_for_life(void **state)
{
	int fd = new_memfd();
	struct ds_err err;
	void *writer;
	uint64_t len;

	(void)state;
	assert_int_equal(memfd_map_writer(fd, LEN, &writer, &err), 0);
	assert_int_equal(memfd_seal_to_writer(fd, &err), 0);
	assert_int_equal(memfd_check(fd, &len, &err), 0);
	check_no_writing(fd);
	memset(writer, 'w', LEN);
	assert_int_equal(memfd_seal_all(fd, &err), -EPERM);
	munmap(writer, LEN);
	close(fd);
}

/* A child that lives while its parent seals.  keep_map: with a writable map
 * of its own, as one that no rule of ours made. */
static pid_t
start_child(int fd, bool keep_map, int hold[2])
{
	int ready[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(hold[1]);
		if (keep_map && mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0) == MAP_FAILED)
			_exit(1);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		_exit(read(hold[0], &c, 1) == 0 ? 0 : 1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(hold[0]);
	return pid;
}

static void
end_child(pid_t pid, int hold[2])
{
	int status;

	close(hold[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
forked_child_does_not_keep_it_writable(void **state)
{
	int fd = new_memfd(), hold[2];
	struct ds_err err;
	void *writer;
	pid_t pid;

	(void)state;
	assert_int_equal(memfd_map_writer(fd, LEN, &writer, &err), 0);
	pid = start_child(fd, false, hold);
	assert_int_equal(memfd_seal_new_writers(fd, &err), 0);
	munmap(writer, LEN);
	assert_int_equal(memfd_seal_all(fd, &err), 0);
	end_child(pid, hold);
	close(fd);
}

static void
stray_writer_in_a_child_is_noticed(void **state)
{
	int fd = new_memfd(), hold[2];
	struct ds_err err;
	pid_t pid;

	(void)state;
	pid = start_child(fd, true, hold);
	assert_int_equal(memfd_seal_new_writers(fd, &err), 0);
	assert_int_equal(memfd_seal_all(fd, &err), -EBUSY);
	end_child(pid, hold);
	assert_int_equal(memfd_seal_all(fd, &err), 0);
	close(fd);
}

/* A flag of smaps, see proc(5), for the mapping that begins at base. */
static bool
map_has_flag(const void *base, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512], start[32];
	bool inside = false, found = false;

	assert_non_null(f);
	(void)snprintf(start, sizeof start, "%lx-", (unsigned long)base);
	while (fgets(line, sizeof line, f) != NULL) {
		if (strchr(line, '-') != NULL && strchr(line, ':') > strchr(line, '-'))
			inside = strncmp(line, start, strlen(start)) == 0;
		if (inside && strncmp(line, "VmFlags:", 8) == 0)
			found = strstr(line, flag) != NULL;
	}
	fclose(f);
	return found;
}

static void
maps_stay_out_of_children_and_cores(void **state)
{
	int fd = new_memfd();
	struct ds_err err;
	void *writer, *reader;

	(void)state;
	assert_int_equal(memfd_map_writer(fd, LEN, &writer, &err), 0);
	assert_int_equal(memfd_map_reader(fd, LEN, &reader, &err), 0);
	assert_true(map_has_flag(writer, " dc"));	/* not to be copied */
	assert_true(map_has_flag(writer, " dd"));	/* not to be dumped */
	assert_false(map_has_flag(reader, " dc"));
	assert_true(map_has_flag(reader, " dd"));
	munmap(writer, LEN);
	munmap(reader, LEN);
	close(fd);
}

static void
check_refuses_what_is_no_sealed_memory(void **state)
{
	static const int partial[] = {
		0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW,
		F_SEAL_SHRINK | F_SEAL_WRITE, F_SEAL_GROW | F_SEAL_WRITE,
		F_SEAL_FUTURE_WRITE,
	};
	struct ds_err err;
	uint64_t len = 77;
	int fds[2], fd;

	(void)state;
	for (size_t i = 0; i < sizeof partial / sizeof partial[0]; i++) {
		fd = memfd_create("part", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		assert_int_equal(ftruncate(fd, 4096), 0);
		assert_int_equal(fcntl(fd, F_ADD_SEALS, partial[i]), 0);
		assert_int_equal(memfd_check(fd, &len, &err), -EBADMSG);
		close(fd);
	}
	fd = memfd_create("empty", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(memfd_seal_new_writers(fd, &err), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(memfd_check(fd, &len, &err), -EBADMSG);
	close(fd);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(memfd_check(fds[0], &len, &err), -EBADMSG);
	close(fds[0]);
	assert_int_equal(memfd_check(fds[0], &len, &err), -EBADMSG);
	close(fds[1]);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(memfd_check(fd, &len, &err), -EBADMSG);
	close(fd);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(memfd_check(fd, &len, &err), -EBADMSG);
	close(fd);
	assert_int_equal(len, 77);
}

static void
failed_maps_and_seals_say_so(void **state)
{
	struct ds_err err;
	void *p = &err;
	int fd = new_memfd();

	(void)state;
	assert_int_equal(memfd_map_reader(-1, LEN, &p, &err), -EBADF);
	assert_int_equal(memfd_map_reader(fd, 0, &p, &err), -EINVAL);
	assert_int_equal(memfd_map_writer(fd, SIZE_MAX / 2, &p, &err), -ENOMEM);
	assert_ptr_equal(p, &err);
	assert_int_equal(memfd_seal_all(-1, &err), -EBADF);
	assert_non_null(strstr(err.text, "Bad file descriptor"));
	close(fd);
}

UNIT_MAIN(
	UNIT(is_allocated_and_of_fixed_size),
	UNIT(impossible_sizes_are_refused),
	UNIT(too_much_is_an_error_not_a_signal),
	UNIT(signals_do_not_stop_allocation),
	UNIT(whole_order_of_seals),
	UNIT(writer_for_life),
	UNIT(forked_child_does_not_keep_it_writable),
	UNIT(stray_writer_in_a_child_is_noticed),
	UNIT(maps_stay_out_of_children_and_cores),
	UNIT(check_refuses_what_is_no_sealed_memory),
	UNIT(failed_maps_and_seals_say_so))
