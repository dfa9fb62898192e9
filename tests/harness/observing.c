/* SPDX-License-Identifier: Apache-2.0
 *
 * observing.c: runs a command under the observers of a profile, and prints what
 * they saw.  Run by tests.
 *
 *     observing DATA CMD [ARG]...
 *
 * DATA is where the command's data are.  Prints "SOURCE NAME UNIT VALUE" lines of
 * its one phase and then "confession: ..." lines; ends as the command did.
 */

#include <config.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/observe.h"
#include "base/io.h"
#include "base/text.h"

#define WAKE_MS	50

static void
print(const struct result *r)
{
	char clean[2 * DS_ERR_TEXT];

	for (size_t i = 0; i < r->nr_seen; i++)
		printf("%s %s %s %.0f\n", r->seen[i].source, r->seen[i].name,
		    r->seen[i].unit, r->seen[i].value);
	for (size_t i = 0; i < r->nr_confessions; i++) {
		text_clean(clean, sizeof clean, r->confessions[i]);
		printf("confession: %s\n", clean);
	}
}

/* Begins when the other end is closed: when it is observed. */
static pid_t
start(char **argv, int *go)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		io_close(&ends[1]);
		(void)io_read_all(ends[0], &byte, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	io_close(&ends[0]);
	*go = ends[1];
	return pid;
}

static void
observe_until_end(struct observe *o, pid_t pid, int go)
{
	struct pollfd end = { .events = POLLIN };

	end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	observe_process(o, pid, false, 0);
	observe_phase(o, "actual", clock_now_ns());
	io_close(&go);
	while (end.fd >= 0 && poll(&end, 1, WAKE_MS) == 0)
		observe_sample(o);
	/* It is not waited for yet: its last figures are there. */
	observe_phase(o, NULL, clock_now_ns());
	io_close(&end.fd);
}

int
main(int argc, char **argv)
{
	struct observe o;
	struct result r;
	int status, go;
	pid_t pid;

	if (argc < 3 || (pid = start(argv + 2, &go)) < 0)
		return 99;
	observe_init(&o, "/");
	observe_data(&o, argv[1]);
	observe_until_end(&o, pid, go);
	result_init(&r);
	observe_put(&o, &r);
	print(&r);
	result_fini(&r);
	observe_fini(&o);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
	    WEXITSTATUS(status) : 99;
}
