/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup.c: which limits the control groups set this process.
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
#include "base/parse.h"

#define LINE_LIMIT	8192u		/* longer lines are skipped */
#define FILE_LIMIT	8192u		/* of memory.stat, the largest */

/* Version 1 writes "no limit" as the last page below 2^63. */
#define HUGE_LIMIT	(UINT64_C(1) << 62)

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

/* The file of one level: the first len bytes of our directory. */
static ssize_t
read_level(const struct cgroup *g, size_t len, const char *name, char *text,
    size_t size)
{
	char path[CGROUP_PATH + 64];

	must(strlen(name) < 64 && len < CGROUP_PATH);
	(void)snprintf(path, sizeof path, "%.*s/%s", (int)len, g->dir, name);
	return io_read_text(AT_FDCWD, path, text, size);
}

static int
find_membership(struct membership *m, const char *root)
{
	char file[CGROUP_PATH];

	if (snprintf(file, sizeof file, "%s/proc/self/cgroup", root) >=
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

int
cgroup_find(struct cgroup *g, const char *root, const char *controller,
    struct ds_err *err)
{
	struct membership member = { .controller = controller };
	struct mount mount = { .member = &member };
	char words[FILE_LIMIT];
	int rc;

	rc = find_membership(&member, root);
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
	    (read_level(g, g->mount_len, "cgroup.controllers", words,
	    sizeof words) < 0 || !has_word(words, controller, " "))))
		return err_fail(err, -ENOENT,
		    "the cgroup of %s: no hierarchy that we see has it",
		    controller);
	return 0;
}

/*--- limits --------------------------------------------------------------*/

/* The length of our directory's parent within the mount; false at the top. */
static bool
go_up(const struct cgroup *g, size_t *len)
{
	if (*len <= g->mount_len)
		return false;
	do {
		(*len)--;
	} while (*len > g->mount_len && g->dir[*len] != '/');
	return true;
}

/* A number of bytes or "max"; a number too large for us is no limit. */
static int
scan_bytes(const char *text, uint64_t *bytes)
{
	if (strcmp(text, "max") == 0) {
		*bytes = CGROUP_NO_LIMIT;
		return 0;
	}
	if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
		return -EBADMSG;
	if (parse_count(text, 0, HUGE_LIMIT - 1, bytes, NULL) < 0)
		*bytes = CGROUP_NO_LIMIT;
	return 0;
}

/* The number in a file of one level; a file that is not there leaves *bytes
 * alone, because the level does not have the controller. */
static int
read_bytes(const struct cgroup *g, size_t len, const char *name,
    uint64_t *bytes, struct ds_err *err)
{
	char text[64];
	ssize_t n = read_level(g, len, name, text, sizeof text);

	if (n == -ENOENT)
		return 0;
	if (n < 0)
		return err_fail(err, (int)n, "%.*s/%s: cannot be read",
		    (int)len, g->dir, name);
	if (scan_bytes(text, bytes) < 0)
		return err_fail(err, -EBADMSG, "%.*s/%s: not a number of bytes",
		    (int)len, g->dir, name);
	return 0;
}

/* "key number" on a line of its own in memory.stat. */
static uint64_t
find_stat(const char *text, const char *key, uint64_t otherwise)
{
	size_t len = strlen(key);
	char number[32];
	uint64_t value;
	size_t n;

	for (; *text != '\0'; text += *text == '\n') {
		n = strcspn(text, "\n");
		if (n > len && n - len <= sizeof number && text[len] == ' ' &&
		    memcmp(text, key, len) == 0) {
			memcpy(number, text + len + 1, n - len - 1);
			number[n - len - 1] = '\0';
			return scan_bytes(number, &value) == 0 ? value :
			    otherwise;
		}
		text += n;
	}
	return otherwise;
}

static uint64_t
lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One level: its limit, what is used, and how much of that is page cache that
 * the kernel would give up first. */
struct level {
	uint64_t limit, used, idle;
};

static int
read_memory_level(const struct cgroup *g, size_t len, struct level *l,
    struct ds_err *err)
{
	uint64_t high = CGROUP_NO_LIMIT;
	char stat[FILE_LIMIT];
	int rc;

	*l = (struct level){ .limit = CGROUP_NO_LIMIT };
	if (read_level(g, len, "memory.stat", stat, sizeof stat) < 0)
		stat[0] = '\0';
	if (g->version == 2) {
		l->idle = find_stat(stat, "inactive_file", 0);
		rc = read_bytes(g, len, "memory.high", &high, err);
		if (rc == 0)
			rc = read_bytes(g, len, "memory.max", &l->limit, err);
		if (rc == 0)
			rc = read_bytes(g, len, "memory.current", &l->used, err);
	} else {
		/* This one knows of ancestors that we cannot see. */
		high = find_stat(stat, "hierarchical_memory_limit", high);
		l->idle = find_stat(stat, "total_inactive_file", 0);
		rc = read_bytes(g, len, "memory.limit_in_bytes", &l->limit, err);
		if (rc == 0)
			rc = read_bytes(g, len, "memory.usage_in_bytes",
			    &l->used, err);
	}
	l->limit = lesser(l->limit, high);
	return rc;
}

int
cgroup_memory(const struct cgroup *g, struct cgroup_memory *m,
    struct ds_err *err)
{
	struct level l;
	size_t len = strlen(g->dir);
	uint64_t in_use;
	bool own = true;
	int rc;

	m->limit_bytes = m->free_bytes = CGROUP_NO_LIMIT;
	do {
		rc = read_memory_level(g, len, &l, err);
		if (rc < 0)
			return rc;
		if (own)
			m->used_bytes = l.used;
		own = false;
		if (l.limit == CGROUP_NO_LIMIT)
			continue;
		in_use = l.used - lesser(l.used, l.idle);
		m->limit_bytes = lesser(m->limit_bytes, l.limit);
		m->free_bytes = lesser(m->free_bytes,
		    l.limit - lesser(l.limit, in_use));
	} while (go_up(g, &len));
	return 0;
}

/* "QUOTA PERIOD" as version 2 writes it; no quota is "max" there and "-1" in
 * version 1. */
static int
scan_quota(char *text, double *cpus)
{
	char *period = strchr(text, ' ');
	uint64_t quota_us, period_us;

	*cpus = 0;
	if (period == NULL)
		return -EBADMSG;
	*period++ = '\0';
	if (strcmp(text, "max") == 0 || strcmp(text, "-1") == 0)
		return 0;
	if (parse_count(text, 1, HUGE_LIMIT, &quota_us, NULL) < 0 ||
	    parse_count(period, 1, HUGE_LIMIT, &period_us, NULL) < 0)
		return -EBADMSG;
	*cpus = (double)quota_us / (double)period_us;
	return 0;
}

static ssize_t
read_quota(const struct cgroup *g, size_t len, char *text, size_t size)
{
	ssize_t n, more;

	if (g->version == 2)
		return read_level(g, len, "cpu.max", text, size);
	n = read_level(g, len, "cpu.cfs_quota_us", text, size / 2);
	if (n < 0)
		return n;
	text[n++] = ' ';
	more = read_level(g, len, "cpu.cfs_period_us", text + n,
	    size - (size_t)n);
	return more < 0 ? more : n + more;
}

int
cgroup_cpus(const struct cgroup *g, double *cpus, struct ds_err *err)
{
	size_t len = strlen(g->dir);
	char text[128];
	double here;
	ssize_t n;

	*cpus = 0;
	do {
		n = read_quota(g, len, text, sizeof text);
		if (n == -ENOENT)
			continue;
		if (n < 0)
			return err_fail(err, (int)n,
			    "%.*s: the quota of CPU time cannot be read",
			    (int)len, g->dir);
		if (scan_quota(text, &here) < 0)
			return err_fail(err, -EBADMSG,
			    "%.*s: the quota of CPU time is no quota",
			    (int)len, g->dir);
		if (here > 0 && (*cpus <= 0 || here < *cpus))
			*cpus = here;
	} while (go_up(g, &len));
	return 0;
}
