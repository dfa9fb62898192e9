/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper.c: puts results into the run store, as `destall profile` does at its end.
 *
 *     keeper add FILE.json        its id on standard output
 *     keeper full NUMBER          the same of a result that it makes itself
 *     keeper kill TIMES SEED      a process that adds and adds is killed so many
 *                                 times; what it was told is stored, is there
 *
 * kill: the one that adds tells each id that runstore_add() gave it through a
 * pipe; the other kills it after some of them, and a while more that is drawn.
 * SQLite is opened after each fork, and closed before the next.
 */

#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/io.h"
#include "base/rng.h"
#include "base/say.h"
#include "reports/in_json.h"
#include "reports/runstore.h"
#include "tests/harness/fullresult.h"

#define ID_LEN		20u		/* and a newline in the pipe */
#define IDS_MAX		200000u

static char (*ids)[ID_LEN + 1];		/* all that were told as stored */
static unsigned nr_ids;

static int
open_store(struct runstore **s, enum runstore_how how, struct ds_err *err)
{
	struct ds_err note;
	int rc = runstore_open(s, how, &note, err);

	if (note.text[0] != '\0')
		say("%s", note.text);
	return rc;
}

static int
add_one(struct result *r)
{
	struct runstore *s = NULL;
	struct ds_err err;
	int rc = open_store(&s, RUNSTORE_WRITE, &err);

	if (rc == 0)
		rc = runstore_add(s, r, &err);
	runstore_close(&s);
	if (rc == 0)
		puts(r->id);
	result_fini(r);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

static int
add_file(const char *path)
{
	struct ds_err err;
	struct result r;

	result_init(&r);
	if (in_json_read(&r, path, &err) == 0)
		return add_one(&r);
	result_fini(&r);
	return say_failure(&err, STATUS_FAILED);
}

static int
add_full(unsigned number)
{
	struct result r;

	full_result_make(&r, number);
	return add_one(&r);
}

/*--- killed ----------------------------------------------------------------*/

static _Noreturn void
add_for_ever(int out)
{
	struct runstore *s = NULL;
	struct ds_err err;
	struct result r;
	char line[ID_LEN + 2];

	if (open_store(&s, RUNSTORE_WRITE, &err) < 0)
		exit(say_failure(&err, STATUS_FAILED));
	for (unsigned i = 0;; i++) {
		full_result_make(&r, i);
		if (runstore_add(s, &r, &err) < 0)
			exit(say_failure(&err, STATUS_FAILED));
		(void)snprintf(line, sizeof line, "%s\n", r.id);
		if (io_write_all(out, line, ID_LEN + 1) < 0)
			exit(STATUS_FAILED);
		result_fini(&r);
	}
}

/* Reads ids until so many were read, or the end: false. */
static bool
read_ids(int in, unsigned count)
{
	char line[ID_LEN + 1];

	for (unsigned i = 0; i < count; i++) {
		if (io_read_all(in, line, sizeof line) != (ssize_t)sizeof line)
			return false;
		if (nr_ids == IDS_MAX)
			return true;
		memcpy(ids[nr_ids], line, ID_LEN);
		ids[nr_ids++][ID_LEN] = '\0';
	}
	return true;
}

static int
kill_once(struct rng *rng)
{
	struct timespec delay = { .tv_nsec = (long)rng_below(rng,
	    3 * NS_PER_MS) };
	int fds[2], status;
	pid_t pid;

	if (pipe(fds) != 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		close(fds[0]);
		add_for_ever(fds[1]);
	}
	close(fds[1]);
	(void)read_ids(fds[0], (unsigned)rng_below(rng, 8));
	(void)nanosleep(&delay, NULL);
	kill(pid, SIGKILL);
	(void)read_ids(fds[0], IDS_MAX);
	close(fds[0]);
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : -1;
}

/* All that were ever told are there, whole. */
static int
check_ids(unsigned from)
{
	struct runstore *s = NULL;
	struct ds_err err;
	int rc = open_store(&s, RUNSTORE_READ, &err);

	for (unsigned i = from; rc == 0 && i < nr_ids; i++) {
		struct result want, r;
		const char *differs = NULL;

		result_init(&r);
		rc = runstore_get(s, ids[i], &r, &err);
		full_result_make(&want, (unsigned)(r.started_s -
		    FULL_RESULT_STARTED));
		if (rc == 0)
			differs = full_result_differ(&want, &r);
		if (differs != NULL)
			rc = err_fail(&err, -1, "%s: %s differs", ids[i],
			    differs);
		result_fini(&want);
		result_fini(&r);
	}
	runstore_close(&s);
	return nr_ids > 0 && rc < 0 ? say_failure(&err, rc) : 0;
}

static int
kill_many(unsigned times, unsigned seed)
{
	struct rng rng;
	int rc = 0;

	ids = calloc(IDS_MAX, sizeof *ids);
	if (ids == NULL)
		say_no_memory();
	rng_init(&rng, RNG_SAMPLE, seed, 0, 0);
	for (unsigned i = 0; rc == 0 && i < times; i++) {
		unsigned before = nr_ids;

		rc = kill_once(&rng);
		if (rc == 0)
			rc = check_ids(before);
	}
	/* And none of those that were there before is lost by a later kill. */
	if (rc == 0)
		rc = check_ids(0);
	printf("%u kills, %u stored\n", times, nr_ids);
	free(ids);
	return rc < 0 ? STATUS_FAILED : STATUS_OK;
}

int
main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "add") == 0)
		return add_file(argv[2]);
	if (argc == 3 && strcmp(argv[1], "full") == 0)
		return add_full((unsigned)atoi(argv[2]));
	if (argc == 4 && strcmp(argv[1], "kill") == 0)
		return kill_many((unsigned)atoi(argv[2]),
		    (unsigned)atoi(argv[3]));
	fputs("usage: keeper add FILE | full NUMBER | kill TIMES SEED\n",
	    stderr);
	return STATUS_USAGE;
}
