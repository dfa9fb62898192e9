/* SPDX-License-Identifier: Apache-2.0
 *
 * unit_observe_real.c: the observers on processes of this machine.  What a
 * machine need not have may be missing, if that is said.
 */

#include <config.h>

#include "analyzer/observe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/harness/unit.h"

#define MANY	20
#define SAMPLES	50
#define BURN_NS	(150 * NS_PER_MS)	/* many ticks of the kernel's */
#define PIECE	65536

struct child {
	pid_t	pid;
	int	go, done;		/* our ends */
};

static struct observe o;
static struct result r;

/*--- children ------------------------------------------------------------*/

static void
burn(void)
{
	static char piece[PIECE];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, piece, PIECE) != PIECE)
		_exit(1);
	while (clock_thread_ns() < BURN_NS)
		;
	io_close(&fd);
}

static _Noreturn void
be_child(int go, int done)
{
	char byte;

	while (read(go, &byte, 1) == 1) {
		burn();
		if (write(done, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void
start(struct child *c)
{
	int go[2], done[2];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		io_close(&go[1]);
		io_close(&done[0]);
		be_child(go[0], done[1]);
	}
	io_close(&go[0]);
	io_close(&done[1]);
	c->go = go[1];
	c->done = done[0];
}

static void
let_burn(struct child *c)
{
	char byte = 'x';

	assert_int_equal(io_write_all(c->go, &byte, 1), 0);
	assert_int_equal(io_read_all(c->done, &byte, 1), 1);
}

static void
stop(struct child *c)
{
	int status;

	assert_int_equal(kill(c->pid, SIGKILL), 0);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	io_close(&c->go);
	io_close(&c->done);
}

/*--- what is in a result -------------------------------------------------*/

static double
seen(const char *source, const char *figure)
{
	for (size_t i = 0; i < r.nr_seen; i++) {
		if (strcmp(r.seen[i].source, source) == 0 &&
		    strcmp(r.seen[i].name, figure) == 0)
			return r.seen[i].value;
	}
	return NAN;
}

/* Is above 0, or somebody says why it is not. */
static void
assert_counted(const char *source, const char *figure, const char *what)
{
	if (seen(source, figure) > 0)
		return;
	for (size_t i = 0; i < r.nr_confessions; i++) {
		if (strstr(r.confessions[i], what) != NULL)
			return;
	}
	fail_msg("%s of %s is %g, and nobody says why", figure, source,
	    seen(source, figure));
}

static void
begin(void)
{
	observe_init(&o, "/");
	result_init(&r);
}

static void
end(void)
{
	observe_fini(&o);
	result_fini(&r);
}

/*--- tests ---------------------------------------------------------------*/

static void
a_worker_that_burns(void **state)
{
	struct child c;

	(void)state;
	start(&c);
	begin();
	observe_process(&o, getpid(), false, 0);
	observe_process(&o, c.pid, true, 0);
	observe_data(&o, "/");
	observe_phase(&o, "actual", clock_now_ns());
	let_burn(&c);
	observe_phase(&o, NULL, clock_now_ns());
	observe_put(&o, &r);
	for (size_t i = 0; i < r.nr_confessions; i++)
		print_message("%s\n", r.confessions[i]);
	assert_true(seen("phase", "time") > 0);
	assert_true(seen("proc", "workers.cpu_user") +
	    seen("proc", "workers.cpu_system") > 0);
	assert_true(seen("proc", "workers.rss") > 0);
	assert_true(seen("proc", "main.rss") > 0);
	assert_counted("sched", "workers.ran", ": waits for a processor: ");
	assert_counted("io", "workers.read", ": reading of processes: ");
	assert_counted("pfm", "workers.task_clock",
	    "not observed: hardware counters: ");
	assert_counted("pfm", "worker.0.task_clock",
	    "not observed: hardware counters: ");
	assert_counted("pfm", "worker.0.cycles", ": hardware counters: ");
	stop(&c);
	end();
}

static void
they_come_and_die(void **state)
{
	struct child c[3];

	(void)state;
	begin();
	observe_phase(&o, "actual", clock_now_ns());
	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 3; i++) {
			start(&c[i]);
			observe_process(&o, c[i].pid, true, i);
		}
		observe_sample(&o);
		assert_int_equal(o.nr_processes, 3);
		for (unsigned i = 0; i < 3; i++)
			stop(&c[i]);
		observe_phase(&o, "actual", clock_now_ns());
		assert_int_equal(o.nr_processes, 0);
	}
	observe_put(&o, &r);
	end();
}

/* What is printed is for people: doc/performance.md. */
static void
what_a_sample_costs(void **state)
{
	struct child c[MANY];
	uint64_t began;

	(void)state;
	begin();
	for (unsigned i = 0; i < MANY; i++) {
		start(&c[i]);
		observe_process(&o, c[i].pid, i > 0, i);
	}
	observe_data(&o, "/");
	observe_phase(&o, "actual", clock_now_ns());
	began = clock_thread_ns();
	for (unsigned i = 0; i < SAMPLES; i++)
		observe_phase(&o, "actual", clock_now_ns());
	print_message("%d processes: %llu us of a processor a sample\n", MANY,
	    (unsigned long long)((clock_thread_ns() - began) / SAMPLES / 1000));
	for (unsigned i = 0; i < MANY; i++)
		stop(&c[i]);
	end();
}

/* What the dynamic linker keeps of a library that was loaded once, and the C
 * library of the environment, is not a leak of ours. */
static int
set_up(void **state)
{
	static char no_hub[] = "DESTALL_HUB=/nonexistent/destall/hub";

	assert_int_equal(putenv(no_hub), 0);
	*state = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
	return 0;
}

UNIT_MAIN_WITH(set_up, NULL,
	UNIT(a_worker_that_burns),
	UNIT(they_come_and_die),
	UNIT(what_a_sample_costs))
