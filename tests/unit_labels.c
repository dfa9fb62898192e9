/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_labels.c: tests of loader/labels.c, label_list.c and lines.c.
 */

#include <config.h>

#include "loader/labels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "loader/label_list.h"
#include "loader/lines.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

static char folder[FOLDER_PATH];
static char list[FOLDER_PATH + 16];
static struct ds_data *data;
static struct labels *labels;
static const uint64_t *items;
static uint64_t nr;
static struct ds_err err;

static void
write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	close(fd);
}

/* A file of the data set; its folders are made. */
static void
add(const char *name)
{
	char path[2 * FOLDER_PATH];
	int at = snprintf(path, sizeof path, "%s/set/%s", folder, name);

	assert_true(at > 0 && (size_t)at < sizeof path);
	for (char *p = path + strlen(folder) + 1; *p != '\0'; p++) {
		if (*p == '/') {
			*p = '\0';
			(void)mkdir(path, 0700);
			*p = '/';
		}
	}
	write_file(path, "x", 1);
}

static int
make_folder(void **state)
{
	leak_before(state);
	assert_int_equal(folder_make(folder, "labels"), 0);
	(void)snprintf(list, sizeof list, "%s/list.txt", folder);
	return 0;
}

static int
remove_folder(void **state)
{
	labels_close(&labels);
	ds_data_close(&data);
	assert_int_equal(folder_remove(folder), 0);
	return leak_after(state);
}

#define LABELS_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

static void
open_set(const char *prefix, const char *what)
{
	char uri[2 * FOLDER_PATH];

	(void)snprintf(uri, sizeof uri, "%s%s/%s", prefix, folder, what);
	if (ds_data_open(&data, NULL, uri, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

static void
open_labels(const char *how)
{
	labels_close(&labels);
	if (labels_open(&labels, how, data, &items, &nr, &err) < 0)
		fail_msg("%s", err.text);
}

/* Sample i is that item, with that label. */
static void
check_sample(uint64_t i, const char *name, int64_t label)
{
	struct ds_info info;

	assert_true(i < nr);
	assert_int_equal(ds_data_info(data, items[i], &info), 0);
	assert_string_equal(info.name, name);
	assert_int_equal(labels_of(labels, i), label);
}

static void
check_refused(const char *how, int rc, const char *text)
{
	struct labels *none = NULL;

	err.text[0] = '\0';
	assert_int_equal(labels_open(&none, how, data, &items, &nr, &err), rc);
	if (strstr(err.text, text) == NULL)
		fail_msg("'%s' does not say '%s'", err.text, text);
	assert_null(none);
	assert_int_equal(labels_open(&none, how, data, &items, &nr, NULL), rc);
}

/*--- folders and none ----------------------------------------------------*/

static void
folders_are_classes_in_the_order_of_their_names(void **state)
{
	(void)state;
	add("b/1.jpg");
	add("b/deep/er/2.PNG");
	add("b/notes.txt");
	add("a/1.JPEG");
	add("a-b/1.webp");	/* before "a/1" among names, behind as class */
	add("empty/readme");
	add("readme");
	open_set("", "set");
	open_labels("folders");
	assert_int_equal(nr, 4);
	check_sample(0, "a-b/1.webp", 1);
	check_sample(1, "a/1.JPEG", 0);
	check_sample(2, "b/1.jpg", 2);
	check_sample(3, "b/deep/er/2.PNG", 2);
	assert_string_equal(labels_class(labels, 0), "a");
	assert_string_equal(labels_class(labels, 1), "a-b");
	assert_string_equal(labels_class(labels, 2), "b");
	assert_null(labels_class(labels, 3));
	assert_null(labels_class(labels, -1));
	assert_null(labels_class(labels, INT64_MIN));
}

static void
pictures_are_told_by_their_names(void **state)
{
	static const char *const names[] = {
		"c/a.BMP", "c/b.jPg", "c/d.jpeg", "c/e.pgm", "c/f.png",
		"c/g.ppm", "c/h.tif", "c/i.TIFF", "c/j.webp", "c/jpg",
		"c/k.gif", "c/l.jpg.txt", "c/m.jp", "c/n.jpgx", "c/o.",
		"c/p.jpg/inside",
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		add(names[i]);
	open_set("", "set");
	open_labels("none");
	assert_int_equal(nr, 9);
	for (uint64_t i = 0; i < nr; i++)
		check_sample(i, names[i], -1);
	assert_null(labels_class(labels, 0));
	open_labels("folders");
	assert_int_equal(nr, 9);
}

static void
a_picture_outside_folders_has_no_class(void **state)
{
	(void)state;
	add("a/1.jpg");
	add("lonely.jpg");
	open_set("", "set");
	check_refused("folders", -EINVAL, "lonely.jpg lies in no folder, so it "
	    "has no class: set labels to none, or to the path of a list");
	open_labels("none");
	assert_int_equal(nr, 2);
}

static void
no_pictures_are_an_error(void **state)
{
	(void)state;
	add("a/readme");
	open_set("", "set");
	check_refused("folders", -ENOENT, "no pictures in it");
	check_refused("none", -ENOENT, "no pictures in it");
	check_refused("folder", -ENOENT, "'folders', 'none' or the path");
}

/* Runs a command in the folder of the test. */
static void
run(const char *command)
{
	static char sh[] = "sh", c[] = "-c";
	char line[2 * FOLDER_PATH];
	char *argv[] = { sh, c, line, NULL };
	int status;
	pid_t pid;

	(void)snprintf(line, sizeof line, "cd %s && %s", folder, command);
	assert_int_equal(posix_spawnp(&pid, sh, NULL, NULL, argv, environ), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* As tar writes them: with and without "./", a class in both shards. */
static void
in_shards_the_members_folders_are_classes(void **state)
{
	(void)state;
	add("dog/1.jpg");
	add("cat/2.jpg");
	add("dog/3.jpg");
	run("mkdir t && tar -C set -cf t/0.tar ./dog/1.jpg ./cat/2.jpg && "
	    "tar -C set -cf t/1.tar dog/3.jpg");
	open_set("tar:", "t");
	open_labels("folders");
	assert_int_equal(nr, 3);
	check_sample(0, "0.tar/./cat/2.jpg", 0);
	check_sample(1, "0.tar/./dog/1.jpg", 1);
	check_sample(2, "1.tar/dog/3.jpg", 1);
	assert_string_equal(labels_class(labels, 0), "cat");
	assert_string_equal(labels_class(labels, 1), "dog");
	ds_data_close(&data);
	run("tar -C set/dog -cf t/2.tar 1.jpg");
	open_set("tar:", "t");
	check_refused("folders", -EINVAL, "2.tar/1.jpg lies in no folder");
}

/*--- lists ---------------------------------------------------------------*/

static void
write_list(const char *text)
{
	write_file(list, text, strlen(text));
}

static void
a_list_gives_order_and_labels(void **state)
{
	(void)state;
	add("b/1.jpg");
	add("a/a b.jpg");
	add("a/other");
	add("#x");
	add("left out.jpg");
	open_set("", "set");
	write_list("# a comment with a blank 7x\n"
	    "\n"
	    "b/1.jpg 7\n"
	    "a/a b.jpg \t 2147483647\n"
	    "././#x\t00\n"
	    "a/other 7");
	open_labels(list);
	assert_int_equal(nr, 4);
	check_sample(0, "b/1.jpg", 7);
	check_sample(1, "a/a b.jpg", 2147483647);
	check_sample(2, "#x", 0);
	check_sample(3, "a/other", 7);
	assert_null(labels_class(labels, 7));
}

static void
a_list_that_is_wrong_names_the_line(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "a.jpg 1\r\n", "list.txt: line 1: ends as DOS" },
		{ "a.jpg 1\n\r\n", "line 2: ends as DOS" },
		{ "\xef\xbb\xbf" "a.jpg 1\n", "line 1: begins with a byte" },
		{ "a.jpg 1\na.jpg 1\n", "line 2: a.jpg is listed already" },
		{ "a.jpg 1\n./a.jpg 1\n", "line 2: a.jpg is listed already" },
		{ "a.jpg 1\n\n#\nb.jpg 1\n", "line 4: b.jpg is not in data" },
		{ "/a.jpg 1\n", "line 1: /a.jpg is not in data set" },
		{ "a.jpg -1\n", "line 1: '-1' is no label" },
		{ "a.jpg +1\n", "line 1: '+1' is no label" },
		{ "a.jpg 1.0\n", "line 1: '1.0' is no label" },
		{ "a.jpg 0x1\n", "line 1: '0x1' is no label" },
		{ "a.jpg,1\n", "line 1: no label: write a path" },
		{ "a.jpg 2147483648\n", "line 1: a label is 2147483647 at" },
		{ "a.jpg 99999999999999999999999\n", "line 1: a label is" },
		{ "a.jpg\n", "line 1: no label" },
		{ "a.jpg \n", "line 1: no label" },
		{ "a.jpg 1 \n", "line 1: no label" },
		{ " \n", "line 1: no label" },
		{ "\t\t\n", "line 1: no label" },
		{ " 1\n", "line 1: no path" },
		{ "./ 1\n", "line 1: no path" },
		{ "1\n", "line 1: no label" },
		{ "a.jpg 1\nx", "line 2: no label" },
	};

	(void)state;
	add("a.jpg");
	open_set("", "set");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		write_list(bad[i].text);
		check_refused(list, -EBADMSG, bad[i].says);
	}
	write_file(list, "a.jpg 1\na\0b 1\n", 14);
	check_refused(list, -EBADMSG, "line 2: holds a NUL byte");
}

static void
a_list_that_cannot_be_read_is_named(void **state)
{
	(void)state;
	add("a.jpg");
	open_set("", "set");
	check_refused(list, -ENOENT, "list.txt: No such file");
	write_list("");
	check_refused(list, -ENOENT, "no sample is listed");
	write_list("# nothing\n\n");
	check_refused(list, -ENOENT, "no sample is listed");
	check_refused("/", -EINVAL, "list of labels /: not a regular file");
	check_refused("/dev/null", -EINVAL, "not a regular file");
	assert_int_equal(unlink(list), 0);
	assert_int_equal(mkfifo(list, 0600), 0);
	check_refused(list, -EINVAL, "not a regular file");
	assert_int_equal(unlink(list), 0);
	write_list("a.jpg 1\n");
	assert_int_equal(truncate(list, (off_t)LABEL_LIST_BYTES_MAX + 1), 0);
	check_refused(list, -EFBIG, "larger than 16 GiB");
}

static void
a_line_may_be_long_but_not_longer(void **state)
{
	char text[LABEL_LINE_MAX + 64];

	(void)state;
	add("a.jpg");
	open_set("", "set");
	memset(text, 'x', sizeof text);
	text[0] = '#';
	memcpy(text + LABEL_LINE_MAX, "\na.jpg 5\n", sizeof "\na.jpg 5\n");
	write_list(text);
	open_labels(list);
	check_sample(0, "a.jpg", 5);
	text[LABEL_LINE_MAX] = 'x';
	write_list(text);
	check_refused(list, -EBADMSG, "line 1: too long");
	text[LABEL_LINE_MAX + 1] = '\0';	/* nor without a newline */
	write_list(text);
	check_refused(list, -EBADMSG, "line 1: too long");
}

/*--- lines ---------------------------------------------------------------*/

/* Of all lengths around the size of what is read at once. */
static void
lines_come_whole_at_every_length(void **state)
{
	static char bytes[1u << 20];
	struct lines l;
	char *text, *p = bytes;
	size_t len;
	int fd;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		memset(p, 'a' + (int)(i % 26), i);
		p += i;
		*p++ = '\n';
	}
	*p++ = 'z';
	write_file(list, bytes, (size_t)(p - bytes));
	fd = open(list, O_RDONLY | O_CLOEXEC);
	assert_int_equal(lines_init(&l, fd, 1000), 0);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(lines_next(&l, &text, &len), 1);
		assert_int_equal(len, i);
		assert_int_equal(strlen(text), i);
		assert_int_equal(l.number, i + 1);
		assert_int_equal(l.offset, i * (i + 1) / 2);
		assert_false(l.torn);
		for (size_t k = 0; k < len; k++)
			assert_int_equal(text[k], 'a' + (int)(i % 26));
	}
	assert_int_equal(lines_next(&l, &text, &len), 1);
	assert_true(l.torn);
	assert_string_equal(text, "z");
	assert_int_equal(lines_next(&l, &text, &len), 0);
	assert_int_equal(lines_next(&l, &text, &len), 0);
	assert_int_equal(l.number, 1001);
	lines_fini(&l);
	close(fd);
}

UNIT_MAIN(
	LABELS_UNIT(folders_are_classes_in_the_order_of_their_names),
	LABELS_UNIT(pictures_are_told_by_their_names),
	LABELS_UNIT(a_picture_outside_folders_has_no_class),
	LABELS_UNIT(no_pictures_are_an_error),
	LABELS_UNIT(in_shards_the_members_folders_are_classes),
	LABELS_UNIT(a_list_gives_order_and_labels),
	LABELS_UNIT(a_list_that_is_wrong_names_the_line),
	LABELS_UNIT(a_list_that_cannot_be_read_is_named),
	LABELS_UNIT(a_line_may_be_long_but_not_longer),
	LABELS_UNIT(lines_come_whole_at_every_length))
