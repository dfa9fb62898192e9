/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.c: named places at which a test can hurt the program.
 * Runs in every process of a build configured with --enable-crash-points.
 */

#include <config.h>

#include "base/crash.h"

#if WITH_CRASH_POINTS

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/must.h"

#define NAME_MAX_LEN	64
#define EXIT_AT_POINT	70
#define ERRNO_LIMIT	134	/* past the last errno of Linux */

static struct {
	char name[NAME_MAX_LEN];
	char action[NAME_MAX_LEN];
	unsigned long nth;
} plan;
static atomic_ulong hits;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
copy_part(char *dst, const char *from, const char *end)
{
	size_t len = (size_t)(end - from);

	must(len < NAME_MAX_LEN);
	memcpy(dst, from, len);
	dst[len] = '\0';
}

/* A plan that cannot be read is a broken test: stop, do not run unhurt. */
static void
read_plan(void)
{
	const char *text = getenv("DS_DIE_AT");
	const char *end;
	char *after;

	plan.nth = 1;
	if (text == NULL || *text == '\0')
		return;
	end = strchrnul(text, ':');
	copy_part(plan.name, text, end);
	if (*end == '\0')
		return;
	text = end + 1;
	if (*text >= '0' && *text <= '9') {
		plan.nth = strtoul(text, &after, 10);
		must(plan.nth > 0 && (*after == ':' || *after == '\0'));
		text = *after == ':' ? after + 1 : after;
	}
	copy_part(plan.action, text, text + strlen(text));
}

static int
errno_by_name(const char *name)
{
	for (int e = 1; e < ERRNO_LIMIT; e++) {
		const char *known = strerrorname_np(e);

		if (known != NULL && strcmp(known, name) == 0)
			return e;
	}
	return 0;
}

static void
sleep_ms(unsigned long ms)
{
	struct timespec left = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000) * 1000000,
	};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}

static int
act(void)
{
	int e;

	if (plan.action[0] == '\0' || strcmp(plan.action, "kill") == 0) {
		kill(getpid(), SIGKILL);
		pause();
	}
	if (strcmp(plan.action, "exit") == 0)
		_exit(EXIT_AT_POINT);
	if (strcmp(plan.action, "stop") == 0) {
		kill(getpid(), SIGSTOP);
		return 0;
	}
	if (strncmp(plan.action, "sleep=", 6) == 0) {
		sleep_ms(strtoul(plan.action + 6, NULL, 10));
		return 0;
	}
	e = errno_by_name(plan.action);
	must(e != 0);
	return -e;
}

int
crash_point(const char *name)
{
	must(pthread_once(&once, read_plan) == 0);
	if (plan.name[0] == '\0' || strcmp(plan.name, name) != 0)
		return 0;
	if (atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed) + 1 !=
	    plan.nth)
		return 0;
	return act();
}

#endif /* WITH_CRASH_POINTS */
