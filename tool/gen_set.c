/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_set.c: the folder of a data set.  Runs in the command only.
 *
 * The parts lie in the root and are files: ImageFolder of torchvision takes
 * every folder in the root for a class and every file in those for a sample.
 */

#include <config.h>

#include "tool/gen_set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/io.h"

#define RECORD		".destall-gen"
#define PART_PREFIX	".destall-gen.part"

/*--- parts ---------------------------------------------------------------*/

void
gen_set_part_name(char name[GEN_PART], unsigned worker)
{
	(void)snprintf(name, GEN_PART, PART_PREFIX "%u", worker);
}

int
gen_set_open_part(const struct gen_set *s, unsigned worker)
{
	char name[GEN_PART];
	int fd, rc;

	gen_set_part_name(name, worker);
	fd = openat(s->root, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	rc = crash_point("gen.opened");
	if (rc < 0) {
		io_close(&fd);
		gen_set_drop_part(s, worker);
		return rc;
	}
	return fd;
}

/* Some file systems say only here that there was no room. */
int
gen_set_close_part(int *fd)
{
	int rc = close(*fd) != 0 && errno != EINTR ? -errno : 0;

	*fd = -1;
	return rc;
}

void
gen_set_drop_part(const struct gen_set *s, unsigned worker)
{
	char name[GEN_PART];

	gen_set_part_name(name, worker);
	(void)unlinkat(s->root, name, 0);
}

/*--- class folders -------------------------------------------------------*/

int
gen_set_open_class(const struct gen_set *s, uint64_t class, int flags)
{
	char name[GEN_NAME];
	int fd;

	gen_plan_class_name(name, class);
	fd = openat(s->root, name, flags | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Relaxed, here and below: nothing else is read by it. */
	atomic_store_explicit(&s->is_known[class], true, memory_order_relaxed);
	return fd;
}

/* Made when it is first needed; one that we knew is not made again: what was
 * in it is gone. */
static int
need_class(const struct gen_set *s, const struct gen_image *image)
{
	bool known = atomic_load_explicit(&s->is_known[image->class],
	    memory_order_relaxed);
	int fd = gen_set_open_class(s, image->class, O_PATH);

	if (fd != -ENOENT)
		return fd;
	if (known)
		return -ESTALE;
	if (mkdirat(s->root, image->class_name, 0777) != 0 && errno != EEXIST)
		return -errno;
	return gen_set_open_class(s, image->class, O_PATH);
}

int
gen_set_fail_open(const struct gen_set *s, const char *name, int error,
    struct ds_err *err)
{
	struct stat st;

	if (fstatat(s->root, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return err_fail(err, -ELOOP, "%s/%s is a link, which gen does "
		    "not follow: remove it, or choose a new folder", s->path,
		    name);
	errno = error;
	return err_errno(err, "cannot open %s/%s", s->path, name);
}

static int
fail_gone(const struct gen_set *s, const char *what, struct ds_err *err)
{
	return err_fail(err, -ESTALE, "%s%s was moved or removed while gen "
	    "was at work in it: run the same command again", s->path, what);
}

int
gen_set_check(const struct gen_set *s, struct ds_err *err)
{
	char name[GEN_NAME + 1] = "/";
	struct stat now, ours;
	int fd;

	if (fstat(s->root, &ours) != 0 || stat(s->path, &now) != 0) {
		if (errno == ENOENT)
			return fail_gone(s, "", err);
		return err_errno(err, "cannot look at the folder %s", s->path);
	}
	if (now.st_ino != ours.st_ino || now.st_dev != ours.st_dev)
		return fail_gone(s, "", err);
	for (uint64_t c = 0; c < s->plan->classes; c++) {
		if (!atomic_load_explicit(&s->is_known[c],
		    memory_order_relaxed))
			continue;
		gen_plan_class_name(name + 1, c);
		fd = gen_set_open_class(s, c, O_PATH);
		if (fd == -ENOENT)
			return fail_gone(s, name, err);
		if (fd < 0)
			return gen_set_fail_open(s, name + 1, -fd, err);
		io_close(&fd);
	}
	return 0;
}

/*--- opening -------------------------------------------------------------*/

/* Counts what lies in the root besides the record and the parts of a run that
 * was killed; those are removed if asked for, which only the holder of the lock
 * may: they could be somebody's work. */
static int
look_at_root(const struct gen_set *s, bool remove_parts, unsigned *others,
    struct ds_err *err)
{
	int fd = openat(s->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int rc = 0;

	*others = 0;
	if (d == NULL) {
		rc = err_errno(err, "cannot list %s", s->path);
		io_close(&fd);
		return rc;
	}
	while (rc == 0 && (errno = 0, e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0 ||
		    strcmp(e->d_name, RECORD) == 0)
			continue;
		if (strncmp(e->d_name, PART_PREFIX, strlen(PART_PREFIX)) != 0)
			++*others;
		else if (remove_parts && unlinkat(s->root, e->d_name, 0) != 0)
			rc = err_errno(err, "cannot remove %s/%s", s->path,
			    e->d_name);
	}
	if (rc == 0 && errno != 0)
		rc = err_errno(err, "cannot list %s", s->path);
	closedir(d);
	return rc;
}

static int
open_root(struct gen_set *s, struct ds_err *err)
{
	if (mkdir(s->path, 0777) != 0 && errno != EEXIST)
		return err_errno(err, "cannot make the folder %s", s->path);
	s->root = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->root < 0)
		return err_errno(err, "cannot open the folder %s", s->path);
	return 0;
}

static int
refuse_foreign(const struct gen_set *s, struct ds_err *err)
{
	return err_fail(err, -ENOTEMPTY, "%s is not empty, and not a set of "
	    "destall gen: choose a new folder", s->path);
}

/* A new record, in a folder that holds nothing else.  Others may be doing the
 * same: who comes second finds their record, and then their lock. */
static int
create_record(struct gen_set *s, int flags, struct ds_err *err)
{
	unsigned others;
	int rc;

	rc = look_at_root(s, false, &others, err);
	if (rc < 0)
		return rc;
	(void)crash_point("gen.unclaimed");
	if (others == 0)
		s->record = openat(s->root, RECORD,
		    flags | O_RDWR | O_CREAT | O_EXCL, 0666);
	if (others > 0 || (s->record < 0 && errno == EEXIST))
		s->record = openat(s->root, RECORD, flags | O_RDWR);
	if (s->record < 0 && errno == ENOENT && others > 0)
		return refuse_foreign(s, err);
	return 0;
}

/* A complete set can be looked at where nothing can be written. */
static int
open_record(struct gen_set *s, struct ds_err *err)
{
	int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int rc;

	s->record = openat(s->root, RECORD, flags | O_RDWR);
	if (s->record < 0 && (errno == EROFS || errno == EACCES))
		s->record = openat(s->root, RECORD, flags | O_RDONLY);
	if (s->record < 0 && errno == ENOENT) {
		rc = create_record(s, flags, err);
		if (rc < 0)
			return rc;
	}
	if (s->record < 0)
		return gen_set_fail_open(s, RECORD, errno, err);
	return 0;
}

static int
lock_record(const struct gen_set *s, struct ds_err *err)
{
	struct stat st;

	if (fstat(s->record, &st) != 0 || !S_ISREG(st.st_mode))
		return err_fail(err, -EINVAL, "%s/" RECORD " is not a file",
		    s->path);
	if (flock(s->record, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return err_fail(err, -EBUSY, "another destall gen is at work "
		    "in %s: wait for it, or stop it", s->path);
	return err_errno(err, "cannot lock %s/" RECORD, s->path);
}

static int
write_record(const struct gen_set *s, struct ds_err *err)
{
	char text[GEN_RECORD];
	size_t len = gen_plan_print(s->plan, text);
	int rc;

	rc = ftruncate(s->record, 0) != 0 || lseek(s->record, 0, SEEK_SET) != 0 ?
	    -errno : io_write_all(s->record, text, len);
	if (rc == 0)
		rc = crash_point("gen.recorded");
	if (rc == 0)
		return 0;
	errno = -rc;
	return err_errno(err, "cannot write %s/" RECORD, s->path);
}

/* The record of a run that died while writing it is not whole; nothing but
 * the record is in the folder then. */
static int
check_record(const struct gen_set *s, struct ds_err *err)
{
	char text[GEN_RECORD + 1];
	struct ds_err why;
	unsigned others;
	ssize_t n;
	int rc;

	n = io_read_all(s->record, text, GEN_RECORD);
	if (n < 0) {
		errno = (int)-n;
		return err_errno(err, "cannot read %s/" RECORD, s->path);
	}
	text[n] = '\0';
	rc = gen_plan_is_whole(text) ?
	    gen_plan_compare(s->plan, text, &why) : 1;
	if (rc < 0)
		return err_fail(err, rc, "%s: %s", s->path, why.text);
	if (look_at_root(s, true, &others, err) < 0)
		return err->code;
	if (rc == 0)
		return 0;
	return others > 0 ? refuse_foreign(s, err) : write_record(s, err);
}

int
gen_set_open(struct gen_set *s, const char *path, const struct gen_plan *plan,
    struct ds_err *err)
{
	int rc;

	*s = (struct gen_set){
		.path = path, .plan = plan, .root = -1, .record = -1,
	};
	s->is_known = calloc(plan->classes, sizeof *s->is_known);
	rc = s->is_known != NULL ? open_root(s, err) :
	    err_fail(err, -ENOMEM, "no memory for the list of classes");
	if (rc == 0)
		rc = open_record(s, err);
	if (rc == 0)
		rc = lock_record(s, err);
	if (rc == 0)
		rc = check_record(s, err);
	if (rc < 0)
		gen_set_close(s);
	return rc;
}

void
gen_set_close(struct gen_set *s)
{
	io_close(&s->record);
	io_close(&s->root);
	free(s->is_known);
	s->is_known = NULL;
}

/*--- images --------------------------------------------------------------*/

/* From the root into its class. */
static int
place_part(const struct gen_set *s, unsigned worker,
    const struct gen_image *image)
{
	char part[GEN_PART];
	int class_fd = need_class(s, image);
	int rc;

	if (class_fd < 0)
		return class_fd;
	gen_set_part_name(part, worker);
	rc = renameat(s->root, part, class_fd, image->file_name) != 0 ?
	    -errno : 0;
	io_close(&class_fd);
	return rc;
}

static int
put_bytes(const struct gen_set *s, unsigned worker,
    const struct gen_image *image, const void *bytes, size_t len)
{
	int fd = gen_set_open_part(s, worker);
	int rc, closed;

	if (fd < 0)
		return fd;
	rc = io_write_all(fd, bytes, len);
	if (rc == 0)
		rc = crash_point("gen.written");
	closed = gen_set_close_part(&fd);
	if (rc == 0)
		rc = closed;
	if (rc == 0)
		rc = place_part(s, worker, image);
	if (rc < 0)
		gen_set_drop_part(s, worker);
	return rc;
}

int
gen_set_put(const struct gen_set *s, unsigned worker, uint64_t index,
    const void *bytes, size_t len, struct ds_err *err)
{
	struct gen_image image;
	int rc;

	gen_plan_image(s->plan, index, &image);
	rc = put_bytes(s, worker, &image, bytes, len);
	if (rc == -ESTALE) {
		char name[GEN_NAME + 1];

		(void)snprintf(name, sizeof name, "/%s", image.class_name);
		return fail_gone(s, name, err);
	}
	if (rc < 0) {
		errno = -rc;
		return err_errno(err, "cannot write %s/%s/%s", s->path,
		    image.class_name, image.file_name);
	}
	(void)crash_point("gen.renamed");	/* no step is left to fail */
	return 0;
}
