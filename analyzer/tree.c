/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c: the processes that a job is made of.  Runs in the command only.
 */

#include <config.h>

#include "analyzer/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/list.h"

#define STAT_TEXT	1024u
#define ROUNDS		200u	/* of 10 ms: a process that cannot be ended is left */
#define ROUNDS_LAST	100u	/* for who still has something to pass on */

struct process {
	pid_t	pid, parent;
	char	state;
	bool	is_ours;
};

struct processes {
	struct process *list;
	size_t	nr;
};

void
tree_adopt(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/*--- who there is --------------------------------------------------------*/

static bool
read_process(struct process *p, const char *name)
{
	char path[64], text[STAT_TEXT];
	const char *rest;
	int parent;

	(void)snprintf(path, sizeof path, "/proc/%.20s/stat", name);
	if (io_read_text(AT_FDCWD, path, text, sizeof text) < 0)
		return false;
	/* The name of a program may hold anything, parentheses, too. */
	rest = strrchr(text, ')');
	*p = (struct process){ .pid = (pid_t)strtol(name, NULL, 10) };
	if (rest == NULL || sscanf(rest + 1, " %c %d", &p->state, &parent) != 2)
		return false;
	p->parent = parent;
	return true;
}

static void
list_processes(struct processes *all)
{
	struct process one;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	*all = (struct processes){ 0 };
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_process(&one, entry->d_name))
			continue;
		all->list = list_grow(all->list, all->nr, sizeof *all->list);
		all->list[all->nr++] = one;
	}
	if (dir != NULL)
		(void)closedir(dir);
}

static struct process *
find(const struct processes *all, pid_t pid)
{
	for (size_t i = 0; i < all->nr; i++) {
		if (all->list[i].pid == pid)
			return &all->list[i];
	}
	return NULL;
}

/* Does it descend from one of these? */
static bool
descends(const struct processes *all, const struct process *p,
    const pid_t *from, size_t nr)
{
	for (size_t depth = 0; p != NULL && depth < all->nr; depth++) {
		for (size_t i = 0; i < nr; i++) {
			if (p->parent == from[i])
				return true;
		}
		p = find(all, p->parent);
	}
	return false;
}

static bool
is_one_of(pid_t pid, const pid_t *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (list[i] == pid)
			return true;
	}
	return false;
}

/*--- what becomes of them ------------------------------------------------*/

void
tree_freeze_above(const pid_t *mains, size_t nr)
{
	const pid_t we = getpid();
	struct processes all;
	struct process *p;

	list_processes(&all);
	for (size_t i = 0; i < nr; i++) {
		p = find(&all, mains[i]);
		for (size_t depth = 0; p != NULL && depth < all.nr; depth++) {
			p = find(&all, p->parent);
			if (p == NULL || p->pid == we)
				break;
			if (!is_one_of(p->pid, mains, nr))
				(void)kill(p->pid, SIGSTOP);
		}
	}
	free(all.list);
}

/* All that descend from us, or those of them that are stopped; how many there are
 * of all. */
static size_t
kill_some(bool only_stopped)
{
	const pid_t we = getpid();
	struct processes all;
	struct process *p;
	size_t nr = 0;

	list_processes(&all);
	for (size_t i = 0; i < all.nr; i++) {
		p = &all.list[i];
		if (p->state == 'Z' || !descends(&all, p, &we, 1))
			continue;
		if (!only_stopped || p->state == 'T')
			(void)kill(p->pid, SIGKILL);
		nr++;
	}
	free(all.list);
	return nr;
}

static void
kill_until_gone(bool only_stopped, unsigned rounds)
{
	static const struct timespec pause = { .tv_nsec = 10000000 };

	for (unsigned i = 0; i < rounds && kill_some(only_stopped) > 0; i++)
		(void)nanosleep(&pause, NULL);
}

void
tree_end(void)
{
	kill_until_gone(false, ROUNDS);
}

void
tree_end_above(void)
{
	kill_until_gone(true, ROUNDS_LAST);
	tree_end();
}

bool
tree_is_alive(pid_t pid)
{
	struct process p;
	char name[32];

	(void)snprintf(name, sizeof name, "%d", (int)pid);
	return read_process(&p, name) && p.state != 'Z' && p.state != 'X';
}
