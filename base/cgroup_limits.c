/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup_limits.c: how much memory and processor time the control groups leave
 * this process.  Runs in every process.
 *
 * Each file is read at our own level and at every one above it.
 */

#include <config.h>

#include "base/cgroup.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/parse.h"

#define FILE_LIMIT	8192u	/* of memory.stat, the largest */

/* Version 1 writes "no limit" as the last page below 2^63. */
#define HUGE_LIMIT	(UINT64_C(1) << 62)

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
	ssize_t n = cgroup_read(g, len, name, text, sizeof text);

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

/* One level: its limit, what is used, and how much of that is page cache, which
 * gives way. */
struct level {
	uint64_t limit, used, cache;
};

/* Half of those that were used twice count, too: among them are the programs
 * that run, but without them a job that has read its data before would seem to
 * have no memory left. */
static uint64_t
page_cache(const char *stat, const char *inactive, const char *active)
{
	return find_stat(stat, inactive, 0) + find_stat(stat, active, 0) / 2;
}

static int
read_memory_level(const struct cgroup *g, size_t len, struct level *l,
    struct ds_err *err)
{
	uint64_t high = CGROUP_NO_LIMIT;
	char stat[FILE_LIMIT];
	int rc;

	*l = (struct level){ .limit = CGROUP_NO_LIMIT };
	if (cgroup_read(g, len, "memory.stat", stat, sizeof stat) < 0)
		stat[0] = '\0';
	if (g->version == 2) {
		l->cache = page_cache(stat, "inactive_file", "active_file");
		rc = read_bytes(g, len, "memory.high", &high, err);
		if (rc == 0)
			rc = read_bytes(g, len, "memory.max", &l->limit, err);
		if (rc == 0)
			rc = read_bytes(g, len, "memory.current", &l->used, err);
	} else {
		/* This one knows of ancestors that we cannot see. */
		high = find_stat(stat, "hierarchical_memory_limit", high);
		l->cache = page_cache(stat, "total_inactive_file",
		    "total_active_file");
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
		in_use = l.used - lesser(l.used, l.cache);
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
		return cgroup_read(g, len, "cpu.max", text, size);
	n = cgroup_read(g, len, "cpu.cfs_quota_us", text, size / 2);
	if (n < 0)
		return n;
	text[n++] = ' ';
	more = cgroup_read(g, len, "cpu.cfs_period_us", text + n,
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
