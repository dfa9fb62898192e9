/* SPDX-License-Identifier: Apache-2.0
 *
 * slow.c: makes the files of a directory as slow as a storage of our choice.
 * Runs inside the programs under test, preloaded; needs no root.
 *
 *     DS_SLOW_ROOT=DIR            the files that are slow
 *     DS_SLOW_LATENCY=5ms         what every read waits, each for itself
 *     DS_SLOW_OPEN_LATENCY=5ms    what every open waits
 *     DS_SLOW_RATE=40M            bytes a second of all processes together
 *     DS_SLOW_STATE=FILE          through which they share it, and count
 *     DS_SLOW_FAIL=EIO:GLOB       reading these files fails
 *     DS_SLOW_HANG=GLOB           reading these never comes back
 *     DS_SLOW_CACHED=fast         what is in the page cache is not slow
 *
 * A glob with a slash is compared with the path below the root, else with the
 * last part of it.
 *
 *  1. The storage is one queue: a transfer of n bytes begins when the one
 *     before it ends, takes n / rate, and its reader comes back no sooner.
 *     Idle time is not saved up.
 *  2. Writing, and looking at names and sizes, is not slowed.
 *  3. Whose descriptor it is, is asked of the kernel at each call, so that
 *     dup, fork, exec and descriptors from elsewhere need no book-keeping.
 *  4. glibc reads inside itself for streams.  So fopen for reading is charged,
 *     or fails, or hangs, for the whole file; so is a mapping that can be read.
 *  5. With DS_SLOW_CACHED=fast it is a device under a page cache: a call that
 *     misses asks it once for all that is missing (slow_cached.c), one that
 *     finds all in memory asks nothing.
 */

#include <config.h>

#include "tests/shim/slow.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "tests/shim/shim.h"
#include "tests/shim/slow_state.h"

static struct slow_state own_state;
static struct slow_state *state = &own_state;

static struct {
	char		root[PATH_MAX];
	size_t		root_len;	/* 0: nothing is slow */
	uint64_t	latency_ns;
	uint64_t	open_ns;
	uint64_t	rate;		/* 0: without limit */
	const char	*fail_glob;
	int		fail_error;
	const char	*hang_glob;
	bool		is_cached;	/* the page cache is before it */
} plan;

/*--- settings ------------------------------------------------------------*/

static uint64_t
read_duration(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t ns = 0;

	if (text != NULL && *text != '\0' && parse_duration(text, &ns, NULL) < 0)
		shim_broken(variable, text);
	return ns;
}

static uint64_t
read_rate(void)
{
	const char *text = getenv("DS_SLOW_RATE");
	uint64_t rate = 0;

	if (text != NULL && *text != '\0' &&
	    (parse_size(text, &rate, NULL) < 0 || rate == 0))
		shim_broken("DS_SLOW_RATE", text);
	return rate;
}

static void
read_fail(void)
{
	const char *text = getenv("DS_SLOW_FAIL");
	const char *colon;

	if (text == NULL || *text == '\0')
		return;
	colon = strchr(text, ':');
	if (colon == NULL)
		shim_broken("DS_SLOW_FAIL is not ERRNO:GLOB", text);
	plan.fail_error = shim_errno_by_name(text, (size_t)(colon - text));
	if (plan.fail_error == 0)
		shim_broken("DS_SLOW_FAIL: no such errno", text);
	plan.fail_glob = colon + 1;
}

/* Whose files are always in memory would never be slow. */
static void
read_cached(void)
{
	const char *text = getenv("DS_SLOW_CACHED");

	if (text == NULL || *text == '\0')
		return;
	if (strcmp(text, "fast") != 0)
		shim_broken("DS_SLOW_CACHED", text);
	if (!slow_cached_can_miss(plan.root))
		shim_broken("DS_SLOW_CACHED: of its files none leaves memory",
		    plan.root);
	plan.is_cached = true;
}

/* Raw calls: the wrappers are not to see this. */
static void
map_state(void)
{
	const char *path = getenv("DS_SLOW_STATE");
	void *p;
	long fd;

	if (path == NULL || *path == '\0')
		return;
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC,
	    0600);
	if (fd < 0 || ftruncate((int)fd, sizeof *state) != 0)
		shim_broken("DS_SLOW_STATE cannot be opened", path);
	p = (void *)syscall(SYS_mmap, NULL, sizeof *state,
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		shim_broken("DS_SLOW_STATE cannot be mapped", path);
	close((int)fd);
	state = p;
}

__attribute__((constructor)) static void
set_up(void)
{
	const char *root = getenv("DS_SLOW_ROOT");

	if (root == NULL || *root == '\0')
		return;
	if (realpath(root, plan.root) == NULL || plan.root[1] == '\0')
		shim_broken("DS_SLOW_ROOT is no directory of data", root);
	plan.latency_ns = read_duration("DS_SLOW_LATENCY");
	plan.open_ns = read_duration("DS_SLOW_OPEN_LATENCY");
	plan.rate = read_rate();
	plan.hang_glob = getenv("DS_SLOW_HANG");
	read_fail();
	read_cached();
	map_state();
	plan.root_len = strlen(plan.root);
}

/*--- which files ---------------------------------------------------------*/

/* The path of a descriptor's file below the root, or NULL for any other. */
static const char *
path_below(int fd, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	if (plan.root_len == 0 || fd < 0)
		return NULL;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= (ssize_t)plan.root_len || path[plan.root_len] != '/' ||
	    memcmp(path, plan.root, plan.root_len) != 0)
		return NULL;
	path[n] = '\0';
	return path + plan.root_len + 1;
}

bool
slow_is_ours(int fd)
{
	int saved = errno;
	char path[PATH_MAX];
	struct stat st;
	bool ours;

	ours = path_below(fd, path) != NULL && fstat(fd, &st) == 0 &&
	    S_ISREG(st.st_mode);
	errno = saved;
	return ours;
}

static bool
matches(const char *glob, const char *path)
{
	const char *last = strrchr(path, '/');

	if (glob == NULL || *glob == '\0')
		return false;
	if (strchr(glob, '/') == NULL && last != NULL)
		path = last + 1;
	return fnmatch(glob, path, 0) == 0;
}

/*--- the cost ------------------------------------------------------------*/

static void
add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static void
sleep_until(uint64_t t_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(t_ns / NS_PER_S),
		.tv_nsec = (long)(t_ns % NS_PER_S),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	    EINTR)
		continue;
}

/* Takes the next piece of the queue's time; returns when it ends. */
static uint64_t
queue_transfer(uint64_t now, uint64_t cost_ns)
{
	uint64_t end = atomic_load_explicit(&state->end_ns,
	    memory_order_relaxed);
	uint64_t mine;

	do {
		mine = (end > now ? end : now) + cost_ns;
	} while (!atomic_compare_exchange_weak(&state->end_ns, &end, mine));
	if (end == 0)
		add(&state->start_ns, now);
	else if (end < now)
		add(&state->idle_ns, now - end);
	add(&state->busy_ns, cost_ns);
	return mine;
}

/* Comes back when what was asked for at `since` would have been delivered. */
static void
deliver(uint64_t since, uint64_t bytes)
{
	uint64_t until = since + plan.latency_ns;
	uint64_t end;

	add(&state->reads, 1);
	add(&state->bytes, bytes);
	if (plan.rate > 0) {
		end = queue_transfer(since, (uint64_t)((double)bytes *
		    (double)NS_PER_S / (double)plan.rate));
		if (end > until)
			until = end;
	}
	sleep_until(until);
	if (clock_now_ns() < until)
		add(&state->early, 1);
}

/* The storage delivers what is missing, before the call finds it in memory. */
static void
fetch_missing(int fd, off64_t at, uint64_t len)
{
	uint64_t since = clock_now_ns();
	uint64_t bytes = slow_cached_fetch(fd, at, len);

	if (bytes > 0)
		deliver(since, bytes);
	else
		add(&state->hits, 1);
}

void
slow_end(const struct slow_call *c, int64_t bytes)
{
	int saved = errno;

	if (!plan.is_cached && bytes > 0)
		deliver(c->since, (uint64_t)bytes);
	errno = saved;
}

void
slow_opened(int fd)
{
	if (!slow_is_ours(fd) ||
	    (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
		return;
	add(&state->opens, 1);
	if (plan.open_ns > 0)
		sleep_until(clock_now_ns() + plan.open_ns);
}

/* Does not come back for a file that hangs; -1 with errno for one that fails. */
static int
meet_fault(int fd)
{
	char buf[PATH_MAX];
	const char *path = path_below(fd, buf);

	if (path == NULL)
		return 0;
	if (matches(plan.hang_glob, path)) {
		add(&state->hung, 1);
		for (;;)
			pause();
	}
	if (!matches(plan.fail_glob, path))
		return 0;
	add(&state->failed, 1);
	errno = plan.fail_error;
	return -1;
}

int
slow_begin(struct slow_call *c, int fd, off64_t at, uint64_t len)
{
	int saved = errno;

	if (meet_fault(fd) != 0)
		return -1;
	if (plan.is_cached)
		fetch_missing(fd, at, len);
	c->since = clock_now_ns();
	errno = saved;
	return 0;
}
