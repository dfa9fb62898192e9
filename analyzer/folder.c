/* SPDX-License-Identifier: Apache-2.0
 *
 * folder.c: the folder through which `destall profile` and its job speak.
 * Runs in the command only.
 */

#include <config.h>

#include "analyzer/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/list.h"
#include "base/must.h"

#define READ_AHEAD	(64u * JOURNAL_RECORD)
#define MAX_FILES	4096u	/* journals: a job of so many processes */

/*--- the folder ----------------------------------------------------------*/

/* In memory, if there is such a place of the user's own. */
static const char *
find_place(void)
{
	const char *place = getenv("XDG_RUNTIME_DIR");

	if (place == NULL || place[0] != '/' || access(place, W_OK) != 0)
		place = getenv("TMPDIR");
	return place != NULL && place[0] == '/' ? place : "/tmp";
}

static int
make_folder(struct folder *s, struct ds_err *err)
{
	folder_sweep(find_place());
	(void)snprintf(s->path, sizeof s->path, "%s/%sXXXXXX", find_place(),
	    FOLDER_NAME);
	if (mkdtemp(s->path) == NULL)
		return err_errno(err, "cannot make a folder %s", s->path);
	s->dir = open(s->path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (s->dir < 0) {
		(void)err_errno(err, "%s", s->path);
		(void)rmdir(s->path);
		return err->code;
	}
	return 0;
}

static int
make_schedule(struct folder *s, uint32_t flags, struct ds_err *err)
{
	struct flock lock = { .l_type = F_WRLCK };
	void *p;

	s->lock = openat(s->dir, SCHEDULE_FILE,
	    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->lock < 0 || ftruncate(s->lock, sizeof *s->schedule) != 0 ||
	    fallocate(s->lock, 0, 0, sizeof *s->schedule) != 0)
		return err_errno(err, "%s/%s", s->path, SCHEDULE_FILE);
	p = mmap(NULL, sizeof *s->schedule, PROT_READ | PROT_WRITE, MAP_SHARED,
	    s->lock, 0);
	if (p == MAP_FAILED)
		return err_errno(err, "%s/%s", s->path, SCHEDULE_FILE);
	s->schedule = p;
	s->schedule->magic = SCHEDULE_MAGIC;
	s->schedule->layout = SCHEDULE_LAYOUT;
	s->schedule->flags = flags;
	s->schedule->pid = (uint32_t)getpid();
	if (fcntl(s->lock, F_OFD_SETLK, &lock) != 0)
		return err_errno(err, "cannot lock %s/%s", s->path,
		    SCHEDULE_FILE);
	return 0;
}

int
folder_open(struct folder *s, uint32_t flags, struct ds_err *err)
{
	int rc;

	*s = (struct folder){ .dir = -1, .lock = -1 };
	rc = make_folder(s, err);
	return rc < 0 ? rc : make_schedule(s, flags, err);
}

void
folder_empty(int dir)
{
	int fd = openat(dir, ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (list == NULL) {
		io_close(&fd);
		return;
	}
	while ((entry = readdir(list)) != NULL)
		(void)unlinkat(dir, entry->d_name, 0);
	(void)closedir(list);
}

void
folder_close(struct folder *s)
{
	if (s->schedule != NULL)
		must(munmap(s->schedule, sizeof *s->schedule) == 0);
	if (s->path[0] != '\0' && s->dir >= 0) {
		folder_empty(s->dir);
		(void)rmdir(s->path);
		io_close(&s->lock);
		io_close(&s->dir);
	}
	free(s->files);
	*s = (struct folder){ .dir = -1, .lock = -1 };
}

/*--- the schedule --------------------------------------------------------*/

bool
folder_add(struct folder *s, enum block_kind kind, uint32_t batches,
    uint32_t workers)
{
	struct block *b;

	if (s->nr_blocks == SCHEDULE_BLOCKS)
		return false;
	b = &s->schedule->block[s->nr_blocks++];
	b->kind = kind;
	b->batches = batches;
	b->workers = workers;
	/* release: pairs with the load of who waits for it; the rest is there */
	atomic_store_explicit(&b->id, s->nr_blocks, memory_order_release);
	return true;
}

void
folder_leave(struct folder *s, uint32_t how)
{
	/* relaxed: it speaks for nothing else */
	atomic_store_explicit(&s->schedule->leave, how, memory_order_relaxed);
}

/*--- journals ------------------------------------------------------------*/

static bool
is_journal(const char *name)
{
	size_t len = strlen(name), end = strlen(JOURNAL_SUFFIX);

	return len > end && len < sizeof ((struct folder_file *)0)->name &&
	    strcmp(name + len - end, JOURNAL_SUFFIX) == 0;
}

static bool
is_known(const struct folder *s, const char *name)
{
	for (size_t i = 0; i < s->nr_files; i++) {
		if (strcmp(s->files[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Of a name that is_journal() found to have room. */
static void
add_file(struct folder *s, const char *name)
{
	struct folder_file *p;

	s->files = list_grow(s->files, s->nr_files, sizeof *s->files);
	p = &s->files[s->nr_files++];
	*p = (struct folder_file){ 0 };
	memcpy(p->name, name, strlen(name) + 1);
}

static void
find_files(struct folder *s)
{
	struct dirent *entry;
	DIR *dir = opendir(s->path);

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (s->nr_files < MAX_FILES && is_journal(entry->d_name) &&
		    !is_known(s, entry->d_name))
			add_file(s, entry->d_name);
	}
	if (dir != NULL)
		(void)closedir(dir);
}

/* Bytes that the record at p takes with its text; 0: it is not all there;
 * negative: it is none. */
static int64_t
measure(const unsigned char *p, size_t len, struct journal_record *r)
{
	size_t whole;

	if (len < sizeof *r)
		return 0;
	memcpy(r, p, sizeof *r);
	if (r->kind == JOURNAL_NONE || r->kind >= JOURNAL_KINDS ||
	    r->text > JOURNAL_TEXT_MAX)
		return -1;
	whole = sizeof *r + (r->text + JOURNAL_RECORD - 1u) / JOURNAL_RECORD *
	    JOURNAL_RECORD;
	return len < whole ? 0 : (int64_t)whole;
}

static void
give(folder_record_f *each, void *arg, size_t process,
    const struct journal_record *r, const unsigned char *p)
{
	char text[JOURNAL_TEXT_MAX + 1];

	memcpy(text, p + sizeof *r, r->text);
	text[r->text] = '\0';
	each(arg, process, r, text);
}

/* None is kept open: a job of many epochs has more workers, one after the other,
 * than we may have descriptors. */
static int
open_file(const struct folder *s, const struct folder_file *f)
{
	struct stat st;

	if (f->is_broken ||
	    fstatat(s->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode) || (uint64_t)st.st_size <= f->at)
		return -1;
	return openat(s->dir, f->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static void
read_file(struct folder *s, size_t i, folder_record_f *each, void *arg)
{
	unsigned char bytes[READ_AHEAD + JOURNAL_TEXT_MAX];
	struct folder_file *f = &s->files[i];
	int fd = open_file(s, f);
	struct journal_record r;
	int64_t taken = fd >= 0;
	ssize_t got;
	size_t at;

	while (!f->is_broken && taken > 0) {
		got = pread(fd, bytes, sizeof bytes, (off_t)f->at);
		taken = 0;
		for (at = 0; got > 0 && (taken = measure(bytes + at,
		    (size_t)got - at, &r)) > 0; at += (size_t)taken)
			give(each, arg, i, &r, bytes + at);
		f->at += at;
		f->is_broken = taken < 0;
		s->nr_broken += f->is_broken;
		taken = got == (ssize_t)sizeof bytes;	/* there is more */
	}
	io_close(&fd);
}

void
folder_read(struct folder *s, folder_record_f *each, void *arg)
{
	find_files(s);
	for (size_t i = 0; i < s->nr_files; i++)
		read_file(s, i, each, arg);
}
