/* SPDX-License-Identifier: Apache-2.0
 *
 * demo_place.c: the demo's folder and its own hub.  Runs in the command, and
 * a part of it in the hub that it forks.
 */

#include <config.h>

#include "tool/demo_place.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "hub/hub.h"

#define WALK_FDS	16
#define READY		"ok\n"

/*--- the folder ----------------------------------------------------------*/

static bool
is_memory(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 &&
	    (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* What is read from memory anyway shows nothing of a cache. */
static const char *
choose_tmp(void)
{
	const char *tmp = getenv("TMPDIR");

	if (tmp != NULL && tmp[0] == '/')
		return tmp;
	return is_memory("/tmp") && !is_memory("/var/tmp") &&
	    access("/var/tmp", W_OK | X_OK) == 0 ? "/var/tmp" : "/tmp";
}

static int
make_folders(struct demo_place *p, struct ds_err *err)
{
	const char *tmp = choose_tmp();
	char socket[DEMO_PATH];
	int n;

	n = snprintf(p->dir, sizeof p->dir, "%s/destall-demo.XXXXXX", tmp);
	if (n < 0 || (size_t)n + sizeof "/hub/ctl.sock" > sizeof p->dir) {
		p->dir[0] = '\0';
		return err_fail(err, -ENAMETOOLONG, "demo: TMPDIR is too long");
	}
	if (mkdtemp(p->dir) == NULL) {
		p->dir[0] = '\0';
		return err_errno(err, "demo: cannot make a folder in %s", tmp);
	}
	strcat(strcpy(p->data, p->dir), "/data");
	strcat(strcpy(p->hub, p->dir), "/hub");
	strcat(strcpy(socket, p->hub), "/ctl.sock");
	if (mkdir(p->hub, 0700) != 0)
		return err_errno(err, "demo: cannot make %s", p->hub);
	if (setenv("DESTALL_HUB", socket, 1) != 0)
		return err_errno(err, "demo: cannot set DESTALL_HUB");
	return 0;
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path) != 0 && errno != ENOENT ? -1 : 0;
}

static int
remove_folders(struct demo_place *p, struct ds_err *err)
{
	if (p->dir[0] == '\0')
		return 0;
	if (nftw(p->dir, remove_one, WALK_FDS, FTW_DEPTH | FTW_PHYS) != 0)
		return err_errno(err, "demo: cannot remove %s", p->dir);
	p->dir[0] = '\0';
	return 0;
}

int
demo_place_open(struct demo_place *p, struct ds_err *err)
{
	int rc;

	*p = (struct demo_place){ 0 };
	rc = make_folders(p, err);
	if (rc < 0)
		(void)remove_folders(p, NULL);
	return rc;
}

int
demo_place_close(struct demo_place *p, struct ds_err *err)
{
	demo_hub_end(p);
	return remove_folders(p, err);
}

/*--- the hub -------------------------------------------------------------*/

/* Of standard streams it needs none; its log is beside its socket. */
static void
detach_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
}

_Noreturn static void
be_hub(uint64_t cache_bytes, const struct demo_group *group, pid_t parent,
    const sigset_t *mask, int ready)
{
	struct hub_options o = hub_defaults;
	struct ds_err err;
	int rc = demo_group_enter(group);

	/* The keyboard's signals are for the demo, which ends us. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	if (getppid() != parent)
		_exit(1);
	detach_streams();
	o.cache_bytes = cache_bytes;
	rc = rc < 0 ? err_fail(&err, rc, "it cannot enter %s", group->dir) :
	    hub_run(&o, ready, &err);
	if (rc < 0)
		(void)io_write_all(ready, err.text, strlen(err.text));
	_exit(rc < 0);
}

static int
wait_ready(int fd, struct ds_err *err)
{
	char text[DS_ERR_TEXT];
	ssize_t n = io_read_all(fd, text, sizeof text - 1);

	if (n < 0)
		return err_fail(err, (int)n, "demo: cannot read from its hub");
	text[n] = '\0';
	if (strcmp(text, READY) == 0)
		return 0;
	return err_fail(err, -ECHILD, "demo: its hub did not start: %s",
	    n > 0 ? text : "it died");
}

int
demo_hub_start(struct demo_place *p, uint64_t cache_bytes,
    const struct demo_group *group, const struct stop *stop,
    struct ds_err *err)
{
	pid_t parent = getpid();
	int ready[2], rc;

	if (pipe2(ready, O_CLOEXEC) != 0)
		return err_errno(err, "demo: cannot make a pipe");
	p->hub_pid = fork();
	if (p->hub_pid == 0) {
		io_close(&ready[0]);
		be_hub(cache_bytes, group, parent, &stop->before, ready[1]);
	}
	rc = p->hub_pid < 0 ? err_errno(err, "demo: cannot fork") : 0;
	io_close(&ready[1]);
	if (rc == 0)
		rc = wait_ready(ready[0], err);
	io_close(&ready[0]);
	if (p->hub_pid < 0)
		p->hub_pid = 0;
	return rc;
}

void
demo_hub_end(struct demo_place *p)
{
	if (p->hub_pid == 0)
		return;
	(void)kill(p->hub_pid, SIGTERM);
	while (waitpid(p->hub_pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->hub_pid = 0;
}
