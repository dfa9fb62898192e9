/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_serve.c: `destall serve`: starts the hub, is the hub, or stops it.
 * Runs in the command and, with --foreground, in the hub.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/command.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/say.h"
#include "hub/hub.h"
#include "hub/link.h"
#include "hub/lock.h"
#include "hub/proto.h"
#include "hub/rundir.h"
#include "hub/start.h"

#define NOT_GIVEN	UINT64_MAX
#define STOP_DEADLINE_NS	(10 * NS_PER_S)
#define OPTION_SIZE	64u
#define OPTIONS_MOST	4u	/* that a hub is started with */

extern const struct command cmd_serve;

struct serve_options {
	bool		foreground;
	bool		stop;
	struct budget	cache;		/* these: NOT_GIVEN, or */
	uint64_t	stage_bytes;
	uint64_t	idle_ns;
	uint64_t	lease_ns;
	uint64_t	ready_fd;
};

static const struct arg_option options[] = {
	{ .name = "foreground", .kind = ARG_FLAG,
	  .offset = offsetof(struct serve_options, foreground),
	  .help = "be the hub, instead of starting one" },
	{ .name = "cache", .kind = ARG_BUDGET,
	  .offset = offsetof(struct serve_options, cache), .value = "SIZE",
	  .help = "memory for cached data at most; half of what is free" },
	{ .name = "stage", .kind = ARG_SIZE,
	  .offset = offsetof(struct serve_options, stage_bytes),
	  .value = "SIZE",
	  .help = "memory for batches that jobs share at most; an eighth of "
	    "what the cache may have" },
	{ .name = "idle", .kind = ARG_DURATION,
	  .offset = offsetof(struct serve_options, idle_ns),
	  .value = "DURATION",
	  .help = "leave after this time without clients; 60s, or 1h while "
	    "data is cached" },
	{ .name = "lease", .kind = ARG_DURATION,
	  .offset = offsetof(struct serve_options, lease_ns),
	  .value = "DURATION",
	  .help = "how long a job may take to fetch an item that others wait "
	    "for; 10s" },
	{ .name = "stop", .kind = ARG_FLAG,
	  .offset = offsetof(struct serve_options, stop),
	  .help = "ask the hub that is running to leave, and wait for it" },
	{ .name = "ready-fd", .kind = ARG_COUNT, .min = 3, .max = 1 << 20,
	  .offset = offsetof(struct serve_options, ready_fd), .value = "N",
	  .help = "with --foreground: write \"ok\" or what is wrong to this "
	    "descriptor" },
	{ .name = NULL },
};

static const struct serve_options defaults = {
	.cache = { .bytes = NOT_GIVEN },
	.stage_bytes = NOT_GIVEN,
	.idle_ns = NOT_GIVEN,
	.lease_ns = NOT_GIVEN,
	.ready_fd = NOT_GIVEN,
};

/*--- what is asked for ---------------------------------------------------*/

static bool
gives_any(const struct serve_options *o)
{
	return o->cache.bytes != NOT_GIVEN || o->cache.is_share ||
	    o->stage_bytes != NOT_GIVEN || o->idle_ns != NOT_GIVEN || o->lease_ns != NOT_GIVEN;
}

static int
refuse_usage(const char *text)
{
	say("serve: %s (see 'destall serve --help')", text);
	return STATUS_USAGE;
}

static int
check_options(const struct serve_options *o)
{
	if (o->cache.is_share)
		return refuse_usage("--cache: a number of bytes, such as 8G: a "
		    "percentage is of each data set, and for jobs: "
		    "DESTALL_CACHE=30%");
	if (o->cache.bytes == 0)
		return refuse_usage("--cache: more than 0");
	if (o->stage_bytes == 0)
		return refuse_usage("--stage: more than 0");
	if (o->idle_ns == 0 || o->lease_ns == 0)
		return refuse_usage(o->idle_ns == 0 ? "--idle: more than 0" :
		    "--lease: more than 0");
	if (o->stop && (gives_any(o) || o->foreground))
		return refuse_usage("--stop goes with no other option");
	if (o->ready_fd != NOT_GIVEN && !o->foreground)
		return refuse_usage("--ready-fd goes with --foreground");
	return STATUS_OK;
}

/* A percentage is the business of each job. */
static int
read_cache_variable(const char *text, uint64_t *bytes, struct ds_err *err)
{
	struct ds_err why;
	struct budget b;
	int rc;

	rc = parse_budget(text, &b, &why);
	if (rc == 0 && !b.is_share && b.bytes == 0)
		rc = err_fail(&why, -ERANGE, "'%s' is no cache: unset it for "
		    "half of what is free", text);
	if (rc < 0)
		return err_fail(err, rc, "DESTALL_CACHE: %s", why.text);
	if (!b.is_share)
		*bytes = b.bytes;
	return 0;
}

static int
read_stage_variable(const char *text, uint64_t *bytes, struct ds_err *err)
{
	struct ds_err why;
	int rc;

	rc = parse_size(text, bytes, &why);
	if (rc == 0 && *bytes == 0)
		rc = err_fail(&why, -ERANGE, "'%s' is no stage: unset it for "
		    "an eighth of what the cache may have", text);
	if (rc < 0)
		return err_fail(err, rc, "DESTALL_STAGE: %s", why.text);
	return 0;
}

static int
read_log_variable(const char *text, enum log_level *level, struct ds_err *err)
{
	struct ds_err why;
	int rc;

	rc = log_parse_level(text, level, &why);
	if (rc < 0)
		return err_fail(err, rc, "DESTALL_LOG: %s", why.text);
	return 0;
}

/* Options first, then the environment, then the defaults. */
static int
choose_options(const struct serve_options *o, struct hub_options *h,
    struct ds_err *err)
{
	const char *cache = getenv("DESTALL_CACHE");
	const char *stage = getenv("DESTALL_STAGE");
	const char *level = getenv("DESTALL_LOG");
	int rc = 0;

	*h = hub_defaults;
	if (cache != NULL && *cache != '\0')
		rc = read_cache_variable(cache, &h->cache_bytes, err);
	if (rc == 0 && stage != NULL && *stage != '\0')
		rc = read_stage_variable(stage, &h->stage_bytes, err);
	if (rc == 0 && level != NULL && *level != '\0')
		rc = read_log_variable(level, &h->log, err);
	if (o->cache.bytes != NOT_GIVEN)
		h->cache_bytes = o->cache.bytes;
	if (o->stage_bytes != NOT_GIVEN)
		h->stage_bytes = o->stage_bytes;
	if (o->idle_ns != NOT_GIVEN)
		h->idle_ns = h->idle_holding_ns = o->idle_ns;
	if (o->lease_ns != NOT_GIVEN)
		h->lease_ns = o->lease_ns;
	return rc;
}

/*--- being the hub -------------------------------------------------------*/

/* The one who started us waits for a line; it may be dead by now. */
static void
tell_starter(int fd, const struct ds_err *err)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (fd < 0 || sigaction(SIGPIPE, &ignore, NULL) != 0)
		return;
	(void)io_write_all(fd, err->text, strlen(err->text));
	(void)io_write_all(fd, "\n", 1);
}

static int
be_hub(const struct hub_options *h, int ready_fd)
{
	struct ds_err err;

	if (hub_run(h, ready_fd, &err) == 0)
		return STATUS_OK;
	tell_starter(ready_fd, &err);
	return say_failure(&err, STATUS_FAILED);
}

/*--- starting one --------------------------------------------------------*/

/* A text "--name=N...", or none. */
static void
add_option(char *const list[], unsigned *nr, const char *name, uint64_t value,
    const char *unit)
{
	if (value != NOT_GIVEN)
		(void)snprintf(list[(*nr)++], OPTION_SIZE, "--%s=%" PRIu64 "%s",
		    name, value, unit);
}

static int
say_running(char *const list[])
{
	char names[OPTIONS_MOST * OPTION_SIZE] = "";
	size_t len = 0;

	if (list[0] == NULL) {
		say("a hub is running already");
		return STATUS_OK;
	}
	for (unsigned i = 0; list[i] != NULL; i++)
		len += (size_t)snprintf(names + len, sizeof names - len, "%s%.*s",
		    i > 0 ? ", " : "", (int)strcspn(list[i], "="), list[i]);
	say("a hub is running already: %s is not changed: to change it, stop "
	    "the hub (destall serve --stop) and start it anew", names);
	return STATUS_OK;
}

static int
start_hub(const struct serve_options *o)
{
	char texts[OPTIONS_MOST][OPTION_SIZE];
	char *list[] = { texts[0], texts[1], texts[2], texts[3], NULL };
	struct ds_err err;
	unsigned nr = 0;
	int rc;

	add_option(list, &nr, "cache", o->cache.bytes, "");
	add_option(list, &nr, "stage", o->stage_bytes, "");
	add_option(list, &nr, "idle", o->idle_ns == NOT_GIVEN ? NOT_GIVEN :
	    o->idle_ns / 1000, "us");
	add_option(list, &nr, "lease", o->lease_ns == NOT_GIVEN ? NOT_GIVEN :
	    o->lease_ns / 1000, "us");
	list[nr] = NULL;
	rc = start_with(list, &err);
	if (rc == -EALREADY)
		return say_running(list);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

/*--- stopping one --------------------------------------------------------*/

static int
await_end(struct ds_err *err)
{
	struct rundir place;
	int dir, rc;

	rc = rundir_find(&place, err);
	if (rc < 0)
		return rc;
	dir = rundir_open(&place, err);
	if (dir < 0)
		return dir;
	rc = lock_wait_free(dir, place.dir, clock_now_ns() + STOP_DEADLINE_NS,
	    err);
	io_close(&dir);
	return rc;
}

static int
stop_hub(void)
{
	struct wire_frame f;
	struct wire_writer w;
	struct link *l;
	struct ds_err err;
	int rc;

	rc = link_new(&l, false, &err);
	if (rc == -ENOENT) {
		say("no hub is running");
		return STATUS_OK;
	}
	if (rc < 0)
		return say_failure(&err, STATUS_FAILED);
	wire_write(&w, &f, MSG_STOP, 0);
	rc = link_call(l, &f, MSG_DONE, &err);
	link_free(&l);
	if (rc == 0)
		rc = await_end(&err);
	return rc < 0 ? say_failure(&err, STATUS_FAILED) : STATUS_OK;
}

static int
run(const void *opts, int nr, char **operands)
{
	const struct serve_options *o = opts;
	struct hub_options h;
	struct ds_err err;
	int status, ready_fd;

	(void)nr;
	(void)operands;
	status = check_options(o);
	if (status != STATUS_OK)
		return status;
	ready_fd = o->ready_fd == NOT_GIVEN ? -1 : (int)o->ready_fd;
	if (ready_fd >= 0 && fcntl(ready_fd, F_SETFD, FD_CLOEXEC) != 0)
		return refuse_usage("--ready-fd: no such descriptor");
	if (o->stop)
		return stop_hub();
	if (choose_options(o, &h, &err) < 0) {
		tell_starter(ready_fd, &err);
		return say_failure(&err, STATUS_USAGE);
	}
	return o->foreground ? be_hub(&h, ready_fd) : start_hub(o);
}

const struct command cmd_serve = {
	.name = "serve",
	.summary = "start the hub, which holds the cache and serves all jobs",
	.operands = "",
	.about = "Starts the hub of this user and returns when it answers. Jobs "
	    "and commands start it themselves on first use; starting it by hand "
	    "gives it a cgroup and options of its own. It leaves when nobody "
	    "has used it for a while.",
	.options = options,
	.defaults = &defaults,
	.options_size = sizeof defaults,
	.run = run,
};
