/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_group.c: a control group with little memory, for what the demo reads.
 * Runs in the command only, entering it in the processes that it forks.
 */

#include <config.h>

#include "tool/demo_group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

#define REMOVE_TRIES	500
#define REMOVE_NS	10000000L

/*--- files ---------------------------------------------------------------*/

static int
write_file(const char *dir, const char *name, const char *text)
{
	char path[CGROUP_PATH + 64];
	int fd, rc;

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = io_write_all(fd, text, strlen(text));
	io_close(&fd);
	return rc;
}

/* Swap is refused where it can be: it would only make things slow. */
static int
set_limit(const struct demo_group *g, int version, uint64_t bytes,
    struct ds_err *err)
{
	char text[32];
	int rc;

	(void)snprintf(text, sizeof text, "%" PRIu64, bytes);
	rc = write_file(g->dir, version == 2 ? "memory.max" :
	    "memory.limit_in_bytes", text);
	if (rc == 0 && version == 2)
		(void)write_file(g->dir, "memory.swap.max", "0");
	else if (rc == 0)
		(void)write_file(g->dir, "memory.memsw.limit_in_bytes", text);
	if (rc < 0) {
		errno = -rc;
		return err_errno(err, "%s: no limit can be set", g->dir);
	}
	return 0;
}

/*--- where ---------------------------------------------------------------*/

/* Do the groups in this one have a limit of memory? */
static bool
gives_memory(const struct cgroup *own, size_t len)
{
	char words[1024], *at = words, *word;

	if (own->version == 1)
		return true;
	if (cgroup_read(own, len, "cgroup.subtree_control", words,
	    sizeof words) < 0)
		return false;
	while ((word = strsep(&at, " ")) != NULL) {
		if (strcmp(word, "memory") == 0)
			return true;
	}
	return false;
}

/* The length of the folder to make ours in; 0: there is none. */
static size_t
choose_parent(const struct cgroup *own)
{
	size_t len = strlen(own->dir);

	if (gives_memory(own, len))
		return len;
	if (len <= own->mount_len)
		return 0;
	while (len > own->mount_len && own->dir[len] != '/')
		len--;
	return gives_memory(own, len) ? len : 0;
}

static int
make(struct demo_group *g, const struct cgroup *own, struct ds_err *err)
{
	size_t len = choose_parent(own);
	int n;

	if (len == 0)
		return err_fail(err, -ENOTSUP, "%s: groups in it have no limit "
		    "of memory", own->dir);
	n = snprintf(g->dir, sizeof g->dir, "%.*s/destall-demo-%d", (int)len,
	    own->dir, (int)getpid());
	if (n < 0 || (size_t)n >= sizeof g->dir) {
		g->dir[0] = '\0';
		return err_fail(err, -ENAMETOOLONG, "%s: its path is too long",
		    own->dir);
	}
	if (mkdir(g->dir, 0755) != 0) {
		g->dir[0] = '\0';
		return err_errno(err, "%.*s: no group can be made in it",
		    (int)len, own->dir);
	}
	return 0;
}

/*--- entering ------------------------------------------------------------*/

int
demo_group_enter(const struct demo_group *g)
{
	return g->dir[0] == '\0' ? 0 : write_file(g->dir, "cgroup.procs", "0");
}

/* A right of its own, tried by a child. */
static int
try_to_enter(const struct demo_group *g, struct ds_err *err)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(-demo_group_enter(g));
	if (pid < 0)
		return err_errno(err, "cannot fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
	return errno == 0 ? 0 : err_errno(err, "%s: it cannot be entered",
	    g->dir);
}

/*--- the whole -----------------------------------------------------------*/

int
demo_group_open(struct demo_group *g, const char *root, uint64_t limit_bytes,
    struct ds_err *err)
{
	struct cgroup own;
	int rc;

	*g = (struct demo_group){ 0 };
	rc = cgroup_find(&own, root, "memory", err);
	if (rc == 0)
		rc = make(g, &own, err);
	if (rc < 0)
		return rc;
	rc = set_limit(g, own.version, limit_bytes, err);
	if (rc == 0)
		rc = try_to_enter(g, err);
	if (rc < 0)
		(void)demo_group_close(g, NULL);
	return rc;
}

int
demo_group_close(struct demo_group *g, struct ds_err *err)
{
	const struct timespec pause = { .tv_nsec = REMOVE_NS };
	int rc = 0;

	if (g->dir[0] == '\0')
		return 0;
	for (int i = 0; i < REMOVE_TRIES; i++) {
		rc = rmdir(g->dir) == 0 ? 0 : -errno;
		if (rc != -EBUSY)
			break;
		(void)nanosleep(&pause, NULL);
	}
	errno = -rc;
	if (rc < 0)
		rc = err_errno(err, "demo: cannot remove %s", g->dir);
	g->dir[0] = '\0';
	return rc;
}
