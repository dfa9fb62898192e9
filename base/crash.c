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
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/must.h"
#include "base/parse.h"

#define NAME_MAX_LEN	64
#define NTH_MAX_LEN	24	/* digits of a 64-bit number, and more */
#define SLEEP_MAX_MS	UINT64_C(3600000)
#define EXIT_AT_POINT	70
#define ERRNO_LIMIT	134	/* past the last errno of Linux */

enum action { ACT_KILL, ACT_EXIT, ACT_STOP, ACT_SLEEP, ACT_ERRNO };

static struct {
	char name[NAME_MAX_LEN];	/* empty: no plan */
	uint64_t nth;
	enum action action;
	uint64_t sleep_ms;		/* ACT_SLEEP */
	int rc;				/* ACT_ERRNO: -errno */
} plan;
static atomic_ullong hits;
static pthread_once_t once = PTHREAD_ONCE_INIT;

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
read_action(const char *text)
{
	if (*text == '\0' || strcmp(text, "kill") == 0) {
		plan.action = ACT_KILL;
	} else if (strcmp(text, "exit") == 0) {
		plan.action = ACT_EXIT;
	} else if (strcmp(text, "stop") == 0) {
		plan.action = ACT_STOP;
	} else if (strncmp(text, "sleep=", 6) == 0) {
		plan.action = ACT_SLEEP;
		must(parse_count(text + 6, 0, SLEEP_MAX_MS, &plan.sleep_ms,
		    NULL) == 0);
	} else {
		plan.action = ACT_ERRNO;
		plan.rc = -errno_by_name(text);
		must(plan.rc < 0);
	}
}

/* A plan that cannot be read is a broken test: stop, do not run unhurt. */
static void
read_plan(void)
{
	const char *text = getenv("DS_DIE_AT");
	size_t len;

	plan.nth = 1;
	if (text == NULL || *text == '\0')
		return;
	len = strcspn(text, ":");
	must(len > 0 && len < sizeof plan.name);
	memcpy(plan.name, text, len);
	text += len + (text[len] == ':');
	if (*text >= '0' && *text <= '9') {
		char nth[NTH_MAX_LEN];

		len = strcspn(text, ":");
		must(len < sizeof nth);
		memcpy(nth, text, len);
		nth[len] = '\0';
		must(parse_count(nth, 1, UINT64_MAX, &plan.nth, NULL) == 0);
		text += len + (text[len] == ':');
	}
	read_action(text);
}

static void
sleep_ms(uint64_t ms)
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
	switch (plan.action) {
	case ACT_KILL:
		kill(getpid(), SIGKILL);
		for (;;)
			pause();
	case ACT_EXIT:
		_exit(EXIT_AT_POINT);
	case ACT_STOP:
		/* To this thread: no other may run us past the point. */
		raise(SIGSTOP);
		return 0;
	case ACT_SLEEP:
		sleep_ms(plan.sleep_ms);
		return 0;
	case ACT_ERRNO:
		return plan.rc;
	}
	return 0;
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
