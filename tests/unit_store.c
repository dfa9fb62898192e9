/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_store.c: tests of cache/store.c: both ways of having a store, as the
 * user that runs them and, if that is root, as an ordinary one too.
 */

#include <config.h>

#include "cache/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/wire.h"
#include "cache/view.h"
#include "tests/harness/unit.h"

#define LIMIT	(UINT64_C(8) << 20)
#define ITEM	100000u

static char parent[256];	/* of stores that are folders */

static int
make_parent(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(parent, sizeof parent, "%s/unit_store.XXXXXX",
	    tmp != NULL ? tmp : "/tmp");
	return mkdtemp(parent) == NULL ? -1 : leak_before(state);
}

static int
remove_parent(void **state)
{
	int rc = leak_after(state);

	return rmdir(parent) != 0 ? -1 : rc;
}

#define STORE_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, make_parent, remove_parent)

/* A store of either kind; NULL where this machine cannot have it. */
static struct store *
new_store(bool detached)
{
	struct store *s = NULL;
	struct ds_err err;
	int rc;

	if (detached) {
		rc = store_new(&s, LIMIT, &err);
		if (rc < 0)
			print_message("not detached here: %s\n", err.text);
		return s;
	}
	assert_int_equal(store_new_in(&s, parent, &err), 0);
	return s;
}

static void
put_item(const struct store *s, const char *name, char fill)
{
	struct store_draft d;
	struct ds_err err;
	char *bytes = malloc(ITEM);

	memset(bytes, fill, ITEM);
	assert_int_equal(store_begin(s, ITEM, &d, &err), 0);
	assert_int_equal(io_write_all(d.writer, bytes, ITEM), 0);
	assert_int_equal(store_freeze(&d, &err), 0);
	assert_int_equal(store_trim(&d, ITEM, &err), 0);
	assert_int_equal(store_publish(s, &d, name, &err), 0);
	assert_int_equal(d.writer, -1);
	assert_int_equal(d.keeper, -1);
	free(bytes);
}

/* Through the readers' view. */
static void
check_item(const struct store *s, const char *name, char fill)
{
	int fd = openat(store_view(s), name, O_RDONLY | O_CLOEXEC);
	const char *p;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, ITEM);
	assert_int_equal(st.st_mode & 07777, S_IRUSR | STORE_MARK);
	p = mmap(NULL, ITEM, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(p[0], fill);
	assert_int_equal(p[ITEM - 1], fill);
	assert_int_equal(munmap((void *)(uintptr_t)p, ITEM), 0);
	close(fd);
}

static void
items_can_be_read(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct store *s = new_store(kind == 0);
		struct ds_err err;

		if (s == NULL)
			continue;
		put_item(s, "one", 'a');
		put_item(s, "two", 'b');
		check_item(s, "one", 'a');
		check_item(s, "two", 'b');
		assert_int_equal(store_remove(s, "one", &err), 0);
		assert_int_equal(store_remove(s, "one", &err), -ENOENT);
		check_item(s, "two", 'b');
		store_free(&s);
		assert_null(s);
	}
}

/* Whoever can still write it: a descriptor, a mapping, either in a child. */
static void
what_can_be_written_gets_no_name(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct store *s = new_store(kind == 0);
		struct store_draft d;
		struct ds_err err;
		struct stat st;
		int writer;
		void *p;

		if (s == NULL)
			continue;
		assert_int_equal(store_begin(s, ITEM, &d, &err), 0);
		/* Nor is it marked while it is one. */
		assert_int_equal(fstat(d.writer, &st), 0);
		assert_int_equal(st.st_mode & 07777, S_IRUSR);
		writer = dup(d.writer);
		assert_int_equal(store_publish(s, &d, "x", &err), -EBUSY);
		assert_string_equal(err.text, "cache: a file is still being "
		    "written: Device or resource busy");
		p = mmap(NULL, ITEM, PROT_READ | PROT_WRITE, MAP_SHARED,
		    writer, 0);
		assert_ptr_not_equal(p, MAP_FAILED);
		close(writer);
		assert_int_equal(store_publish(s, &d, "x", &err), -EBUSY);
		assert_int_equal(openat(store_view(s), "x", O_RDONLY), -1);
		munmap(p, ITEM);
		assert_int_equal(store_publish(s, &d, "x", &err), 0);
		store_free(&s);
	}
}

/* What is open for reading can be opened for writing, by way of /proc and its
 * owner's right to change the mode. */
static void
what_can_be_read_gets_no_name(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct store *s = new_store(kind == 0);
		struct store_draft d;
		struct ds_err err;
		char path[64];
		int reader;
		void *p;

		if (s == NULL)
			continue;
		assert_int_equal(store_begin(s, ITEM, &d, &err), 0);
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", d.writer);
		reader = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(reader >= 0);
		assert_int_equal(store_publish(s, &d, "x", &err), -EBUSY);
		p = mmap(NULL, ITEM, PROT_READ, MAP_SHARED, reader, 0);
		assert_ptr_not_equal(p, MAP_FAILED);
		close(reader);
		assert_int_equal(store_publish(s, &d, "x", &err), -EBUSY);
		assert_int_equal(openat(store_view(s), "x", O_RDONLY), -1);
		munmap(p, ITEM);
		assert_int_equal(store_publish(s, &d, "x", &err), 0);
		store_free(&s);
	}
}

/* What was given back within it, and taken again past its end. */
static void
trimmed_it_shows_its_holes(void **state)
{
	struct store *s = new_store(true);
	struct store_draft d;
	struct ds_err err;
	struct stat st;

	(void)state;
	if (s == NULL)
		return;
	assert_int_equal(store_begin(s, ITEM, &d, &err), 0);
	assert_int_equal(fallocate(d.writer, FALLOC_FL_PUNCH_HOLE |
	    FALLOC_FL_KEEP_SIZE, 0, 65536), 0);
	assert_int_equal(fallocate(d.writer, FALLOC_FL_KEEP_SIZE,
	    (off_t)LIMIT / 2, 65536), 0);
	assert_int_equal(fchmod(d.writer, 0666), 0);
	assert_int_equal(store_freeze(&d, &err), 0);
	assert_int_equal(store_trim(&d, ITEM, &err), 0);
	assert_int_equal(fstat(d.keeper, &st), 0);
	assert_int_equal(st.st_size, ITEM);
	assert_true(st.st_blocks * 512 < ITEM);
	assert_int_equal(st.st_mode & 07777, 01400);
	store_abandon(&d);
	store_free(&s);
}

static void
a_child_that_can_write_is_seen(void **state)
{
	struct store *s = new_store(false);
	struct store_draft d;
	struct ds_err err;
	pid_t pid;

	(void)state;
	assert_int_equal(store_begin(s, ITEM, &d, &err), 0);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(store_publish(s, &d, "x", &err), -EBUSY);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(store_publish(s, &d, "x", &err), 0);
	store_free(&s);
}

/* The mode of the file forbids it to an ordinary user, the view to root. */
static void
check_refused(int rc)
{
	assert_int_equal(rc, -1);
	assert_true(errno == EROFS || (errno == EACCES && geteuid() != 0));
}

static void
readers_cannot_write(void **state)
{
	struct store *s = new_store(true);
	char path[64];
	int fd, view;

	(void)state;
	if (s == NULL)
		return;
	put_item(s, "x", 'a');
	view = store_view(s);
	check_refused(openat(view, "x", O_RDWR));
	check_refused(openat(view, "y", O_RDWR | O_CREAT, 0600));
	check_refused(unlinkat(view, "x", 0));
	fd = openat(view, "x", O_RDONLY | O_CLOEXEC);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	check_refused(open(path, O_RDWR));
	check_refused(fchmod(fd, 0600));
	assert_ptr_equal(mmap(NULL, ITEM, PROT_READ | PROT_WRITE, MAP_SHARED,
	    fd, 0), MAP_FAILED);
	close(fd);
	store_free(&s);
}

static void
the_limit_is_an_error(void **state)
{
	struct store *s = new_store(true);
	struct store_draft d[4];
	struct ds_err err;
	unsigned nr = 0;
	int rc;

	(void)state;
	if (s == NULL)
		return;
	assert_int_equal(store_begin(s, 0, &d[0], &err), -EINVAL);
	while ((rc = store_begin(s, LIMIT / 2, &d[nr], &err)) == 0)
		nr++;
	assert_int_equal(rc, -ENOSPC);
	assert_int_equal(nr, 2);
	store_abandon(&d[0]);
	assert_int_equal(store_begin(s, LIMIT / 2, &d[0], &err), 0);
	store_abandon(&d[0]);
	store_abandon(&d[1]);
	store_free(&s);
}

/* What readers hold stays, also when the hub is gone. */
static void
readers_outlive_it(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		struct store *s = new_store(kind == 0);
		char byte = 0;
		int fd;

		if (s == NULL)
			continue;
		put_item(s, "x", 'a');
		fd = openat(store_view(s), "x", O_RDONLY | O_CLOEXEC);
		store_free(&s);
		assert_int_equal(pread(fd, &byte, 1, ITEM - 1), 1);
		assert_int_equal(byte, 'a');
		close(fd);
	}
}

static unsigned
count_in_parent(void)
{
	DIR *d = opendir(parent);
	struct dirent *e;
	unsigned nr = 0;

	while ((e = readdir(d)) != NULL)
		nr += e->d_name[0] != '.';
	closedir(d);
	return nr;
}

/* A hub that was killed leaves its folder; the next one removes it, and not
 * that of one that lives. */
static void
folders_of_killed_hubs_are_removed(void **state)
{
	struct store *living = new_store(false), *s;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		s = new_store(false);
		put_item(s, "x", 'a');
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(count_in_parent(), 2);
	put_item(living, "x", 'b');
	s = new_store(false);
	assert_int_equal(count_in_parent(), 2);
	check_item(living, "x", 'b');
	store_free(&s);
	store_free(&living);
	assert_int_equal(count_in_parent(), 0);
}

/* Also while a reader that outlives it has its view. */
static void
readers_do_not_keep_the_folder(void **state)
{
	struct wire_frame f;
	struct wire_writer w;
	struct store *s;
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    ends), 0);
	pid = fork();
	if (pid == 0) {
		s = new_store(false);
		put_item(s, "x", 'a');
		wire_write(&w, &f, 1, 0);
		wire_put_fd(&w, store_view(s));
		if (wire_send(ends[1], &f, NULL) == 0)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(wire_recv(ends[0], &f, NULL), 1);
	assert_int_equal(count_in_parent(), 1);
	s = new_store(false);
	assert_int_equal(count_in_parent(), 1);
	store_free(&s);
	assert_int_equal(count_in_parent(), 0);
	wire_close_fds(&f);
	close(ends[0]);
	close(ends[1]);
}

/* All of it once more in a child that is not root. */
static void
ordinary_users_can(void **state)
{
	struct store *s;
	struct ds_err err;
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		return;		/* then all of it is */
	assert_int_equal(chmod(parent, 01777), 0);
	pid = fork();
	if (pid == 0) {
		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(1);
		if (store_new(&s, LIMIT, &err) == 0) {
			put_item(s, "x", 'a');
			check_item(s, "x", 'a');
			store_free(&s);
		}
		s = new_store(false);
		put_item(s, "x", 'a');
		check_item(s, "x", 'a');
		store_free(&s);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

UNIT_MAIN(
	STORE_UNIT(items_can_be_read),
	STORE_UNIT(what_can_be_written_gets_no_name),
	STORE_UNIT(what_can_be_read_gets_no_name),
	STORE_UNIT(trimmed_it_shows_its_holes),
	STORE_UNIT(a_child_that_can_write_is_seen),
	STORE_UNIT(readers_cannot_write),
	STORE_UNIT(the_limit_is_an_error),
	STORE_UNIT(readers_outlive_it),
	STORE_UNIT(folders_of_killed_hubs_are_removed),
	STORE_UNIT(readers_do_not_keep_the_folder),
	STORE_UNIT(ordinary_users_can))
