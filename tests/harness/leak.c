/* SPDX-License-Identifier: Apache-2.0
 *
 * leak.c: compares a process before and after a unit test.
 *
 * The heap and anonymous memory are not compared under a sanitizer, which has
 * its own allocator and its own leak check at exit.
 */

#include <config.h>

#include "tests/harness/leak.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/heap.h"

/* How much of something there is: more of it afterwards is a leak. */
struct holdings {
	size_t descriptors;
	size_t threads;
	size_t shared_bytes;
	size_t private_bytes;
	size_t heap_bytes;
	size_t heap_blocks;
};

/* Of finished threads whose stacks glibc keeps, 40 MiB of them, it keeps a
 * block each, and which threads' changes: so much these may differ by. */
#define HEAP_SLACK	(5 * 16)

/* What must be the same afterwards. */
struct settings {
	struct sigaction actions[NSIG];
	sigset_t	mask;
	char		cwd[PATH_MAX];
	char		umask[32];
	uint64_t	environment;
};

extern char **environ;

static struct holdings before;
static struct settings settings_before;

/*--- threads -------------------------------------------------------------*/

#define WARM_THREADS 32

static void *
use_heap(void *barrier)
{
	void *volatile p = malloc(1000);

	pthread_barrier_wait(barrier);
	free(p);
	return NULL;
}

/* glibc keeps stacks of finished threads, with a little heap for each.  Once
 * it has its fill of them, threads leave no trace. */
static void
warm_up(void)
{
	pthread_t threads[WARM_THREADS];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, WARM_THREADS);
	for (int i = 0; i < WARM_THREADS; i++)
		if (pthread_create(&threads[i], NULL, use_heap, &barrier) != 0)
			abort();
	for (int i = 0; i < WARM_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}

/*--- counting ------------------------------------------------------------*/

static size_t
count_entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	size_t nr = 0;

	if (d == NULL)
		return 0;
	while ((e = readdir(d)) != NULL)
		nr += e->d_name[0] != '.';
	closedir(d);
	return nr;
}

/* A thread that was joined may need a moment more to leave the list. */
static size_t
count_threads(size_t expected)
{
	time_t deadline = time(NULL) + 5;
	size_t nr;

	do {
		nr = count_entries("/proc/self/task");
		if (nr <= expected)
			break;
		sched_yield();
	} while (time(NULL) < deadline);
	return nr;
}

/* One line of /proc/self/maps. */
struct mapping {
	size_t	from, to;
	char	access[8];
	char	name[16];	/* only its beginning */
};

static bool
parse_mapping(const char *line, struct mapping *m)
{
	m->name[0] = '\0';
	return sscanf(line, "%zx-%zx %7s %*s %*s %*s %15s", &m->from, &m->to,
	    m->access, m->name) >= 3;
}

static bool
is_guard(const struct mapping *m)
{
	return m->name[0] == '\0' && strncmp(m->access, "---", 3) == 0;
}

/* Bytes that are shared with a file or other processes, and anonymous ones.
 * Stacks and arenas that glibc keeps lie beside a guard and do not count. */
static void
count_mappings(struct holdings *h)
{
	FILE *f = fopen("/proc/self/maps", "re");
	struct mapping last = { .from = 0 }, m;
	size_t pending = 0;	/* anonymous, if no guard follows */
	char line[PATH_MAX + 128];

	if (f == NULL)
		return;
	while (fgets(line, sizeof line, f) != NULL && parse_mapping(line, &m)) {
		if (!is_guard(&m) || m.from != last.to)
			h->private_bytes += pending;
		pending = 0;
		if (m.access[3] == 's')
			h->shared_bytes += m.to - m.from;
		else if (m.name[0] == '\0' && !is_guard(&m) &&
		    !(is_guard(&last) && last.to == m.from))
			pending = m.to - m.from;
		last = m;
	}
	h->private_bytes += pending;
	fclose(f);
}

static void
take_stock(struct holdings *h, size_t expected_threads)
{
	*h = (struct holdings){ .descriptors = count_entries("/proc/self/fd") };
	h->threads = count_threads(expected_threads);
	count_mappings(h);
	if (HEAP_IS_SANITIZED)
		h->private_bytes = 0;
	h->heap_bytes = heap_bytes_in_use();
	h->heap_blocks = heap_blocks_in_use();
}

/*--- settings ------------------------------------------------------------*/

/* Reading it by umask() would change it. */
static void
read_umask(char *text, size_t size)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	text[0] = '\0';
	if (f == NULL)
		return;
	while (fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "Umask:", 6) == 0)
			snprintf(text, size, "%.*s", (int)size - 1, line);
	fclose(f);
}

/* FNV-1a over all strings and their ends. */
static uint64_t
hash_environment(void)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (char **e = environ; e != NULL && *e != NULL; e++)
		for (const char *p = *e; p == *e || p[-1] != '\0'; p++)
			hash = (hash ^ (unsigned char)*p) *
			    UINT64_C(0x100000001b3);
	return hash;
}

static void
note_settings(struct settings *s)
{
	memset(s, 0, sizeof *s);
	for (int i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &s->actions[i]) != 0)
			s->actions[i].sa_handler = SIG_DFL;
	sigprocmask(SIG_BLOCK, NULL, &s->mask);
	if (getcwd(s->cwd, sizeof s->cwd) == NULL)
		s->cwd[0] = '\0';
	read_umask(s->umask, sizeof s->umask);
	s->environment = hash_environment();
}

/*--- comparing -----------------------------------------------------------*/

static int
compare(const char *what, size_t was, size_t is)
{
	if (is <= was)
		return 0;
	fprintf(stderr, "leak: %zu %s before, %zu after\n", was, what, is);
	return -1;
}

static int
compare_holdings(const struct holdings *after)
{
	int rc = 0;

	rc |= compare("descriptors", before.descriptors, after->descriptors);
	rc |= compare("threads", before.threads, after->threads);
	rc |= compare("bytes of shared mappings", before.shared_bytes,
	    after->shared_bytes);
	rc |= compare("bytes of private mappings", before.private_bytes,
	    after->private_bytes);
	rc |= compare("blocks of heap", before.heap_blocks, after->heap_blocks);
	rc |= compare("bytes of heap", before.heap_bytes + HEAP_SLACK,
	    after->heap_bytes);
	return rc;
}

static int
changed(const char *what)
{
	fprintf(stderr, "leak: %s changed\n", what);
	return -1;
}

/* Without a handler its flags mean nothing. */
static bool
is_same_action(const struct sigaction *a, const struct sigaction *b)
{
	return a->sa_handler == b->sa_handler &&
	    (a->sa_flags == b->sa_flags || a->sa_handler == SIG_DFL ||
	    a->sa_handler == SIG_IGN);
}

static int
compare_signals(const struct settings *after)
{
	const struct settings *was = &settings_before;
	char what[64];
	int rc = 0;

	for (int i = 1; i < NSIG; i++) {
		if (is_same_action(&was->actions[i], &after->actions[i]))
			continue;
		snprintf(what, sizeof what, "the handler of signal %d", i);
		rc |= changed(what);
	}
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&was->mask, i) != sigismember(&after->mask, i))
			return changed("the signal mask");
	return rc;
}

static int
compare_settings(const struct settings *after)
{
	int rc = compare_signals(after);

	if (strcmp(settings_before.cwd, after->cwd) != 0)
		rc |= changed("the working directory");
	if (strcmp(settings_before.umask, after->umask) != 0)
		rc |= changed("the umask");
	if (settings_before.environment != after->environment)
		rc |= changed("the environment");
	return rc;
}

int
leak_before(void **state)
{
	static bool is_warm;

	(void)state;
	if (!is_warm)
		warm_up();
	is_warm = true;
	note_settings(&settings_before);
	take_stock(&before, SIZE_MAX);
	return 0;
}

int
leak_after(void **state)
{
	static struct settings settings_after;
	struct holdings after;
	int rc;

	(void)state;
	take_stock(&after, before.threads);
	note_settings(&settings_after);
	rc = compare_holdings(&after) | compare_settings(&settings_after);
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
		fprintf(stderr, "leak: a child process was left\n");
		rc = -1;
	}
	return rc;
}
