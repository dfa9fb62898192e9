/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_source_tar.c: tests of cache/tar.c, tar_pax.c and source_tar.c over
 * archives that are made here block by block, and broken.  What tar programs
 * make is a scenario (c0410).
 */

#include <config.h>

#include "cache/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "cache/source.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

#define BLOCK	512u
#define MAX	(64u << 10)

/*--- an archive in memory ------------------------------------------------*/

static struct archive {
	char	bytes[MAX];
	size_t	len;
	size_t	piece;		/* what a read gives at most; 0 all */
	int	error;		/* of reads behind the first block */
} a;

static ssize_t
read_archive(void *arg, uint64_t at, void *bytes, size_t len)
{
	const struct archive *x = arg;

	if (x->error != 0 && at >= BLOCK)
		return -x->error;
	if (at >= x->len)
		return 0;
	if (len > x->len - at)
		len = (size_t)(x->len - at);
	if (x->piece > 0 && len > x->piece)
		len = x->piece;
	memcpy(bytes, x->bytes + at, len);
	return (ssize_t)len;
}

static char *
last_header(size_t at)
{
	return a.bytes + at;
}

static void
set_sum(char *h)
{
	unsigned sum = 0;

	memset(h + 148, ' ', 8);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	(void)snprintf(h + 148, 8, "%06o", sum);
}

/* A header of ustar; where it lies. */
static size_t
put_header(const char *name, char type, size_t size)
{
	size_t at = a.len;
	char *h = a.bytes + at;

	memset(h, 0, BLOCK);
	memcpy(h, name, strlen(name));
	memcpy(h + 100, "0000644", 8);
	(void)snprintf(h + 124, 12, "%011o", (unsigned)size);
	(void)snprintf(h + 136, 12, "%011o", 0u);
	h[156] = type;
	memcpy(h + 257, "ustar\0" "00", 8);
	set_sum(h);
	a.len += BLOCK;
	return at;
}

static void
put_body(const void *bytes, size_t len)
{
	size_t room = (len + BLOCK - 1) / BLOCK * BLOCK;

	memset(a.bytes + a.len, 0, room);
	memcpy(a.bytes + a.len, bytes, len);
	a.len += room;
}

static size_t
put_file(const char *name, const char *text)
{
	size_t at = put_header(name, '0', strlen(text));

	put_body(text, strlen(text));
	return at;
}

static void
put_extension(char type, const void *body, size_t len)
{
	put_header("ext", type, len);
	put_body(body, len);
}

static void
put_pax(const char *records)
{
	put_extension('x', records, strlen(records));
}

static void
put_end(void)
{
	memset(a.bytes + a.len, 0, 2 * BLOCK);
	a.len += 2 * BLOCK;
}

static int
begin(void **state)
{
	a.len = a.piece = 0;
	a.error = 0;
	return leak_before(state);
}

#define TAR_UNIT(test)	cmocka_unit_test_setup_teardown(test, begin, leak_after)

/* Names and texts, alternating, then NULL; gives what was skipped. */
static uint64_t
expect(const char *const *pairs)
{
	struct tar_member m;
	struct ds_err err;
	struct tar *t;
	uint64_t skipped;
	int rc;

	assert_int_equal(tar_open(&t, read_archive, &a, a.len, &err), 0);
	while ((rc = tar_next(t, &m, &err)) == 1) {
		assert_non_null(pairs[0]);
		assert_string_equal(m.name, pairs[0]);
		assert_int_equal(m.name_len, strlen(pairs[0]));
		assert_int_equal(m.size, strlen(pairs[1]));
		assert_memory_equal(a.bytes + m.offset, pairs[1], m.size);
		pairs += 2;
	}
	if (rc < 0)
		fail_msg("%s", err.text);
	assert_null(pairs[0]);
	skipped = tar_skipped(t);
	tar_close(&t);
	return skipped;
}

#define EXPECT(...) expect((const char *const[]){ __VA_ARGS__, NULL })

/* To the end or to the first fault. */
static int
judge(struct ds_err *err)
{
	struct tar_member m;
	struct tar *t;
	int rc;

	rc = tar_open(&t, read_archive, &a, a.len, err);
	if (rc < 0)
		return rc;
	do {
		rc = tar_next(t, &m, err);
	} while (rc == 1);
	tar_close(&t);
	return rc;
}

static void
expect_refused(size_t at, const char *why)
{
	char want[64];
	struct ds_err err;

	assert_int_equal(judge(&err), -EBADMSG);
	(void)snprintf(want, sizeof want, "byte %zu: ", at);
	if (strncmp(err.text, want, strlen(want)) != 0 ||
	    strstr(err.text, why) == NULL)
		fail_msg("\"%s\" is not \"%s...%s\"", err.text, want, why);
}

/*--- what is right -------------------------------------------------------*/

static void
plain_members(void **state)
{
	(void)state;
	put_file("a/one", "1");
	put_file("empty", "");
	put_file("./b", "bbb");
	put_end();
	assert_int_equal(EXPECT("a/one", "1", "empty", "", "./b", "bbb"), 0);
	a.piece = 100;
	assert_int_equal(EXPECT("a/one", "1", "empty", "", "./b", "bbb"), 0);
}

static void
old_headers_and_prefixes(void **state)
{
	char full[101], path[300];
	size_t at;

	(void)state;
	memset(full, 'n', 100);
	full[100] = '\0';
	at = put_file(full, "no end in the field");
	at = put_file(full, "with a prefix");
	memset(last_header(at) + 345, 'p', 155);
	set_sum(last_header(at));
	(void)snprintf(path, sizeof path, "%.155s/%s",
	    "pppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	    "pppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
	    "pppppppppppppppppppppppppppppppppppppppppppp", full);
	at = put_file("v7", "no magic");
	memset(last_header(at) + 257, 0, 8);
	memset(last_header(at) + 345, 'p', 20);
	set_sum(last_header(at));
	at = put_file("gnu", "no prefix");
	memcpy(last_header(at) + 257, "ustar  ", 8);
	memset(last_header(at) + 345, 'p', 20);
	set_sum(last_header(at));
	put_end();
	EXPECT(full, "no end in the field", path, "with a prefix",
	    "v7", "no magic", "gnu", "no prefix");
}

static void
only_files_are_members(void **state)
{
	static const char types[] = "123456V";
	size_t at;

	(void)state;
	for (unsigned i = 0; i < sizeof types - 1; i++)
		put_header("../../x", types[i], i % 2 == 0 ? 0 : 99999);
	put_file("folder/", "");
	at = put_file("f", "f");
	last_header(at)[156] = '\0';
	set_sum(last_header(at));
	at = put_file("g", "g");
	last_header(at)[156] = '7';
	set_sum(last_header(at));
	put_end();
	assert_int_equal(EXPECT("f", "f", "g", "g"), sizeof types);
}

static void
extensions(void **state)
{
	static const char long_name[] = "long/name";

	(void)state;
	put_extension('g', "18 comment=global\n", 18);
	put_extension('L', long_name, sizeof long_name);
	put_file("short", "1");
	put_pax("17 path=pax/name\n20 atime=1234567890\n");
	put_file("short", "2");
	put_extension('L', long_name, sizeof long_name);
	put_pax("17 path=pax/name\n");
	put_file("short", "3");
	put_pax("17 path=pax/name\n8 path=\n");	/* taken back */
	put_file("short", "4");
	put_pax("17 path=pax/name\n");
	put_header("link", '2', 0);		/* was for this one */
	put_file("short", "5");
	put_extension('K', long_name, sizeof long_name);
	put_file("short", "6");
	put_end();
	EXPECT("long/name", "1", "pax/name", "2", "pax/name", "3",
	    "short", "4", "short", "5", "short", "6");
}

static void
sizes(void **state)
{
	size_t at;

	(void)state;
	put_pax("9 size=3\n");
	at = put_header("pax", '0', 0);
	put_body("abc", 3);
	at = put_header("binary", '0', 0);
	memcpy(last_header(at) + 124, "\x80\0\0\0\0\0\0\0\0\0\0\3", 12);
	set_sum(last_header(at));
	put_body("def", 3);
	at = put_header("blanks", '0', 0);
	memcpy(last_header(at) + 124, "        3 \0 ", 12);
	set_sum(last_header(at));
	put_body("ghi", 3);
	at = put_header("nothing", '0', 0);
	memset(last_header(at) + 124, 0, 12);
	set_sum(last_header(at));
	put_end();
	EXPECT("pax", "abc", "binary", "def", "blanks", "ghi", "nothing", "");
}

static void
ends(void **state)
{
	size_t len;

	(void)state;
	put_file("a", "a");
	len = a.len;
	expect_refused(len, "no end mark");
	put_end();
	EXPECT("a", "a");
	a.len -= BLOCK;			/* one block is a mark too */
	EXPECT("a", "a");
	a.len = len;
	for (unsigned i = 0; i < 20; i++)
		put_end();
	EXPECT("a", "a");
	put_file("b", "b");
	expect_refused(a.len - 2 * BLOCK, "after the end mark");
	a.len = 0;
	expect_refused(0, "no end mark");
	put_end();
	expect((const char *const[]){ NULL });
}

/*--- what is wrong -------------------------------------------------------*/

static void
bad_headers(void **state)
{
	static const char *const packed[] = {
		"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd\x37zXZ", "BZh9",
	};
	size_t at;

	(void)state;
	put_file("a", "a");
	at = put_file("b", "b");
	put_end();
	last_header(at)[0] ^= 1;
	expect_refused(at, "not a tar header");
	last_header(at)[0] ^= 1;
	memset(last_header(at) + 148, 'x', 8);
	expect_refused(at, "not a tar header");
	for (unsigned i = 0; i < 4; i++) {
		memcpy(a.bytes, packed[i], strlen(packed[i]));
		expect_refused(0, "decompress it first");
	}
}

/* Row 33. */
static void
bad_sizes(void **state)
{
	static const char fields[][13] = {
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", /* -1 */
		"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
		"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff",
		"\x80\0\0\1\0\0\0\0\0\0\0\0",
		"\xbf\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		"777777777777", "00000008    ", "-0000000001 ", "12 34       ",
		"0x10        ",
	};
	static const char *const records[] = {
		"11 size=-1\n", "28 size=9223372036854775807\n",
		"29 size=99999999999999999999\n", "11 size=1x\n",
		"28 size=9223372036854775000\n", "15 size=999999\n",
	};
	size_t at;

	(void)state;
	put_file("first", "x");
	at = put_file("second", "y");
	put_end();
	for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		memcpy(last_header(at) + 124, fields[i], 12);
		set_sum(last_header(at));
		expect_refused(at, "");
	}
	for (unsigned i = 0; i < sizeof records / sizeof records[0]; i++) {
		struct ds_err err;

		a.len = 0;
		put_pax(records[i]);
		put_file("f", "x");
		put_end();
		assert_int_equal(judge(&err), -EBADMSG);
		assert_non_null(strstr(err.text, i < 4 ?
		    "a size that is no number" : "cut short"));
	}
}

static void
bad_records(void **state)
{
	static const char *const records[] = {
		"x", "9", "9 ", " path=x\n", "0 path=x\n", "1 path=x\n",
		"2 path=x\n", "8 path=x\n", "11 path=x\n", "9 path=xx",
		"9 pathxx\n", "6 =xx\n", "-9 path=x\n",
		"99999999999999999999999 path=x\n", "9 path=x\n\n",
		"22 GNU.sparse.major=1\n",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof records / sizeof records[0]; i++) {
		a.len = 0;
		put_pax(records[i]);
		put_file("f", "x");
		put_end();
		expect_refused(0, "");
	}
	a.len = 0;
	put_extension('x', "12 path=a\0b\n", 12);
	put_file("f", "x");
	put_end();
	expect_refused(0, "zero byte");
	a.len = 0;
	put_extension('g', "9 path=x\n", 9);
	expect_refused(0, "all members");
}

/* Row 32. */
static void
bad_names(void **state)
{
	static const char *const names[] = {
		"../x", "a/../../x", "/etc/passwd", "..", "",
	};
	static const char *const why[] = {
		"`..'", "`..'", "absolute", "`..'", "empty",
	};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		size_t at;

		a.len = 0;
		put_file("good", "x");
		at = put_file(names[i], "x");
		put_end();
		expect_refused(at, why[i]);
	}
	a.len = 0;
	put_extension('L', "../y", 5);
	put_file("good", "x");
	put_end();
	expect_refused(2 * BLOCK, "`..'");
}

static void
refused_types(void **state)
{
	static const char types[] = "SMDNXA8\xff";

	(void)state;
	for (unsigned i = 0; i < sizeof types - 1; i++) {
		a.len = 0;
		put_header("x", types[i], 0);
		put_end();
		expect_refused(0, types[i] == 'S' ? "sparse" : "");
	}
}

/* Cut at every length: only the whole of it, or up to a mark, is taken. */
static void
cut_short(void **state)
{
	size_t whole, mark;
	struct ds_err err;

	(void)state;
	put_pax("17 path=pax/name\n");
	put_file("a", "aaa");
	put_extension('L', "b", 2);
	put_file("short", "bbb");
	mark = a.len;
	put_end();
	whole = a.len;
	for (a.len = 0; a.len < whole; a.len++) {
		int want = a.len >= mark + BLOCK && a.len % BLOCK == 0 ?
		    0 : -EBADMSG;

		assert_int_equal(judge(&err), want);
	}
	a.len = mark - BLOCK;		/* the body of the last is missing */
	expect_refused(a.len - BLOCK, "larger than what is left");
	/* A file that cannot be read. */
	a.len = whole;
	a.error = EIO;
	a.piece = BLOCK;
	assert_int_equal(judge(&err), -EIO);
	assert_non_null(strstr(err.text, "Input/output error"));
}

static void
extension_without_a_member(void **state)
{
	(void)state;
	put_pax("17 path=pax/name\n");
	put_end();
	expect_refused(2 * BLOCK, "without a member");
	a.len = 0;
	put_extension('L', "b", 2);
	put_end();
	expect_refused(2 * BLOCK, "without a member");
	a.len = 0;
	put_header("ext", 'x', 2u << 20);
	expect_refused(0, "cut short");
}

/*--- as a source ---------------------------------------------------------*/

static char top[FOLDER_PATH];

static int
make_top(void **state)
{
	return begin(state) != 0 ? -1 : folder_make(top, "unit_source_tar");
}

static int
remove_top(void **state)
{
	return folder_remove(top) != 0 ? -1 : leak_after(state);
}

#define SOURCE_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, make_top, remove_top)

/* Writes the archive as a shard; anew: another file. */
static void
put_shard(const char *name)
{
	char path[FOLDER_PATH + 32];
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", top, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, a.bytes, a.len), 0);
	close(fd);
	a.len = 0;
}

static struct source *
open_source(const char *name)
{
	char uri[FOLDER_PATH + 32];
	struct source *s;
	struct ds_err err;

	(void)snprintf(uri, sizeof uri, "tar:%s/%s", top, name);
	if (source_open(&s, uri, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(strncmp(source_uri(s), "tar:/", 5), 0);
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
	assert_int_equal(listing_map(l, fd, &err), 0);
	assert_int_equal(listing_check(l, 0, l->head->nr_items, &total, &err), 0);
	close(fd);
}

static void
put_two_shards(void)
{
	put_file("a", "aa");
	put_file("b/c", "bcbc");
	put_header("l", '2', 0);
	put_end();
	put_shard("one.tar");
	put_file("a", "AA");
	put_end();
	put_shard("two.tar");
	put_file("no", "shard");
	put_shard("three.tgz");
}

static void
folder_of_shards(void **state)
{
	static const char *const names[] = {
		"one.tar/a", "one.tar/b/c", "two.tar/a",
	};
	static const char *const texts[] = { "aa", "bcbc", "AA" };
	struct source *s;
	struct listing l;
	struct ds_err err;
	char bytes[8];

	(void)state;
	put_two_shards();
	s = open_source("");
	list(s, &l);
	assert_int_equal(l.head->nr_items, 3);
	assert_int_equal(s->notes.members, 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_string_equal(listing_name(&l, i), names[i]);
		assert_int_equal(l.items[i].shard_len, 7);
		assert_int_equal(source_read(s, names[i], &l.items[i], bytes,
		    &err), 0);
		assert_memory_equal(bytes, texts[i], l.items[i].size);
	}
	listing_unmap(&l);
	source_close(&s);
}

static void
one_shard_and_its_stamp(void **state)
{
	struct source *s;
	struct listing l;
	struct ds_err err;
	uint64_t folder, one, again, stamp;
	char bytes[8];

	(void)state;
	put_two_shards();
	s = open_source("");
	assert_int_equal(source_stamp(s, &folder, &err), 0);
	source_close(&s);
	s = open_source("one.tar");
	list(s, &l);
	assert_int_equal(l.head->nr_items, 2);
	assert_string_equal(listing_name(&l, 0), "one.tar/a");
	assert_int_equal(source_stamp(s, &one, &err), 0);
	assert_int_equal(source_stamp(s, &again, &err), 0);
	assert_true(one != 0 && one == again && one != folder);
	/* Written anew, one member more. */
	put_file("a", "xx");
	put_file("b/c", "xxxx");
	put_file("d", "d");
	put_end();
	put_shard("one.tar");
	assert_int_equal(source_stamp(s, &stamp, &err), 0);
	assert_true(stamp != one);
	assert_int_equal(source_read(s, "one.tar/a", &l.items[0], bytes, &err),
	    -ESTALE);
	assert_non_null(strstr(err.text, "/one.tar: changed since"));
	assert_null(strstr(err.text, "one.tar/one.tar"));
	listing_unmap(&l);
	source_close(&s);
}

/* Row 35: a key from elsewhere that does not fit the shard. */
static void
keys_out_of_range(void **state)
{
	struct source *s;
	struct listing l;
	struct listing_item key;
	struct ds_err err;
	char bytes[8];

	(void)state;
	put_two_shards();
	s = open_source("");
	list(s, &l);
	key = l.items[0];
	key.offset = UINT64_MAX - 1;
	assert_int_equal(source_read(s, "one.tar/a", &key, bytes, &err), -ESTALE);
	key = l.items[0];
	key.size = UINT64_MAX;
	assert_int_equal(source_read(s, "one.tar/a", &key, bytes, &err), -EFBIG);
	key.size = 1u << 20;
	assert_int_equal(source_read(s, "one.tar/a", &key, bytes, &err), -ESTALE);
	key = l.items[0];
	key.shard_len = 0;
	assert_int_equal(source_read(s, "one.tar/a", &key, bytes, &err), -ENOTDIR);
	listing_unmap(&l);
	source_close(&s);
}

static void
expect_no_list(const char *name, int rc, const char *why)
{
	struct source *s = open_source(name);
	struct ds_err err;

	assert_int_equal(source_list(s, &err), rc);
	if (strstr(err.text, why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
	source_close(&s);
}

static void
bad_shards(void **state)
{
	char path[FOLDER_PATH + 32];
	struct source *s;
	struct ds_err err;

	(void)state;
	expect_no_list("", -ENOENT, "no shards");
	put_file("twice", "1");
	put_file("other", "2");
	put_file("twice", "3");
	put_end();
	put_shard("x.tar");
	expect_no_list("x.tar", -EEXIST,
	    "x.tar/twice: there twice, at bytes 512 and 2560");
	put_file("f", "1");
	put_shard("x.tar");
	expect_no_list("", -EBADMSG, "/x.tar: byte 1024: cut short");
	a.len = 100;
	put_shard("x.tar");
	expect_no_list("", -EBADMSG, "/x.tar: 100 bytes are not whole blocks");
	(void)snprintf(path, sizeof path, "%s/x.tar", top);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
	expect_no_list("", -EINVAL, "/x.tar: not a regular file");
	(void)snprintf(path, sizeof path, "tar:%s/x.tar", top);
	assert_int_equal(source_open(&s, path, &err), -EINVAL);
	assert_int_equal(source_open(&s, "tar:", &err), -EINVAL);
}

UNIT_MAIN(
    TAR_UNIT(plain_members), TAR_UNIT(old_headers_and_prefixes),
    TAR_UNIT(only_files_are_members), TAR_UNIT(extensions), TAR_UNIT(sizes),
    TAR_UNIT(ends), TAR_UNIT(bad_headers), TAR_UNIT(bad_sizes),
    TAR_UNIT(bad_records), TAR_UNIT(bad_names), TAR_UNIT(refused_types),
    TAR_UNIT(cut_short), TAR_UNIT(extension_without_a_member),
    SOURCE_UNIT(folder_of_shards), SOURCE_UNIT(one_shard_and_its_stamp),
    SOURCE_UNIT(keys_out_of_range), SOURCE_UNIT(bad_shards))
