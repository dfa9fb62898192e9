/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_source_dir.c: tests of cache/source.c, source_dir.c and source_file.c:
 * folders as they should be and as they should not, and files that change.
 *
 * pread() and fstat() are defined here, so that a test can do something to a
 * file while it is read.
 */

#include <config.h>

#include "cache/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/io.h"
#include "cache/messages.h"
#include "cache/source_file.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

static char top[FOLDER_PATH];		/* holds root/ and what is outside */
static char root[FOLDER_PATH + 8];
static int dir = -1;			/* root/ */

/*--- a file system that is not kind --------------------------------------*/

enum trick { NONE, SHORT, INTERRUPT, FAIL, APPEND, CUT, TOUCH, LIE_ONCE };
static enum trick trick;
static unsigned nr_preads, nr_fstats;

static void
hurt(const char *name)
{
	const struct timespec times[2] = { { 7, 7 }, { 7, 7 } };
	int f = openat(dir, name, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_true(f >= 0);
	if (trick == APPEND)
		assert_int_equal(write(f, "x", 1), 1);
	else if (trick == CUT)
		assert_int_equal(ftruncate(f, 1), 0);
	else if (trick == TOUCH)
		assert_int_equal(futimens(f, times), 0);
	close(f);
}

ssize_t
pread(int fd, void *bytes, size_t len, off_t at)
{
	nr_preads++;
	if (trick == FAIL || (trick == INTERRUPT && nr_preads % 2 == 1)) {
		errno = trick == FAIL ? EIO : EINTR;
		return -1;
	}
	if (trick == APPEND || trick == CUT || trick == TOUCH)
		hurt("f");
	if ((trick == SHORT || trick == INTERRUPT) && len > 3)
		len = 3;
	return syscall(SYS_pread64, fd, bytes, len, at);
}

int
fstat(int fd, struct stat *st)
{
	int rc = fstatat(fd, "", st, AT_EMPTY_PATH);

	/* Of the file: the root is looked at before. */
	if (rc == 0 && S_ISREG(st->st_mode) && ++nr_fstats == 2 &&
	    trick == LIE_ONCE)
		st->st_mtim.tv_nsec ^= 1;
	return rc;
}

/*--- a folder for each test ----------------------------------------------*/

static int
make_root(void **state)
{
	leak_before(state);
	if (folder_make(top, "unit_source_dir") != 0)
		return -1;
	(void)snprintf(root, sizeof root, "%s/root", top);
	if (mkdir(root, 0755) != 0)
		return -1;
	dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	trick = NONE;
	return dir < 0 ? -1 : 0;
}

static int
remove_root(void **state)
{
	io_close(&dir);
	return folder_remove(top) != 0 ? -1 : leak_after(state);
}

#define DIR_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, make_root, remove_root)

static void
put_file(int at, const char *name, const char *text)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static struct source *
open_source(void)
{
	struct source *s;
	struct ds_err err;

	if (source_open(&s, root, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void
list(struct source *s, struct listing *l)
{
	uint64_t total = 0;
	struct ds_err err;
	int fd = source_list(s, &err);

	if (fd < 0)
		fail_msg("%s", err.text);
	if (listing_map(l, fd, &err) < 0 ||
	    listing_check(l, 0, l->head->nr_items, &total, &err) < 0)
		fail_msg("%s", err.text);
	close(fd);
}

/* Lists, compares the names with those given, in order, and counts. */
static struct source_notes
expect(const char *const *names, unsigned nr)
{
	struct source *s = open_source();
	struct source_notes notes;
	struct listing l;

	list(s, &l);
	assert_int_equal(l.head->nr_items, nr);
	for (unsigned i = 0; i < nr; i++)
		assert_string_equal(listing_name(&l, i), names[i]);
	notes = s->notes;
	listing_unmap(&l);
	source_close(&s);
	return notes;
}

/* One item: 0 or -errno; the bytes have an end added. */
static int
read_item(struct source *s, const struct listing *l, uint64_t i, char *bytes,
    struct ds_err *err)
{
	int rc;

	nr_preads = nr_fstats = 0;
	rc = source_read(s, listing_name(l, i), &l->items[i], bytes, err);
	if (rc == 0)
		bytes[l->items[i].size] = '\0';
	return rc;
}

/*--- listing -------------------------------------------------------------*/

static void
lists_and_reads(void **state)
{
	static const char *const names[] = { "a/b/deep", "a/x", "empty", "f" };
	static const char *const texts[] = { "dd", "xxx", "", "ffff" };
	struct source_notes notes;
	struct source *s;
	struct listing l;
	struct ds_err err;
	char bytes[8];

	(void)state;
	assert_int_equal(mkdirat(dir, "a", 0755), 0);
	assert_int_equal(mkdirat(dir, "a/b", 0755), 0);
	assert_int_equal(mkdirat(dir, "a/none", 0755), 0);
	for (unsigned i = 0; i < 4; i++)
		put_file(dir, names[i], texts[i]);
	put_file(dir, ".hidden", "not data");
	assert_int_equal(mkdirat(dir, ".folder", 0755), 0);
	put_file(dir, ".folder/f", "nor this");
	notes = expect(names, 4);
	assert_int_equal(notes.hidden, 2);
	s = open_source();
	list(s, &l);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(read_item(s, &l, i, bytes, &err), 0);
		assert_string_equal(bytes, texts[i]);
		assert_int_equal(l.items[i].size, strlen(texts[i]));
		assert_int_equal(l.items[i].shard_len, 0);
	}
	listing_unmap(&l);
	source_close(&s);
	source_close(&s);
}

static void
uri_is_canonical(void **state)
{
	char path[sizeof root + 32];
	struct source *s, *t;
	struct ds_err err;
	uint64_t stamp = 1;

	(void)state;
	assert_int_equal(mkdirat(dir, "a", 0755), 0);
	(void)snprintf(path, sizeof path, "%s/a/..//./", root);
	assert_int_equal(source_open(&s, path, &err), 0);
	t = open_source();
	assert_string_equal(source_uri(s), source_uri(t));
	assert_int_equal(source_uri(s)[0], '/');
	assert_int_equal(source_stamp(s, &stamp, &err), 0);
	assert_int_equal(stamp, 0);
	source_close(&s);
	source_close(&t);
}

static void
bad_uris(void **state)
{
	char path[sizeof root + 8];
	struct source *s;
	struct ds_err err;

	(void)state;
	put_file(dir, "f", "x");
	assert_int_equal(source_open(&s, "", &err), -EINVAL);
	(void)snprintf(path, sizeof path, "%s/none", root);
	assert_int_equal(source_open(&s, path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/none"));
	(void)snprintf(path, sizeof path, "%s/f", root);
	assert_int_equal(source_open(&s, path, &err), -ENOTDIR);
	assert_non_null(strstr(err.text, "tar:PATH"));
}

/* Row 25. */
static void
names_are_byte_exact(void **state)
{
	static char longest[256];
	static const char *const names[] = {
		"\x1b[31mred", " ", "%s%n", "-rf", "<script>", "\\", "a\nb",
		longest, "quote\"'", "\xff\xfe",
	};

	(void)state;
	memset(longest, 'n', 255);
	for (unsigned i = 0; i < 10; i++)
		put_file(dir, names[(i * 3) % 10], "x");
	(void)expect(names, 10);
}

/* Rows 22 and 23. */
static void
links(void **state)
{
	static const char *const names[] = {
		"a/f", "chain", "good", "out/up",
	};
	struct source_notes notes;
	struct source *s;
	struct listing l;
	struct ds_err err;
	char outside[sizeof top + 16], bytes[8];

	(void)state;
	(void)snprintf(outside, sizeof outside, "%s/secret", top);
	put_file(AT_FDCWD, outside, "secret");
	assert_int_equal(mkdirat(dir, "a", 0755), 0);
	assert_int_equal(mkdirat(dir, "out", 0755), 0);
	put_file(dir, "a/f", "ff");
	assert_int_equal(symlinkat("a/f", dir, "good"), 0);
	assert_int_equal(symlinkat("good", dir, "chain"), 0);
	assert_int_equal(symlinkat("../a/f", dir, "out/up"), 0);
	assert_int_equal(symlinkat("loop", dir, "loop"), 0);
	assert_int_equal(symlinkat("none", dir, "dangling"), 0);
	assert_int_equal(symlinkat("a", dir, "folder"), 0);
	assert_int_equal(symlinkat("..", dir, "parent"), 0);
	assert_int_equal(symlinkat(outside, dir, "absolute"), 0);
	assert_int_equal(symlinkat("../secret", dir, "relative"), 0);
	assert_int_equal(symlinkat("/proc/self/fd/0", dir, "magic"), 0);
	notes = expect(names, 4);
	assert_int_equal(notes.links, 7);
	s = open_source();
	list(s, &l);
	assert_int_equal(read_item(s, &l, 2, bytes, &err), 0);
	assert_string_equal(bytes, "ff");
	assert_int_equal(l.items[2].ino, l.items[0].ino);
	/* Turned to lead out after it was listed. */
	assert_int_equal(unlinkat(dir, "good", 0), 0);
	assert_int_equal(symlinkat("../secret", dir, "good"), 0);
	assert_int_equal(read_item(s, &l, 2, bytes, &err), -EXDEV);
	assert_non_null(strstr(err.text, "/good: a link that leads out"));
	listing_unmap(&l);
	source_close(&s);
}

/* Row 24. */
static void
too_deep(void **state)
{
	struct source *s = open_source();
	struct listing l;
	struct ds_err err;
	int at = dup(dir), next;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		if (i == SOURCE_MAX_DEPTH) {
			put_file(at, "bottom", "x");
			list(s, &l);
			assert_int_equal(l.head->nr_items, 1);
			listing_unmap(&l);
		}
		assert_int_equal(mkdirat(at, "d", 0755), 0);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
	assert_int_equal(source_list(s, &err), -ELOOP);
	assert_non_null(strstr(err.text, "d/d/d"));
	assert_non_null(strstr(err.text, "more than 64 folders deep"));
	source_close(&s);
}

/* Row 26: 16 folders of 254 bytes and their slashes are 4080. */
static void
longer_than_a_path(void **state)
{
	char part[255], file[16];
	struct source *s = open_source();
	struct listing l;
	struct ds_err err;
	char bytes[8];
	int at = dup(dir), next;

	(void)state;
	memset(part, 'p', 254);
	part[254] = '\0';
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(mkdirat(at, part, 0755), 0);
		next = openat(at, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	memset(file, 'f', 15);
	file[15] = '\0';
	put_file(at, file, "yes");		/* 4095 bytes: the last */
	put_file(at, "ffffffffffffffff", "no");
	assert_int_equal(mkdirat(at, "fffffffffffffff_", 0755), 0);
	assert_int_equal(mkdirat(at, "folder", 0755), 0);
	assert_int_equal(mkdirat(at, "folder_of_15_by", 0755), 0);
	put_file(at, "folder_of_15_by/x", "no");
	put_file(at, "folder/12345678", "no!");
	close(at);
	list(s, &l);
	assert_int_equal(s->notes.too_long, 3);
	assert_int_equal(l.head->nr_items, 2);
	assert_int_equal(l.items[0].name_len, LISTING_NAME_MAX);
	assert_int_equal(read_item(s, &l, 0, bytes, &err), 0);
	assert_string_equal(bytes, "yes");
	trick = FAIL;
	assert_int_equal(read_item(s, &l, 0, bytes, &err), -EIO);
	assert_non_null(strstr(err.text, ": Input/output error"));
	listing_unmap(&l);
	source_close(&s);
}

/* Row 27: named as pictures. */
static void
not_files(void **state)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct source_notes notes;
	struct source *s;
	struct listing l;
	struct ds_err err;
	char bytes[8];
	int sock;

	(void)state;
	assert_int_equal(mkfifoat(dir, "fifo.jpg", 0644), 0);
	assert_int_equal(mkdirat(dir, "folder.jpg", 0755), 0);
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)snprintf(un.sun_path, sizeof un.sun_path, "/proc/self/fd/%d/s.jpg",
	    dir);
	assert_int_equal(bind(sock, (struct sockaddr *)&un, sizeof un), 0);
	close(sock);
	notes = expect(NULL, 0);
	assert_int_equal(notes.others, 2);
	/* A file when it was listed. */
	put_file(dir, "f", "ffff");
	s = open_source();
	list(s, &l);
	assert_int_equal(unlinkat(dir, "f", 0), 0);
	assert_int_equal(mkfifoat(dir, "f", 0644), 0);
	assert_int_equal(read_item(s, &l, 0, bytes, &err), -EINVAL);
	assert_non_null(strstr(err.text, "/f: not a regular file"));
	assert_int_equal(unlinkat(dir, "f", 0), 0);
	assert_int_equal(mkdirat(dir, "f", 0755), 0);
	assert_int_equal(read_item(s, &l, 0, bytes, &err), -EINVAL);
	listing_unmap(&l);
	source_close(&s);
}

/* Row 28; root may read everything. */
static void
not_permitted(void **state)
{
	static const char *const names[] = { "f" };
	struct source_notes notes;
	struct source *s;
	struct listing l;
	struct ds_err err;
	char bytes[8];

	(void)state;
	put_file(dir, "f", "x");
	if (geteuid() == 0)
		return;
	assert_int_equal(mkdirat(dir, "closed", 0), 0);
	assert_int_equal(mkdirat(dir, "blind", 0755), 0);
	put_file(dir, "blind/x", "x");
	assert_int_equal(fchmodat(dir, "blind", 0400, 0), 0);
	assert_int_equal(fchmodat(dir, "f", 0, 0), 0);
	notes = expect(names, 1);
	assert_int_equal(notes.unreadable, 2);
	s = open_source();
	list(s, &l);
	assert_int_equal(read_item(s, &l, 0, bytes, &err), -EACCES);
	assert_non_null(strstr(err.text, "/f: Permission denied"));
	listing_unmap(&l);
	source_close(&s);
	assert_int_equal(chmod(root, 0100), 0);
	assert_int_equal(source_open(&s, root, &err), -EACCES);
	assert_int_equal(chmod(root, 0700), 0);
	assert_int_equal(fchmodat(dir, "blind", 0700, 0), 0);
}

/* Row 31. */
static void
too_large(void **state)
{
	static const char *const names[] = { "most" };
	struct source_notes notes;
	struct listing_item key = { .size = SOURCE_ITEM_MAX + 1 };
	struct source *s;
	struct ds_err err;
	int fd, rc;

	(void)state;
	put_file(dir, "most", "");
	put_file(dir, "sparse", "");
	fd = openat(dir, "most", O_WRONLY | O_CLOEXEC);
	rc = ftruncate(fd, SOURCE_ITEM_MAX);
	close(fd);
	fd = openat(dir, "sparse", O_WRONLY | O_CLOEXEC);
	rc |= ftruncate(fd, INT64_C(1) << 40);
	close(fd);
	if (rc != 0) {
		print_message("no sparse files of 1 TiB here\n");
		return;
	}
	notes = expect(names, 1);
	assert_int_equal(notes.too_large, 1);
	s = open_source();
	assert_int_equal(source_read(s, "sparse", &key, NULL, &err), -EFBIG);
	source_close(&s);
}

/*--- reading -------------------------------------------------------------*/

/* Reads "f" under a trick. */
static int
read_f(enum trick t, char *bytes, struct ds_err *err)
{
	struct source *s;
	struct listing l;
	int rc;

	(void)unlinkat(dir, "f", 0);
	put_file(dir, "f", "0123456789");
	s = open_source();
	list(s, &l);
	trick = t;
	rc = read_item(s, &l, 0, bytes, err);
	trick = NONE;
	listing_unmap(&l);
	source_close(&s);
	return rc;
}

static void
short_and_interrupted(void **state)
{
	struct ds_err err;
	char bytes[16];

	(void)state;
	assert_int_equal(read_f(SHORT, bytes, &err), 0);
	assert_string_equal(bytes, "0123456789");
	assert_int_equal(nr_preads, 4);
	assert_int_equal(read_f(INTERRUPT, bytes, &err), 0);
	assert_string_equal(bytes, "0123456789");
	assert_int_equal(read_f(FAIL, bytes, &err), -EIO);
	assert_non_null(strstr(err.text, "/f: Input/output error"));
}

/* Row 29. */
static void
changes_while_read(void **state)
{
	static const enum trick tricks[] = { APPEND, CUT, TOUCH };
	struct ds_err err;
	char bytes[16];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(read_f(tricks[i], bytes, &err), -ESTALE);
		assert_non_null(strstr(err.text, "/f: changed"));
	}
	/* Once only, and then it is the listed one again. */
	assert_int_equal(read_f(LIE_ONCE, bytes, &err), 0);
	assert_string_equal(bytes, "0123456789");
	assert_int_equal(nr_preads, 2);
}

/* Rows 28 and 30. */
static void
changes_after_listing(void **state)
{
	static const enum trick tricks[] = { APPEND, CUT, TOUCH };
	struct source *s = open_source();
	struct listing l;
	struct ds_err err;
	char bytes[16];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		put_file(dir, "f", "0123456789");
		list(s, &l);
		trick = tricks[i];
		hurt("f");
		trick = NONE;
		assert_int_equal(read_item(s, &l, 0, bytes, &err), -ESTALE);
		assert_non_null(strstr(err.text, "changed since it was listed"));
		assert_int_equal(nr_preads, 0);
		assert_int_equal(unlinkat(dir, "f", 0), 0);
		assert_int_equal(read_item(s, &l, 0, bytes, &err), -ENOENT);
		assert_non_null(strstr(err.text, "/f: No such file"));
		listing_unmap(&l);
	}
	/* Another file with the same size and time. */
	put_file(dir, "f", "0123456789");
	put_file(dir, "g", "abcdefghij");
	trick = TOUCH;
	hurt("f");
	hurt("g");
	trick = NONE;
	list(s, &l);
	assert_int_equal(renameat(dir, "g", dir, "f"), 0);
	assert_int_equal(read_item(s, &l, 0, bytes, &err), -ESTALE);
	listing_unmap(&l);
	source_close(&s);
}

static void
strange_names_are_not_read(void **state)
{
	struct listing_item key = { .size = 1 };
	struct source *s = open_source();
	struct ds_err err;
	char byte;

	(void)state;
	assert_int_equal(source_read(s, "../x", &key, &byte, &err), -EBADMSG);
	assert_int_equal(source_read(s, "/x", &key, &byte, &err), -EBADMSG);
	assert_int_equal(source_read(s, "", &key, &byte, &err), -EBADMSG);
	key.shard_len = 9;
	assert_int_equal(source_read(s, "x", &key, &byte, &err), -EBADMSG);
	source_close(&s);
}

static void
check_both(const char *name, bool good, bool good_plain)
{
	int fd = beneath_open(dir, name, O_RDONLY | O_NONBLOCK);
	int plain = beneath_open_plain(dir, name, O_RDONLY | O_NONBLOCK);

	assert_int_equal(fd >= 0, good);
	assert_int_equal(plain >= 0, good_plain);
	io_close(&fd);
	io_close(&plain);
}

static void
without_openat2(void **state)
{
	char longer[NAME_MAX + 8];

	(void)state;
	assert_int_equal(mkdirat(dir, "a", 0755), 0);
	put_file(dir, "a/f", "ff");
	assert_int_equal(symlinkat("a", dir, "l"), 0);
	assert_int_equal(symlinkat("f", dir, "a/m"), 0);
	assert_int_equal(symlinkat("/", dir, "out"), 0);
	memset(longer, 'x', sizeof longer);
	memcpy(longer, "a/", 2);
	memcpy(longer + sizeof longer - 3, "/y", 3);
	check_both("a/f", true, true);
	check_both("a//f", true, true);
	check_both("./a/./f", true, true);
	check_both("a/", true, true);
	check_both("l/f", true, false);
	check_both("a/m", true, false);
	check_both("out/tmp", false, false);
	check_both("out", false, false);
	check_both("a/none", false, false);
	check_both("a/f/x", false, false);
	check_both("/", false, false);
	check_both("../root/a/f", false, false);
	check_both("", false, false);
	check_both(longer, false, false);
}

UNIT_MAIN(
    DIR_UNIT(lists_and_reads), DIR_UNIT(uri_is_canonical), DIR_UNIT(bad_uris),
    DIR_UNIT(names_are_byte_exact), DIR_UNIT(links), DIR_UNIT(too_deep),
    DIR_UNIT(longer_than_a_path), DIR_UNIT(not_files), DIR_UNIT(not_permitted),
    DIR_UNIT(too_large), DIR_UNIT(short_and_interrupted),
    DIR_UNIT(changes_while_read), DIR_UNIT(changes_after_listing),
    DIR_UNIT(strange_names_are_not_read), DIR_UNIT(without_openat2))
