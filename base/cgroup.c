/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup.c: in which control groups this process is, and where they are.
 * Runs in every process.
 *
 * /proc/self/cgroup says in which group we are; /proc/self/mountinfo says
 * where that hierarchy is mounted, and which part of it.
 */

#include <config.h>

#include "base/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/must.h"

#define LINE_LIMIT	8192u	/* longer lines are skipped */

/*--- lines ---------------------------------------------------------------*/

typedef bool line_f(char *line, void *arg);
	/* True ends the walk. */

struct walk {
	line_f	*visit;
	void	*arg;
	bool	skipping;	/* the rest of a line that was too long */
	size_t	len;
	char	buf[LINE_LIMIT];
};

/* Hands out the whole lines of the buffer; true when the visitor has enough. */
static bool
visit_lines(struct walk *w)
{
	char *start = w->buf, *end;

	while ((end = memchr(start, '\n',
	    w->len - (size_t)(start - w->buf))) != NULL) {
		*end = '\0';
		if (!w->skipping && w->visit(start, w->arg))
			return true;
		w->skipping = false;
		start = end + 1;
	}
	w->len -= (size_t)(start - w->buf);
	memmove(w->buf, start, w->len);
	if (w->len == sizeof w->buf) {
		w->skipping = true;
		w->len = 0;
	}
	return false;
}

static int
walk_lines(const char *path, line_f *visit, void *arg)
{
	struct walk w = { .visit = visit, .arg = arg };
	ssize_t n;
	int fd, rc = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (;;) {
		n = read(fd, w.buf + w.len, sizeof w.buf - w.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = -errno;
		if (n <= 0)
			break;
		w.len += (size_t)n;
		if (visit_lines(&w))
			break;
	}
	io_close(&fd);
	return rc;
}

/* Is the word one of a list such as "cpu,cpuacct"? */
static bool
has_word(const char *list, const char *word, const char *separators)
{
	size_t len = strlen(word), n;

	for (; *list != '\0'; list += n) {
		list += strspn(list, separators);
		n = strcspn(list, separators);
		if (n == len && memcmp(list, word, len) == 0)
			return true;
	}
	return false;
}

/*--- where we are --------------------------------------------------------*/

struct membership {
	const char	*controller;
	int		version;	/* 0 until known */
	char		path[CGROUP_PATH];
};

/* "4:memory:/job" or, in version 2, "0::/job".  The line of version 1 wins:
 * a controller that has one is not in version 2. */
static bool
read_membership(char *line, void *arg)
{
	struct membership *m = arg;
	char *list, *path;

	list = strchr(line, ':');
	path = list != NULL ? strchr(list + 1, ':') : NULL;
	if (path == NULL || path[1] != '/' ||
	    strlen(path + 1) >= sizeof m->path)
		return false;
	*list++ = '\0';
	*path++ = '\0';
	if (*list != '\0' ? !has_word(list, m->controller, ",") :
	    strcmp(line, "0") != 0)
		return false;
	m->version = *list != '\0' ? 1 : 2;
	strcpy(m->path, path);
	return m->version == 1;
}

/*--- where that is mounted -----------------------------------------------*/

struct mount {
	const struct membership	*member;
	bool	found;
	bool	exact;			/* our group lies below its root */
	char	root[CGROUP_PATH];	/* the part of the hierarchy */
	char	point[CGROUP_PATH];
};

/* A blank, tab, newline or backslash is written as \ooo in mountinfo. */
static void
unescape(char *s)
{
	char *out = s;

	for (; *s != '\0'; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' &&
		    s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
			    (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

/* What of the path lies below the root; NULL if it is not below it.  A path
 * with ".." is outside of what our cgroup namespace shows. */
static const char *
below(const char *path, const char *root)
{
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(path, root, len) != 0 ||
	    (path[len] != '/' && path[len] != '\0') ||
	    has_word(path, "..", "/"))
		return NULL;
	return strcmp(path + len, "/") == 0 ? "" : path + len;
}

/* "32 31 0:29 ROOT POINT rw,relatime [shared:1]... - TYPE SOURCE OPTIONS" */
static bool
read_mount(char *line, void *arg)
{
	struct mount *m = arg;
	char *field[5], *type, *options, *at = line;
	bool exact;

	type = strstr(line, " - ");
	if (type == NULL)
		return false;
	*type = '\0';
	type += 3;
	for (unsigned i = 0; i < 5; i++)
		field[i] = strsep(&at, " ");
	options = strrchr(type, ' ');
	if (field[4] == NULL || options == NULL ||
	    strlen(field[3]) >= CGROUP_PATH || strlen(field[4]) >= CGROUP_PATH)
		return false;
	type[strcspn(type, " ")] = '\0';
	if (m->member->version == 2 ? strcmp(type, "cgroup2") != 0 :
	    strcmp(type, "cgroup") != 0 ||
	    !has_word(options + 1, m->member->controller, ","))
		return false;
	unescape(field[3]);
	unescape(field[4]);
	exact = below(m->member->path, field[3]) != NULL;
	if (field[4][0] != '/' || has_word(field[4], "..", "/") ||
	    (m->found && !exact))
		return false;
	m->found = true;
	m->exact = exact;
	strcpy(m->root, field[3]);
	strcpy(m->point, field[4]);
	return exact;
}

/* root + mount point + our path below it.  A path that does not exist there
 * belongs to a view of the hierarchy other than ours: the mount point is then
 * the nearest that we can see. */
static int
set_dir(struct cgroup *g, const char *root, const struct mount *m)
{
	const char *rest = m->exact ? below(m->member->path, m->root) : "";
	int n;

	must(rest != NULL);	/* or it would not be exact */
	if (strcmp(root, "/") == 0)
		root = "";
	n = snprintf(g->dir, sizeof g->dir, "%s%s", root, m->point);
	if (n < 0 || (size_t)n >= sizeof g->dir)
		return -ENAMETOOLONG;
	g->mount_len = (size_t)n;
	if (strlen(rest) >= sizeof g->dir - g->mount_len)
		return -ENAMETOOLONG;
	strcpy(g->dir + g->mount_len, rest);
	if (access(g->dir, F_OK) != 0)
		g->dir[g->mount_len] = '\0';
	return 0;
}

ssize_t
cgroup_read(const struct cgroup *g, size_t len, const char *name, char *text,
    size_t size)
{
	char path[CGROUP_PATH + 64];

	must(strlen(name) < 64 && len < CGROUP_PATH);
	(void)snprintf(path, sizeof path, "%.*s/%s", (int)len, g->dir, name);
	return io_read_text(AT_FDCWD, path, text, size);
}

static int
find_membership(struct membership *m, const char *root, const char *who)
{
	char file[CGROUP_PATH];

	if (snprintf(file, sizeof file, "%s/proc/%s/cgroup", root, who) >=
	    (int)sizeof file)
		return -ENAMETOOLONG;
	return walk_lines(file, read_membership, m);
}

static int
find_mount(struct mount *m, const char *root)
{
	char file[CGROUP_PATH];

	if (snprintf(file, sizeof file, "%s/proc/self/mountinfo", root) >=
	    (int)sizeof file)
		return -ENAMETOOLONG;
	return walk_lines(file, read_mount, m);
}

static int
find_group(struct cgroup *g, const char *root, const char *who,
    const char *controller, struct ds_err *err)
{
	struct membership member = { .controller = controller };
	struct mount mount = { .member = &member };
	char words[1024];
	int rc;

	rc = find_membership(&member, root, who);
	if (rc == 0 && member.version != 0)
		rc = find_mount(&mount, root);
	if (rc == 0 && mount.found)
		rc = set_dir(g, root, &mount);
	if (rc < 0) {
		errno = -rc;
		return err_errno(err, "the cgroup of %s cannot be found",
		    controller);
	}
	g->version = member.version;
	/* Version 2 names the controllers it has at the top. */
	if (!mount.found || (g->version == 2 &&
	    (cgroup_read(g, g->mount_len, "cgroup.controllers", words,
	    sizeof words) < 0 || !has_word(words, controller, " "))))
		return err_fail(err, -ENOENT,
		    "the cgroup of %s: no hierarchy that we see has it",
		    controller);
	return 0;
}

int
cgroup_find(struct cgroup *g, const char *root, const char *controller,
    struct ds_err *err)
{
	return find_group(g, root, "self", controller, err);
}

int
cgroup_find_of(struct cgroup *g, const char *root, pid_t pid,
    const char *controller, struct ds_err *err)
{
	char who[16];

	(void)snprintf(who, sizeof who, "%d", pid);
	return find_group(g, root, who, controller, err);
}
