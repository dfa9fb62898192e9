/* SPDX-License-Identifier: Apache-2.0
 *
 * leaky.c: does one thing between leak_before() and leak_after(), to see that
 * they tell.  Run by tests/b0001-harness.sh.
 *
 *     leaky WHAT     exit status 0 if nothing was noticed
 *     leaky list     one line "WHAT: the words by which it is noticed"
 */

#include <config.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/leak.h"

static void *volatile sink;

static void *
wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *
use_heap(void *arg)
{
	free(malloc(100000));
	return arg;
}

static pthread_t
start(void *(*run)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, NULL) != 0)
		exit(99);
	return t;
}

static void
run_threads(void)
{
	pthread_t threads[12];

	for (int i = 0; i < 12; i++)
		threads[i] = start(use_heap);
	for (int i = 0; i < 12; i++)
		pthread_join(threads[i], NULL);
}

/* All that a clean test may do. */
static void
do_clean(void)
{
	void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	munmap(p, 65536);
	close(fd);
	signal(SIGALRM, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	sink = malloc(1000000);
	free(sink);
	for (int i = 0; i < 3; i++)
		run_threads();
}

static void
leave_descriptor(void)
{
	if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
		exit(99);
}

static void
leave_thread(void)
{
	pthread_detach(start(wait_for_ever));
}

static void
leave_heap(void)
{
	sink = malloc(1);
	sink = NULL;
}

static void
leave_mapping(void)
{
	sink = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void
leave_shared_mapping(void)
{
	sink = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void
leave_child(void)
{
	if (fork() == 0)
		_exit(0);
}

static void
leave_handler(void)
{
	signal(SIGPIPE, SIG_IGN);
}

static void
leave_mask(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void
leave_directory(void)
{
	if (chdir("/") != 0)
		exit(99);
}

static void
leave_umask(void)
{
	umask(0123);
}

static void
leave_environment(void)
{
	setenv("DS_LEAKY", "1", 1);
}

static const struct {
	const char *name;
	const char *words;
	void (*run)(void);
} leaks[] = {
	{ "descriptor", "descriptors before", leave_descriptor },
	{ "thread", "threads before", leave_thread },
	{ "heap", "blocks of heap before", leave_heap },
	{ "mapping", "bytes of private mappings before", leave_mapping },
	{ "shared_mapping", "bytes of shared mappings before",
	    leave_shared_mapping },
	{ "child", "a child process was left", leave_child },
	{ "handler", "the handler of signal 13 changed", leave_handler },
	{ "mask", "the signal mask changed", leave_mask },
	{ "directory", "the working directory changed", leave_directory },
	{ "umask", "the umask changed", leave_umask },
	{ "environment", "the environment changed", leave_environment },
};

#define NR_LEAKS (sizeof leaks / sizeof leaks[0])

static int
watch(void (*run)(void))
{
	leak_before(NULL);
	run();
	return leak_after(NULL) == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 99;
	if (strcmp(argv[1], "clean") == 0)
		return watch(do_clean);
	for (size_t i = 0; i < NR_LEAKS; i++) {
		if (strcmp(argv[1], leaks[i].name) == 0)
			return watch(leaks[i].run);
		if (strcmp(argv[1], "list") == 0)
			printf("%s: %s\n", leaks[i].name, leaks[i].words);
	}
	return strcmp(argv[1], "list") == 0 ? 0 : 99;
}
