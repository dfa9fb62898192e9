/* SPDX-License-Identifier: Apache-2.0
 *
 * doctor_hub.c: does a hub run, and whose memory does it use?
 * Runs in the command only; starts none.
 *
 * A hub that a batch job started is in that job's group: the cache counts
 * against the job's memory, and may be killed with it.
 */

#include <config.h>

#include "tool/doctor_hub.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cgroup.h"
#include "base/io.h"
#include "base/text.h"
#include "hub/link.h"
#include "hub/start.h"

#define ROOT		"/"
#define GROUP_SHOWN	200	/* bytes of a group's name */

static const char name[] = "hub";

const struct doctor_verdict *
doctor_hub_verdict(const char *group, const char *ours, uint64_t limit_bytes)
{
	static const struct doctor_verdict of_a_job = {
		DOCTOR_LIMITED,
		"the cache has what that group leaves, and is gone when the "
		"job that the group belongs to ends",
		"stop it (destall serve --stop) and start it outside of any "
		"job (destall serve)", false,
	};
	static const char *const words[] = { "slurm", "job", "pbs", "docker" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(group, words[i]) != NULL)
			return &of_a_job;
	return limit_bytes != CGROUP_NO_LIMIT && strcmp(group, ours) != 0 ?
	    &of_a_job : &doctor_fine;
}

/* A process in another namespace has no number here: 0. */
static pid_t
read_pid(int sock)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof peer;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return 0;
	return peer.pid;
}

static const char *
show_limit(char out[TEXT_FIGURE], uint64_t bytes)
{
	return bytes == CGROUP_NO_LIMIT ? "none" : text_size(out, bytes);
}

static const char *
name_of(const struct cgroup *g)
{
	return g->dir[g->mount_len] != '\0' ? g->dir + g->mount_len : "/";
}

/* text: what is known of the hub already. */
static void
add_group(struct doctor_report *r, pid_t pid, const char *text)
{
	struct cgroup group, ours;
	struct cgroup_memory m;
	char limit[TEXT_FIGURE];
	struct ds_err err;
	const char *its;

	if (pid <= 0 ||
	    cgroup_find_of(&group, ROOT, pid, "memory", &err) < 0 ||
	    cgroup_find(&ours, ROOT, "memory", &err) < 0 ||
	    cgroup_memory(&group, &m, &err) < 0) {
		doctor_add(r, name, &doctor_fine, "%s; in which memory group "
		    "it is cannot be told%s", text,
		    pid <= 0 ? ": it is in another container" : "");
		return;
	}
	its = name_of(&group);
	doctor_add(r, name, doctor_hub_verdict(its, name_of(&ours),
	    m.limit_bytes), "%s; its memory counts against group %.*s, limit "
	    "%s", text, GROUP_SHOWN, its, show_limit(limit, m.limit_bytes));
}

static void
add_link(struct doctor_report *r, const struct link *l, pid_t pid)
{
	const struct control *c = link_control(l);
	/* relaxed: a figure for people.  We are one of them. */
	uint64_t nr = atomic_load_explicit(&c->nr_clients,
	    memory_order_relaxed);
	char text[128];

	(void)snprintf(text, sizeof text, "runs as process %" PRIu64
	    ", destall " PACKAGE_VERSION ", %" PRIu64 " other client%s",
	    pid > 0 ? (uint64_t)pid : c->pid, nr > 0 ? nr - 1 : 0,
	    nr == 2 ? "" : "s");
	add_group(r, pid, text);
}

static void
add_failure(struct doctor_report *r, int rc, const char *why)
{
	static const struct doctor_verdict other = {
		DOCTOR_LIMITED,
		"jobs of this version go on without cache and sharing",
		"stop the other one with its own destall serve --stop", false,
	}, broken = {
		DOCTOR_LIMITED,
		"jobs go on without cache and sharing",
		"stop it (destall serve --stop), or set DESTALL_HUB to another "
		"socket; its log lies beside the socket", false,
	};

	doctor_add(r, name, doctor_blame(-rc, rc == -EPROTO ? &other : &broken),
	    "%s", why);
}

void
doctor_hub(struct doctor_report *r)
{
	struct link *l = NULL;
	struct ds_err err;
	pid_t pid;
	int sock, rc;

	sock = start_connect(false, &err);
	if (sock == -ENOENT || sock == -EINVAL || sock == -ENAMETOOLONG) {
		doctor_add(r, name, &doctor_fine, "none runs: the first job "
		    "starts it");
		return;
	}
	if (sock < 0) {
		add_failure(r, sock, err.text);
		return;
	}
	pid = read_pid(sock);
	rc = link_new_on(&l, sock, &err);
	if (rc < 0) {
		io_close(&sock);
		add_failure(r, rc, err.text);
		return;
	}
	add_link(r, l, pid);
	link_free(&l);
}
