/* SPDX-License-Identifier: Apache-2.0
 *
 * word.c: the one line that the preload object says.  Runs in the preload
 * object.
 */

#include <config.h>

#include "preload/word.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/io.h"
#include "base/text.h"

#define PREFIX		"destall: "
#define TEXT_SIZE	1024u		/* with all of it, within PIPE_BUF */
#define STAT_SIZE	512u		/* of /proc/PID/stat, as far as we read */

/*--- the job -------------------------------------------------------------*/

static uint64_t
mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x != 0 ? x : 1;
}

static int
digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What the starter of the job has called it; 0: nothing of use. */
static uint64_t
get_token(void)
{
	const char *text = env_get("DESTALL_JOB");
	uint64_t token = 0;

	if (text == NULL || strnlen(text, 17) != 16)
		return 0;
	for (; *text != '\0'; text++) {
		int digit = digit_of(*text);

		if (digit < 0)
			return 0;
		token = token << 4 | (uint64_t)digit;
	}
	return token;
}

/* In clock ticks since the machine began; 0 if it is gone.  Its number is not
 * given to another as long as the group has a process. */
static uint64_t
get_start(pid_t pid)
{
	char path[32], text[STAT_SIZE];
	const char *p;

	(void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	if (io_read_text(AT_FDCWD, path, text, sizeof text) <= 0)
		return 0;
	p = strrchr(text, ')');		/* the second; a name may hold some */
	for (int field = 2; p != NULL && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p != NULL ? strtoull(p + 1, NULL, 10) : 0;
}

uint64_t
word_job(void)
{
	uint64_t job = get_token();
	int saved = errno;
	pid_t group;

	if (job == 0) {
		group = getpgrp();
		job = mix((uint64_t)group, get_start(group));
	}
	errno = saved;
	return job;
}

/*--- once ----------------------------------------------------------------*/

/* What was last seen to have had its line: a token, or a group alone.
 * Relaxed: it stands for nothing but itself. */
static _Atomic uint64_t told;

static uint64_t
get_key(void)
{
	uint64_t token = get_token();

	return token != 0 ? token : mix((uint64_t)getpgrp(), 0);
}

static bool
was_told(uint64_t key)
{
	return atomic_load_explicit(&told, memory_order_relaxed) == key;
}

static bool
is_first(uint64_t key)
{
	uint64_t was = atomic_exchange_explicit(&told, key,
	    memory_order_relaxed);
	int rc;

	if (was == key)
		return false;		/* another thread was faster */
	rc = said_mark(word_job());
	return rc > 0 || (rc < 0 && was == 0);
}

/*--- descriptor 2 --------------------------------------------------------*/

/* Written before the program's own code runs. */
static struct {
	bool	is_open;
	dev_t	dev;
	ino_t	ino;
} began;

__attribute__((constructor)) void
word_begin(void)
{
	int saved = errno;
	struct stat st;

	began.is_open = fstat(STDERR_FILENO, &st) == 0;
	if (began.is_open) {
		began.dev = st.st_dev;
		began.ino = st.st_ino;
	}
	errno = saved;
}

static bool
is_as_it_began(const struct stat *st)
{
	return began.is_open && st->st_dev == began.dev &&
	    st->st_ino == began.ino;
}

/* Whether it is there to be written to by us. */
static bool
is_for_us(void)
{
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	struct stat st;

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY ||
	    fstat(STDERR_FILENO, &st) != 0)
		return false;
	if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode) &&
	    !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return false;
	if (is_as_it_began(&st))
		return true;
	return S_ISREG(st.st_mode) ? (flags & O_APPEND) != 0 :
	    S_ISCHR(st.st_mode) && isatty(STDERR_FILENO);
}

/* And takes a line now: a stopped terminal or a full pipe would hold us up. */
static bool
can_be_heard(void)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return is_for_us() && poll(&p, 1, 0) == 1 && p.revents == POLLOUT;
}

/*--- the line ------------------------------------------------------------*/

static bool
is_quiet(void)
{
	const char *level = env_get("DESTALL_LOG");

	return level != NULL && strcmp(level, "quiet") == 0;
}

static void __attribute__((format(printf, 1, 0)))
say_line(const char *fmt, va_list ap)
{
	char raw[TEXT_SIZE], line[sizeof PREFIX + TEXT_SIZE] = PREFIX;
	size_t len = sizeof PREFIX - 1;

	if (vsnprintf(raw, sizeof raw, fmt, ap) < 0)
		return;
	len += text_clean(line + len, TEXT_SIZE, raw);
	line[len++] = '\n';
	(void)io_write_quiet(STDERR_FILENO, line, len);
}

void
word_say(const char *fmt, ...)
{
	int saved = errno;
	uint64_t key = get_key();
	va_list ap;

	if (!was_told(key) && !is_quiet() && can_be_heard() && is_first(key)) {
		va_start(ap, fmt);
		say_line(fmt, ap);
		va_end(ap);
	}
	errno = saved;
}
