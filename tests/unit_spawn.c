/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_spawn.c: tests of a program that is nobody's child.
 *
 * The program that is started is this one again: it writes to descriptor 3
 * what it was born with, as lines of "name value".
 */

#include <config.h>

#include "hub/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/unit.h"

/*--- the program ---------------------------------------------------------*/

static void
show_descriptors(FILE *out)
{
	DIR *d = opendir("/proc/self/fd");
	char target[256];
	struct dirent *e;
	ssize_t n;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || atoi(e->d_name) == dirfd(d))
			continue;
		n = readlinkat(dirfd(d), e->d_name, target, sizeof target - 1);
		if (n > 0)
			fprintf(out, "fd%s %.*s\n", e->d_name, (int)n, target);
	}
	if (d != NULL)
		closedir(d);
}

static void
show_status(FILE *out)
{
	static const char *const wanted[] = {
		"SigBlk:", "SigIgn:", "Umask:", "Cpus_allowed_list:",
	};
	FILE *in = fopen("/proc/self/status", "re");
	char line[4096];

	while (in != NULL && fgets(line, sizeof line, in) != NULL)
		for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
				fprintf(out, "%s", line);
	if (in != NULL)
		fclose(in);
}

static int
show_state(int argc, char **argv)
{
	FILE *out = fdopen(3, "w");
	char cwd[4096];

	if (out == NULL)
		return 1;
	fprintf(out, "pid %d\nsid %d\npgid %d\n", getpid(), getsid(0),
	    getpgid(0));
	fprintf(out, "cwd %s\n", getcwd(cwd, sizeof cwd));
	for (int i = 0; i < argc; i++)
		fprintf(out, "arg %s\n", argv[i]);
	fprintf(out, "SPAWN_TEST %s\n", getenv("SPAWN_TEST"));
	show_descriptors(out);
	show_status(out);
	return fclose(out) != 0;
}

/*--- the job -------------------------------------------------------------*/

static char self[4096];

/* Starts it and reads what it says.  Its end of the pipe gets the number that
 * is wanted, or any if that is -1. */
static int
spawn_and_read(char *text, size_t size, int number)
{
	static char arg1[] = "state", variable[] = "SPAWN_TEST=here";
	char *argv[] = { self, arg1, NULL };
	char *env[] = { variable, NULL };
	int ends[2], rc;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	if (number >= 0 && ends[1] != number) {
		/* The reading end may have that number. */
		if (ends[0] == number)
			ends[0] = fcntl(ends[0], F_DUPFD_CLOEXEC, 20);
		dup3(ends[1], number, O_CLOEXEC);
		close(ends[1]);
		ends[1] = number;
	}
	rc = spawn_detached(self, argv, env, ends[1], NULL);
	close(ends[1]);
	n = io_read_all(ends[0], text, size - 1);
	close(ends[0]);
	text[n > 0 ? n : 0] = '\0';
	return rc;
}

/* The value in the line that begins with the name; "" if there is none. */
static const char *
value_of(const char *text, const char *name, char *out, size_t size)
{
	const char *at = text;
	size_t len = strlen(name);

	out[0] = '\0';
	for (; at != NULL && *at != '\0'; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, len) == 0 &&
		    strspn(at + len, " \t:") > 0) {
			at += len + strspn(at + len, " \t:");
			(void)snprintf(out, size, "%.*s",
			    (int)strcspn(at, "\n"), at);
			break;
		}
	}
	return out;
}

static size_t
count_descriptors(const char *text)
{
	size_t nr = 0;

	for (; (text = strstr(text, "\nfd")) != NULL; text++)
		nr++;
	return nr;
}

/* 0, or the line of what is wrong. */
static int
check_state(const char *text, int rc)
{
	char v[256], w[256];

#define IS(name, value) \
	do { \
		if (strcmp(value_of(text, name, v, sizeof v), value) != 0) \
			return __LINE__; \
	} while (0)

	if (rc != 0)
		return __LINE__;
	if (atoi(value_of(text, "pid", v, sizeof v)) <= 1)
		return __LINE__;
	/* No leader, so that it cannot get a terminal; nobody else's. */
	if (strcmp(value_of(text, "sid", w, sizeof w), v) == 0 ||
	    atoi(w) == getsid(0) || atoi(w) <= 1)
		return __LINE__;
	IS("pgid", w);
	IS("cwd", "/");
	IS("arg", self);
	IS("SPAWN_TEST", "here");
	IS("fd0", "/dev/null");
	IS("fd1", "/dev/null");
	IS("fd2", "/dev/null");
	if (strncmp(value_of(text, "fd3", v, sizeof v), "pipe:", 5) != 0 ||
	    count_descriptors(text) != 4)
		return __LINE__;
	IS("SigBlk", "0000000000000000");
	IS("SigIgn", "0000000000000000");
	return 0;
}

static int
spawn_and_check(int number)
{
	char text[8192];
	int rc = spawn_and_read(text, sizeof text, number);

	return check_state(text, rc);
}

/* What a test does to itself it does in a child.  0, or the line that is
 * wrong. */
static void
in_child(int (*job)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(job() & 0xff);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the job failed: status %x, line %% 256: %d", status,
		    WEXITSTATUS(status));
}

static void
it_is_born_clean(void **state)
{
	char text[8192], v[64];

	(void)state;
	assert_int_equal(spawn_and_check(-1), 0);
	assert_int_equal(spawn_and_read(text, sizeof text, -1), 0);
	/* The umask is the job's. */
	value_of(text, "Umask", v, sizeof v);
	assert_int_equal(strtol(v, NULL, 8), umask(0));
	umask((mode_t)strtol(v, NULL, 8));
}

/*--- descriptors ---------------------------------------------------------*/

static int
with_many_descriptors(void)
{
	for (int i = 0; i < 300; i++)
		if (dup(2) < 0)
			return __LINE__;
	if (dup2(2, 900) != 900)
		return __LINE__;
	return spawn_and_check(-1);
}

static int
with_few_descriptors(void)
{
	struct rlimit few = { 16, 16 };

	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return __LINE__;
	for (int i = 0; i < 16; i++)
		(void)!dup(2);
	/* Room for the pipe; the new process has none. */
	close(14);
	close(15);
	return spawn_and_check(-1);
}

static int
with_numbers_of_its_own(void)
{
	static const int numbers[] = { 3, 4, 5, 0, 1, 2, 3, 700 };
	int rc = 0;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers && rc == 0; i++)
		rc = spawn_and_check(numbers[i]);
	return rc;
}

static int
without_standard_streams(void)
{
	close(0);
	close(1);
	close(2);
	return spawn_and_check(-1);
}

/* As an old kernel answers, or a container's filter. */
static int
without_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		return 0;	/* filters are not allowed here */
	if (syscall(SYS_close_range, 900, 900, 0) != -1 || errno != ENOSYS)
		return __LINE__;
	return with_many_descriptors();
}

static void
descriptors(void **state)
{
	(void)state;
	in_child(with_many_descriptors);
	in_child(with_few_descriptors);
	in_child(with_numbers_of_its_own);
	in_child(without_standard_streams);
	in_child(without_close_range);
}

/*--- signals, processors -------------------------------------------------*/

static int
with_signals_ignored(void)
{
	sigset_t all;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_IGN);
	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, NULL) != 0)
		return __LINE__;
	return spawn_and_check(-1);
}

static void
signals(void **state)
{
	(void)state;
	in_child(with_signals_ignored);
}

static int
with_one_processor(void)
{
	char text[8192], v[4096], all[4096], line[4096];
	cpu_set_t set;
	FILE *f;
	size_t first;
	int rc;

	/* All that are allowed here, whatever we were bound to. */
	memset(&set, 0xff, sizeof set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		return __LINE__;
	f = fopen("/proc/self/status", "re");
	all[0] = '\0';
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "Cpus_allowed_list", 17) == 0)
			value_of(line, "Cpus_allowed_list", all, sizeof all);
	if (f == NULL || fclose(f) != 0 || all[0] == '\0')
		return __LINE__;
	first = (size_t)atoi(all);
	CPU_ZERO(&set);
	CPU_SET(first, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		return __LINE__;
	rc = spawn_and_read(text, sizeof text, -1);
	if (check_state(text, rc) != 0)
		return __LINE__;
	value_of(text, "Cpus_allowed_list", v, sizeof v);
	return strcmp(v, all) == 0 ? 0 : __LINE__;
}

static void
processors(void **state)
{
	(void)state;
	in_child(with_one_processor);
}

/*--- the job is not disturbed --------------------------------------------*/

static atomic_int nr_deaths, nr_forks;

static void
note_death(int sig)
{
	(void)sig;
	atomic_fetch_add_explicit(&nr_deaths, 1, memory_order_relaxed);
}

static void
note_fork(void)
{
	atomic_fetch_add_explicit(&nr_forks, 1, memory_order_relaxed);
}

static void *
wait_for_any(void *arg)
{
	pid_t *pid = arg;

	do {
		*pid = waitpid(-1, NULL, 0);
	} while (*pid < 0 && errno == EINTR);
	return NULL;
}

/* A child of its own, a thread that waits for any, a handler of SIGCHLD. */
static int
be_a_busy_job(void)
{
	struct sigaction handler = { .sa_handler = note_death };
	pthread_t waiter;
	pid_t child, waited = 0;

	if (pthread_atfork(note_fork, note_fork, note_fork) != 0 ||
	    sigaction(SIGCHLD, &handler, NULL) != 0)
		return __LINE__;
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
	if (child == 0)
		for (;;)
			pause();
	if (pthread_create(&waiter, NULL, wait_for_any, &waited) != 0)
		return __LINE__;
	for (int i = 0; i < 50; i++)
		if (spawn_and_check(-1) != 0)
			return __LINE__;
	if (atomic_load_explicit(&nr_deaths, memory_order_relaxed) != 0 ||
	    atomic_load_explicit(&nr_forks, memory_order_relaxed) != 0)
		return __LINE__;
	kill(child, SIGKILL);
	pthread_join(waiter, NULL);
	if (waited != child)
		return __LINE__;
	/* No zombie either, of any kind. */
	return waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD ?
	    0 : __LINE__;
}

static int
ignore_its_children(void)
{
	if (signal(SIGCHLD, SIG_IGN) == SIG_ERR)
		return __LINE__;
	return spawn_and_check(-1);
}

static void
the_job_is_not_disturbed(void **state)
{
	(void)state;
	in_child(be_a_busy_job);
	in_child(ignore_its_children);
}

/* From several threads at once. */
static void *
spawn_often(void *arg)
{
	int *wrong = arg;

	for (int i = 0; i < 10; i++)
		if (spawn_and_check(-1) != 0)
			++*wrong;
	return NULL;
}

static void
many_threads(void **state)
{
	pthread_t threads[4];
	int wrong[4] = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, spawn_often,
		    &wrong[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(wrong[i], 0);
	}
}

/*--- failures ------------------------------------------------------------*/

static void
what_cannot_be_executed(void **state)
{
	static const struct {
		const char *path;
		int code;
	} cases[] = {
		{ "/no/such/program", -ENOENT },
		{ "/", -EACCES },
		{ "/dev/null", -EACCES },
	};
	char name[] = "name", *argv[] = { name, NULL }, *env[] = { NULL };
	struct ds_err err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		errno = EDOM;
		assert_int_equal(spawn_detached(cases[i].path, argv, env, -1,
		    &err), cases[i].code);
		assert_int_equal(errno, EDOM);
		assert_non_null(strstr(err.text, cases[i].path));
		assert_non_null(strstr(err.text, "cannot execute"));
		assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	}
}

static void
a_descriptor_that_is_none(void **state)
{
	char name[] = "name", *argv[] = { name, NULL }, *env[] = { NULL };

	(void)state;
	assert_int_equal(spawn_detached(self, argv, env, 1000, NULL), -EBADF);
}

static int
with_no_process_left(void)
{
	struct rlimit none = { 1, 1 };
	char text[8192];

	if (geteuid() == 0 || setrlimit(RLIMIT_NPROC, &none) != 0)
		return 0;	/* root is not held by it */
	return spawn_and_read(text, sizeof text, -1) == -EAGAIN ? 0 : __LINE__;
}

static void
no_process_left(void **state)
{
	(void)state;
	in_child(with_no_process_left);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		UNIT(it_is_born_clean),
		UNIT(descriptors),
		UNIT(signals),
		UNIT(processors),
		UNIT(the_job_is_not_disturbed),
		UNIT(many_threads),
		UNIT(what_cannot_be_executed),
		UNIT(a_descriptor_that_is_none),
		UNIT(no_process_left),
	};
	ssize_t n;

	if (argc == 2 && strcmp(argv[1], "state") == 0)
		return show_state(argc, argv);
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0)
		return 99;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
