/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_storage.c: tests of analyzer/storage.c on files of its own.
 */

#include <config.h>

#include "analyzer/storage.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "tests/harness/folder.h"
#include "tests/harness/unit.h"

#define FILES	20u
#define SIZE	100000u

static char folder[FOLDER_PATH];

static const char *
in_folder(const char *name, unsigned i)
{
	static char path[FOLDER_PATH + 32];

	(void)snprintf(path, sizeof path, "%s/%s%u", folder, name, i);
	return path;
}

static int
open_files(void **state)
{
	static char bytes[SIZE];
	int fd;

	(void)state;
	if (folder_make(folder, "unit_storage") != 0)
		return -1;
	memset(bytes, 's', sizeof bytes);
	for (unsigned i = 0; i < FILES; i++) {
		fd = open(in_folder("f", i), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || io_write_all(fd, bytes, SIZE) != 0)
			return -1;
		io_close(&fd);
	}
	return 0;
}

static int
close_files(void **state)
{
	(void)state;
	return folder_remove(folder);
}

static void
add_files(struct storage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		storage_add(s, in_folder("f", i), SIZE);
	storage_sort(s);
}

/*--- which ---------------------------------------------------------------*/

static void
each_path_is_there_once(void **state)
{
	struct storage s = { 0 };
	char path[32];

	(void)state;
	storage_sort(&s);
	assert_int_equal(s.nr, 0);
	/* Sorted again and again, as more is told. */
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 3000; i++) {
			(void)snprintf(path, sizeof path, "/%u", i * 7 % 1000);
			storage_add(&s, path, i % 2);
		}
		storage_sort(&s);
		assert_int_equal(s.nr, 1000);
	}
	assert_int_equal(s.opens, 15000);
	assert_int_equal(s.bytes, 7500);
	for (size_t i = 1; i < s.nr; i++)
		assert_true(strcmp(s.paths[i - 1], s.paths[i]) < 0);
	storage_fini(&s);
	assert_int_equal(s.nr, 0);
}

/*--- memory --------------------------------------------------------------*/

static void
files_leave_memory_and_come_back(void **state)
{
	struct storage s = { 0 };
	struct storage_read r;
	double after;

	(void)state;
	add_files(&s);
	storage_read(&s, 2, NS_PER_S * 600, &r);
	assert_true(storage_resident(&s) == 1);
	storage_evict(&s);
	after = storage_resident(&s);
	if (after > 0) {
		print_message("this file system keeps files in memory\n");
		storage_fini(&s);
		skip();
	}
	storage_read(&s, 2, NS_PER_S * 600, &r);
	assert_true(storage_resident(&s) == 1);
	storage_fini(&s);
}

static void
what_is_no_file_has_no_pages(void **state)
{
	struct storage s = { 0 };
	struct storage_read r;

	(void)state;
	assert_true(storage_resident(&s) < 0);
	storage_evict(&s);
	assert_int_equal(mkfifo(in_folder("fifo", 0), 0600), 0);
	storage_add(&s, in_folder("fifo", 0), 10);
	storage_add(&s, in_folder("missing", 0), 10);
	storage_add(&s, folder, 10);
	storage_add(&s, "/dev/zero", 10);
	storage_sort(&s);
	assert_true(storage_resident(&s) < 0);
	storage_evict(&s);
	storage_read(&s, 3, NS_PER_S * 600, &r);
	assert_true(r.bytes == 0);
	storage_fini(&s);
}

/*--- reading -------------------------------------------------------------*/

static void
every_byte_is_read_once(void **state)
{
	static const unsigned readers[] = { 0, 1, 2, 7, 64, 1000 };
	struct storage s = { 0 };
	struct storage_read r;

	(void)state;
	add_files(&s);
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
		storage_read(&s, readers[i], NS_PER_S * 600, &r);
		assert_true(r.bytes == (double)FILES * SIZE);
		assert_true(r.s > 0);
	}
	storage_fini(&s);
}

static void
time_that_is_over_ends_it(void **state)
{
	struct storage s = { 0 };
	struct storage_read r;

	(void)state;
	add_files(&s);
	storage_read(&s, 4, 0, &r);
	assert_true(r.bytes == 0);
	storage_fini(&s);
}

UNIT_MAIN_WITH(open_files, close_files,
	UNIT(each_path_is_there_once),
	UNIT(files_leave_memory_and_come_back),
	UNIT(what_is_no_file_has_no_pages),
	UNIT(every_byte_is_read_once),
	UNIT(time_that_is_over_ends_it))
