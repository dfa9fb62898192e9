/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_json.c: tests of base/json.c.
 */

#include <config.h>

#include "base/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/unit.h"

static char folder[256];	/* of each test, and the current one */
static int came_from;

static int
enter_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(folder, sizeof folder, "%s/unit_json.XXXXXX",
	    tmp != NULL ? tmp : "/tmp");
	came_from = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (came_from < 0 || mkdtemp(folder) == NULL || chdir(folder) != 0)
		return -1;
	umask(022);
	return leak_before(state);
}

static int
count_files(bool and_remove)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int nr = 0;

	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		nr++;
		if (and_remove && unlinkat(dirfd(d), e->d_name, 0) != 0)
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
	return nr;
}

static int
leave_folder(void **state)
{
	int rc = leak_after(state);

	count_files(true);
	if (fchdir(came_from) != 0 || rmdir(folder) != 0)
		rc = -1;
	close(came_from);
	return rc;
}

#define JSON_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

static void
put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void
check_file(const char *path, const char *want)
{
	char text[4096];

	assert_true(io_read_text(AT_FDCWD, path, text, sizeof text) >= 0);
	assert_string_equal(text, want);
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static int
write_doc(const char *path, struct ds_err *err)
{
	json_t *doc = json_doc_new();

	json_object_set_new(doc, "name", json_text("a"));
	return json_doc_write(doc, path, err);
}

#define DOC	"{\n  \"schema_version\": 1,\n  \"name\": \"a\"\n}"

static void
what_is_written_can_be_read(void **state)
{
	struct ds_err err;
	json_t *doc;

	(void)state;
	assert_int_equal(write_doc("out.json", &err), 0);
	check_file("out.json", DOC);
	assert_int_equal(json_doc_read(&doc, "out.json", &err), 0);
	assert_string_equal(json_string_value(json_object_get(doc, "name")),
	    "a");
	json_decref(doc);
	assert_int_equal(count_files(false), 1);
}

/* A new file has the mode that the umask leaves, an old one keeps its own. */
static void
modes(void **state)
{
	struct ds_err err;

	(void)state;
	assert_int_equal(write_doc("new", &err), 0);
	assert_int_equal(mode_of("new"), 0644);
	umask(077);
	assert_int_equal(write_doc("private", &err), 0);
	assert_int_equal(mode_of("private"), 0600);
	umask(022);
	assert_int_equal(write_doc("private", &err), 0);
	assert_int_equal(mode_of("private"), 0600);
}

static void
links_are_followed(void **state)
{
	struct ds_err err;
	struct stat st;

	(void)state;
	put_file("target", "old");
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(write_doc("link", &err), 0);
	check_file("target", DOC);
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(symlink("nothing", "astray"), 0);
	assert_int_equal(write_doc("astray", &err), -ENOENT);
	assert_int_equal(count_files(false), 3);
}

/* What was written to an open file before stays. */
static void
open_descriptors_are_written_to(void **state)
{
	struct ds_err err;
	char path[32];
	int fd;

	(void)state;
	put_file("log", "old\n");
	fd = open("log", O_WRONLY | O_APPEND | O_CLOEXEC);
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	assert_int_equal(write_doc(path, &err), 0);
	close(fd);
	check_file("log", "old\n" DOC);
	assert_int_equal(write_doc(path, &err), -EBADF);
}

static void
long_names_do(void **state)
{
	char name[251];
	struct ds_err err;

	(void)state;
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(write_doc(name, &err), 0);
	check_file(name, DOC);
	assert_int_equal(count_files(false), 1);
}

/* Root could replace /dev/null by a file.  So the FIFO comes first: a mistake
 * fails there, and the machine keeps its devices. */
static void
what_is_no_file_is_written_to(void **state)
{
	struct ds_err err;
	struct stat st;
	char text[4096];
	int fd;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(write_doc("fifo", &err), 0);
	assert_int_equal(lstat("fifo", &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(read(fd, text, sizeof text), strlen(DOC) + 1);
	close(fd);
	assert_int_equal(write_doc("/dev/null", &err), 0);
	assert_int_equal(write_doc("/dev/full", &err), -ENOSPC);
	assert_string_equal(err.text,
	    "cannot write /dev/full: No space left on device");
}

static void
unwritable_places_are_named(void **state)
{
	struct ds_err err;

	(void)state;
	assert_int_equal(write_doc("none/x", &err), -ENOENT);
	assert_string_equal(err.text,
	    "cannot write none/x: No such file or directory");
	assert_int_equal(mkdir("dir", 0755), 0);
	assert_int_equal(write_doc("dir", &err), -EISDIR);
	assert_int_equal(write_doc("", &err), -ENOENT);
	put_file("file", "x");
	assert_int_equal(write_doc("file/x", &err), -ENOTDIR);
	assert_true(write_doc("/proc/x", &err) < 0);
	assert_int_equal(write_doc("dir", NULL), -EISDIR);
	assert_int_equal(count_files(false), 2);
}

/* In a child that is an ordinary user: root may write everywhere. */
static void
permissions_are_kept(void **state)
{
	struct ds_err err;
	int status;
	pid_t pid;

	(void)state;
	put_file("frozen", "old");
	assert_int_equal(chmod("frozen", 0444), 0);
	assert_int_equal(mkdir("closed", 0755), 0);
	put_file("closed/open", "a longer text than the document will have: "
	    "so that what is left of it would be seen");
	assert_int_equal(chmod("closed/open", 0666), 0);
	assert_int_equal(chmod("closed", 0555), 0);
	assert_int_equal(chmod(".", 0777), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(1);
		if (write_doc("frozen", &err) != -EACCES)
			_exit(2);
		if (write_doc("closed/x", &err) != -EACCES)
			_exit(3);
		if (write_doc("closed/open", &err) != 0)
			_exit(4);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	check_file("frozen", "old");
	check_file("closed/open", DOC);
	assert_int_equal(chmod("closed", 0755), 0);
	assert_int_equal(unlink("closed/open"), 0);
	assert_int_equal(count_files(false), 2);
}

/* A disk that fills up in the middle leaves the old file, and nothing else. */
static void
full_disk_leaves_the_old_file(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before_act;
	struct rlimit before, small;
	struct ds_err err;

	(void)state;
	put_file("out", "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	sigaction(SIGXFSZ, &ignore, &before_act);
	small = before;
	small.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(write_doc("out", &err), -EFBIG);
	assert_int_equal(write_doc("new", &err), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	sigaction(SIGXFSZ, &before_act, NULL);
	check_file("out", "old");
	assert_int_equal(count_files(false), 1);
}

/* In a child: the test itself prints on standard output. */
static int
status_of_stdout(int fd)
{
	struct ds_err err;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fd, STDOUT_FILENO);
		_exit(-write_doc(NULL, &err));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
standard_output_is_the_default(void **state)
{
	int fd = open("out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(status_of_stdout(fd), 0);
	check_file("out", DOC);
	assert_int_equal(status_of_stdout(full), ENOSPC);
	close(fd);
	close(full);
}

static void
any_bytes_become_text(void **state)
{
	json_t *v = json_text("\xff\x1b\xc3\xa9");

	(void)state;
	assert_string_equal(json_string_value(v), "\\xff\x1b\xc3\xa9");
	json_decref(v);
}

static void
strange_documents_are_refused(void **state)
{
	static const struct {
		const char *text;
		size_t len;	/* 0: of the string */
		const char *want;
	} cases[] = {
		{ "", 0, "doc: line 1:" },
		{ "nonsense", 0, "doc: line 1:" },
		{ "{}", 0, "no schema_version" },
		{ "[]", 0, "no schema_version" },
		{ "[{\"schema_version\":1}]", 0, "no schema_version" },
		{ "1", 0, "doc:" },
		{ "{\"schema_version\":\"1\"}", 0, "no schema_version" },
		{ "{\"schema_version\":1.0}", 0, "no schema_version" },
		{ "{\"schema_version\":null}", 0, "no schema_version" },
		{ "{\"schema_version\":2}", 0, "schema_version 2, this build "
		    "reads 1" },
		{ "{\"schema_version\":-1}", 0, "schema_version -1" },
		{ "{\"schema_version\":9223372036854775808}", 0, "doc: line" },
		{ "{\"schema_version\":1,\"schema_version\":1}", 0,
		    "duplicate" },
		{ "{\"schema_version\":1,\"a\":{\"b\":1,\"b\":2}}", 0,
		    "duplicate" },
		{ "{\"schema_version\":1}}", 0, "doc: line" },
		{ "{\"schema_version\":1} x", 0, "doc: line" },
		{ "{\"schema_version\":1}\0", 21, "doc: line" },
		{ "{\"schema_version\":1", 0, "doc: line" },
		{ "{\"schema_version\":1,\"a\":\"\xff\"}", 0, "decode" },
		{ "{\"schema_version\":1,\"a\":\"\xed\xa0\x80\"}", 0, "decode" },
		{ "{\"schema_version\":1,\"a\":\"\\u0000\"}", 0, "u0000" },
		{ "{\"schema_version\":1,\"\\u0000\":1}", 0, "u0000" },
		{ "{\"schema_version\":1,\"a\":1e999}", 0, "doc: line" },
		{ "{\"schema_version\":1,\"a\":NaN}", 0, "doc: line" },
		{ "{\"schema_version\":1,\"a\":01}", 0, "doc: line" },
		{ "{\n\n\"schema_version\":1,\n,}", 0, "doc: line 4" },
		{ "\xef\xbb\xbf{\"schema_version\":1}", 0, "doc: line" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t len = cases[i].len ? cases[i].len : strlen(cases[i].text);
		json_t *doc = NULL;
		struct ds_err err;

		assert_int_equal(json_doc_parse(&doc, cases[i].text, len,
		    "doc", &err), -EBADMSG);
		assert_null(doc);
		if (strstr(err.text, cases[i].want) == NULL)
			fail_msg("%zu: %s", i, err.text);
		assert_int_equal(json_doc_parse(&doc, cases[i].text, len,
		    "doc", NULL), -EBADMSG);
	}
}

static void
depth_is_limited(void **state)
{
	enum { DEPTH = 100000 };
	char *text = malloc(DEPTH + 1);
	struct ds_err err;
	json_t *doc;

	(void)state;
	memset(text, '[', DEPTH);
	assert_int_equal(json_doc_parse(&doc, text, DEPTH, "deep", &err),
	    -EBADMSG);
	assert_non_null(strstr(err.text, "depth"));
	free(text);
}

static void
strange_files_are_refused(void **state)
{
	struct ds_err err;
	json_t *doc = NULL;
	int fd;

	(void)state;
	assert_int_equal(json_doc_read(&doc, "none", &err), -ENOENT);
	assert_string_equal(err.text,
	    "cannot read none: No such file or directory");
	assert_int_equal(json_doc_read(&doc, ".", &err), -EINVAL);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(json_doc_read(&doc, "fifo", &err), -EINVAL);
	assert_string_equal(err.text, "cannot read fifo: not a file");
	assert_int_equal(json_doc_read(&doc, "/dev/zero", &err), -EINVAL);
	put_file("empty", "");
	assert_int_equal(json_doc_read(&doc, "empty", &err), -EBADMSG);
	fd = open("large", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, (64 << 20) + 1), 0);
	assert_int_equal(json_doc_read(&doc, "large", &err), -EFBIG);
	assert_string_equal(err.text, "cannot read large: over 64 MiB");
	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	assert_int_equal(json_doc_read(&doc, "large", &err), -EBADMSG);
	close(fd);
	assert_null(doc);
}

UNIT_MAIN(
	JSON_UNIT(what_is_written_can_be_read),
	JSON_UNIT(modes),
	JSON_UNIT(links_are_followed),
	JSON_UNIT(open_descriptors_are_written_to),
	JSON_UNIT(long_names_do),
	JSON_UNIT(what_is_no_file_is_written_to),
	JSON_UNIT(unwritable_places_are_named),
	JSON_UNIT(permissions_are_kept),
	JSON_UNIT(full_disk_leaves_the_old_file),
	JSON_UNIT(standard_output_is_the_default),
	JSON_UNIT(any_bytes_become_text),
	JSON_UNIT(strange_documents_are_refused),
	JSON_UNIT(depth_is_limited),
	JSON_UNIT(strange_files_are_refused))
