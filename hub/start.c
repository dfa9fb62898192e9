/* SPDX-License-Identifier: Apache-2.0
 *
 * start.c: finds the hub, or starts it.  Runs in clients.
 *
 *  1. The lock of those who start only spares them work; that there is one
 *     hub is the business of the hub's own lock.
 *  2. The hub has the environment of the one who starts it, but for what
 *     would make a job of it: LD_PRELOAD and DESTALL.
 */

#include <config.h>

#include "hub/start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/io.h"
#include "hub/rundir.h"
#include "hub/spawn.h"

#define RETRY_NS	(3 * NS_PER_MS)
#define START_TRIES	3
#define READY_FD	"--ready-fd=3"
#define READY_TEXT	"ok\n"
#define SENTENCE_SIZE	(DS_ERR_TEXT + 1u)

extern char **environ;

/*--- connecting ----------------------------------------------------------*/

/* The folder says that it is ours; so must the one who listens. */
static int
check_user(int sock, const struct rundir *r, struct ds_err *err)
{
	struct ucred peer;
	socklen_t len = sizeof peer;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return err_errno(err, "%s: whose hub is it", r->socket);
	if (peer.uid != geteuid())
		return err_fail(err, -EPERM, "%s: the hub of user %u, not of "
		    "%u", r->socket, peer.uid, geteuid());
	return 0;
}

/* A socket; -ENOENT if nobody listens; -EAGAIN if the hub is too busy just
 * now; or -errno. */
static int
try_connect(const struct rundir *r, struct ds_err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int sock, rc;

	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return err_errno(err, "cannot make a socket");
	strcpy(to.sun_path, r->socket);	/* rundir_place() saw to its length */
	do {
		rc = connect(sock, (const struct sockaddr *)&to, sizeof to);
	} while (rc != 0 && errno == EINTR);
	if (rc == 0)
		rc = check_user(sock, r, err);
	else if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR)
		rc = err_fail(err, -ENOENT, "no hub runs at %s", r->socket);
	else
		rc = err_errno(err, "cannot connect to the hub at %s", r->socket);
	if (rc < 0)
		io_close(&sock);
	return rc < 0 ? rc : sock;
}

static void
pause_shortly(void)
{
	struct timespec t = { .tv_nsec = (long)RETRY_NS };

	(void)nanosleep(&t, NULL);
}

/* The same, with patience for a hub whose queue is full. */
static int
connect_until(const struct rundir *r, uint64_t deadline_ns, struct ds_err *err)
{
	int rc;

	for (;;) {
		rc = try_connect(r, err);
		if (rc != -EAGAIN || clock_now_ns() >= deadline_ns)
			return rc;
		pause_shortly();
	}
}

/*--- starting ------------------------------------------------------------*/

static bool
is_for_jobs(const char *variable)
{
	return strncmp(variable, "LD_PRELOAD=", 11) == 0 ||
	    strncmp(variable, "DESTALL=", 8) == 0;
}

static size_t
count_strings(char *const list[])
{
	size_t nr = 0;

	while (list != NULL && list[nr] != NULL)
		nr++;
	return nr;
}

static char **
make_environment(void)
{
	char **env = calloc(count_strings(environ) + 1, sizeof *env);
	size_t nr = 0;

	for (char **e = environ; env != NULL && e != NULL && *e != NULL; e++)
		if (!is_for_jobs(*e))
			env[nr++] = *e;
	return env;
}

static char **
make_arguments(const char *program, char *const options[])
{
	static const char *const first[] = { "serve", "--foreground", READY_FD };
	size_t nr_first = sizeof first / sizeof *first, nr = 0;
	char **argv = calloc(1 + nr_first + count_strings(options) + 1,
	    sizeof *argv);

	if (argv == NULL)
		return NULL;
	/* exec takes them as they are and changes none. */
	argv[nr++] = (char *)(uintptr_t)program;
	for (size_t i = 0; i < nr_first; i++)
		argv[nr++] = (char *)(uintptr_t)first[i];
	for (size_t i = 0; options != NULL && options[i] != NULL; i++)
		argv[nr++] = options[i];
	return argv;
}

static int
spawn_hub(char *const options[], int ready, struct ds_err *err)
{
	char program[START_PATH];
	char **argv, **env;
	int rc;

	rc = start_program(program, sizeof program, err);
	if (rc < 0)
		return rc;
	argv = make_arguments(program, options);
	env = make_environment();
	if (argv == NULL || env == NULL)
		rc = err_fail(err, -ENOMEM, "out of memory");
	else
		rc = spawn_detached(program, argv, env, ready, err);
	free(argv);
	free(env);
	return rc;
}

/* A line, or what there is at the end.  A forked child of the job may hold the
 * other end too, so that the end alone would not tell. */
static int
read_line(int fd, char *text, size_t size, uint64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;
	ssize_t n;

	for (;;) {
		n = poll(&p, 1, clock_left_ms(deadline_ns));
		if (n == 0)
			return -ETIMEDOUT;
		if (n > 0)
			n = read(fd, text + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		len += (size_t)n;
		text[len] = '\0';
		if (n == 0 || len == size - 1 || text[len - 1] == '\n')
			return 0;
	}
}

static int
await_ready(int fd, uint64_t deadline_ns, struct ds_err *err)
{
	char text[SENTENCE_SIZE];
	int rc;

	rc = read_line(fd, text, sizeof text, deadline_ns);
	if (rc == -ETIMEDOUT)
		return err_fail(err, rc, "the hub was started and does not "
		    "answer: see " RUNDIR_LOG " beside its socket");
	if (rc < 0) {
		errno = -rc;
		return err_errno(err, "cannot hear from the hub");
	}
	if (strcmp(text, READY_TEXT) == 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	if (text[0] == '\0')
		return err_fail(err, -ECHILD, "the hub ended without a word: "
		    "see " RUNDIR_LOG " beside its socket");
	return err_fail(err, -ECHILD, "cannot start the hub: %s", text);
}

static int
start_until(char *const options[], uint64_t deadline_ns, struct ds_err *err)
{
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_errno(err, "cannot make a pipe");
	rc = spawn_hub(options, ends[1], err);
	io_close(&ends[1]);
	if (rc == 0 && (rc = crash_point("start.spawned")) < 0)
		rc = err_fail(err, rc, "cannot start the hub");
	if (rc == 0)
		rc = await_ready(ends[0], deadline_ns, err);
	io_close(&ends[0]);
	return rc;
}

/*--- one of many ---------------------------------------------------------*/

/* Does a hub live there, if only one that has not opened its door yet, or has
 * closed it and not left? */
static bool
is_held(int dir)
{
	int lock = openat(dir, RUNDIR_LOCK, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool held = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0 &&
	    errno == EWOULDBLOCK;

	io_close(&lock);
	return held;
}

/* A hub in the way either opens its door, and there is a socket, or leaves:
 * -ENOENT.  -EBUSY: none is in the way. */
static int
await_other(const struct rundir *r, int dir, uint64_t deadline_ns)
{
	int sock = -EBUSY;

	while (is_held(dir) && clock_now_ns() < deadline_ns) {
		sock = try_connect(r, NULL);
		if (sock >= 0)
			break;
		sock = -ENOENT;
		pause_shortly();
	}
	return sock;
}

struct start {
	struct rundir	place;
	char *const	*options;	/* of the hub, NULL at the end */
	uint64_t	deadline_ns;
	bool		is_ours;	/* the hub that answers */
};

/* With the lock: whoever had it before may have started one. */
static int
start_locked(struct start *s, int dir, struct ds_err *err)
{
	const struct rundir *r = &s->place;
	int sock, rc;

	for (int i = 1;; i++) {
		sock = connect_until(r, s->deadline_ns, err);
		if (sock != -ENOENT)
			return sock;
		rc = crash_point("start.locked");
		if (rc < 0)
			return err_fail(err, rc, "cannot start the hub");
		rc = start_until(s->options, s->deadline_ns, err);
		s->is_ours = rc == 0;
		if (rc == 0)
			return connect_until(r, s->deadline_ns, err);
		sock = await_other(r, dir, s->deadline_ns);
		if (sock >= 0)
			return sock;
		if (sock != -ENOENT || i == START_TRIES)
			return rc;
	}
}

/* The lock is given back by name: a forked child may have a copy of it. */
static int
start_once(struct start *s, int dir, int lock, struct ds_err *err)
{
	const struct rundir *r = &s->place;
	int sock;

	for (;;) {
		if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
			sock = start_locked(s, dir, err);
			(void)flock(lock, LOCK_UN);
			return sock;
		}
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_errno(err, "%s/" RUNDIR_START, r->dir);
		sock = connect_until(r, s->deadline_ns, err);
		if (sock != -ENOENT)
			return sock;
		if (clock_now_ns() >= s->deadline_ns)
			return err_fail(err, -ETIMEDOUT, "%s/" RUNDIR_START
			    ": another process starts a hub and does not come "
			    "to an end", r->dir);
		pause_shortly();
	}
}

static int
start_in(struct start *s, struct ds_err *err)
{
	int dir, lock, sock;

	dir = rundir_open(&s->place, err);
	if (dir < 0)
		return dir;
	lock = openat(dir, RUNDIR_START,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0)
		sock = err_errno(err, "%s/" RUNDIR_START, s->place.dir);
	else
		sock = start_once(s, dir, lock, err);
	io_close(&lock);
	io_close(&dir);
	/* It was there, and did not stay: not the -ENOENT of who may not
	 * start one. */
	return sock == -ENOENT ? -ECONNREFUSED : sock;
}

static int
find_place(struct start *s, char *const options[], struct ds_err *err)
{
	*s = (struct start){ .options = options,
	    .deadline_ns = clock_now_ns() + START_DEADLINE_NS };
	return rundir_find(&s->place, err);
}

int
start_connect(bool may_start, struct ds_err *err)
{
	struct start s;
	int sock, rc;

	rc = find_place(&s, NULL, err);
	if (rc < 0)
		return rc;
	sock = connect_until(&s.place, s.deadline_ns, err);
	if (sock != -ENOENT || !may_start)
		return sock;
	return start_in(&s, err);
}

int
start_with(char *const options[], struct ds_err *err)
{
	struct start s;
	int sock, rc;

	rc = find_place(&s, options, err);
	if (rc < 0)
		return rc;
	sock = start_in(&s, err);
	if (sock < 0)
		return sock;
	io_close(&sock);
	return s.is_ours ? 0 : err_fail(err, -EALREADY, "a hub runs already at "
	    "%s", s.place.socket);
}
