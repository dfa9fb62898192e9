/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_tell.c: what a loader whose job is profiled writes into its journal, and
 * how it leaves.  Runs in clients, in the job's thread.
 */

#include <config.h>

#include "loader/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"
#include "cache/data.h"
#include "loader/loader.h"

#define FLUSH_S		2	/* that streams are given at the end */
#define LEAVE_NS	(10 * NS_PER_S)	/* before the command is not waited for */

void
steer_tell(struct steer *s, enum journal_kind kind, const uint64_t word[7],
    const char *text)
{
	struct journal_record r = { .kind = (uint16_t)kind,
	    .loader = s->loader };

	memcpy(r.word, word, sizeof r.word);
	(void)session_tell(&s->session, &r, text);
}

#define TELL(s, kind, text, ...) \
	steer_tell(s, kind, (const uint64_t[7]){ __VA_ARGS__ }, text)

void
steer_note(struct steer *s, const char *fmt, ...)
{
	char text[DS_ERR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	TELL(s, JOURNAL_NOTE, text, 0);
}

/*--- who it is -----------------------------------------------------------*/

/* The command line, as far as there is room for it. */
static void
read_command(char *text, size_t size)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : io_read_all(fd, text, size - 1);

	io_close(&fd);
	n = n < 0 ? 0 : n;
	while (n > 0 && text[n - 1] == '\0')
		n--;
	for (ssize_t i = 0; i < n; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	text[n] = '\0';
}

static uint64_t
batches_of_epoch(const struct plan *p)
{
	uint64_t samples = plan_samples(p);

	return samples / p->batch + (samples % p->batch != 0);
}

void
steer_tell_loader(struct ds_loader *l)
{
	struct steer *s = l->steer;
	char command[JOURNAL_TEXT_MAX];

	read_command(command, sizeof command);
	TELL(s, JOURNAL_HELLO, command, ROLE_NATIVE, (uint64_t)getpid(),
	    (uint64_t)getppid(), l->options.rank, l->options.ranks,
	    clock_now_ns());
	TELL(s, JOURNAL_LOADER, source_uri(l->data->source), l->options.batch,
	    l->pipeline.nr_makers, l->options.prefetch,
	    batches_of_epoch(&l->plan), plan_samples(&l->plan),
	    LOADER_PIPELINED);
}

/*--- steps, and what they took -------------------------------------------*/

void
steer_tell_step(struct steer *s, uint64_t number, uint64_t asked_ns,
    uint64_t cpu_ns, const struct ds_batch *b)
{
	TELL(s, JOURNAL_STEP, NULL, s->id, number, asked_ns, clock_now_ns(),
	    b->count, cpu_ns, clock_thread_ns());
}

/* What the kernel has read for this process, or 0 where it does not say. */
static uint64_t
storage_bytes(void)
{
	static const char name[] = "\nread_bytes: ";
	char text[512];
	const char *at;

	if (io_read_text(AT_FDCWD, "/proc/self/io", text, sizeof text) < 0)
		return 0;
	at = strstr(text, name);
	return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static struct steer_totals
take_totals(struct ds_loader *l)
{
	struct steer_totals t = { .storage_bytes = storage_bytes(),
	    .cpu_ns = clock_process_ns() };

	must(pthread_mutex_lock(&l->pipeline.lock) == 0);
	t.fetch_ns = l->pipeline.counts.fetch_ns;
	t.prep_ns = l->pipeline.counts.prep_ns;
	must(pthread_mutex_unlock(&l->pipeline.lock) == 0);
	return t;
}

void
steer_begin_totals(struct ds_loader *l)
{
	l->steer->before = take_totals(l);
	l->steer->begin_ns = clock_now_ns();
	l->steer->samples = 0;
}

void
steer_tell_totals(struct ds_loader *l, uint64_t end_ns, uint64_t samples)
{
	struct steer *s = l->steer;
	const struct steer_totals *was = &s->before, now = take_totals(l);

	if (now.prep_ns > was->prep_ns)
		TELL(s, JOURNAL_MADE, NULL, s->id, JOURNAL_ALL_WORKERS,
		    s->begin_ns, end_ns, samples, now.prep_ns - was->prep_ns,
		    now.fetch_ns - was->fetch_ns);
	TELL(s, JOURNAL_STORAGE, NULL, s->id,
	    now.storage_bytes - was->storage_bytes, s->begin_ns, end_ns,
	    now.cpu_ns - was->cpu_ns);
}

/*--- leaving -------------------------------------------------------------*/

struct flushing {
	pthread_mutex_t	lock;
	pthread_cond_t	changed;
	bool		is_done;
};

static struct flushing flushing = { PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_COND_INITIALIZER, false };

static void *
run_flush(void *arg)
{
	(void)arg;
	(void)fflush(NULL);
	(void)pthread_mutex_lock(&flushing.lock);
	flushing.is_done = true;
	(void)pthread_cond_signal(&flushing.changed);
	(void)pthread_mutex_unlock(&flushing.lock);
	return NULL;
}

/* By another thread, because one of the program's may hold a stream for ever,
 * waiting for input. */
static void
flush_streams(void)
{
	struct timespec until;
	pthread_t thread;

	if (clock_gettime(CLOCK_REALTIME, &until) != 0 ||
	    pthread_create(&thread, NULL, run_flush, NULL) != 0)
		return;
	until.tv_sec += FLUSH_S;
	(void)pthread_mutex_lock(&flushing.lock);
	while (!flushing.is_done && pthread_cond_timedwait(&flushing.changed,
	    &flushing.lock, &until) == 0)
		;
	(void)pthread_mutex_unlock(&flushing.lock);
}

/* The command sees first to those who started this process. */
static void
await_leave(const struct steer *s)
{
	static const struct timespec pause = { .tv_nsec = 2 * 1000 * 1000 };
	uint64_t until_ns = clock_now_ns() + LEAVE_NS;

	while (!session_may_go(&s->session) && clock_now_ns() < until_ns)
		(void)nanosleep(&pause, NULL);
}

/* At once: nothing of the job's, no checkpoint and no handler of its end, may
 * run after batches that were not its own. */
_Noreturn void
steer_leave(struct steer *s, enum journal_left why)
{
	TELL(s, JOURNAL_LEFT, NULL, clock_now_ns(), (uint64_t)why);
	if (why != LEFT_ALONE)
		await_leave(s);
	flush_streams();
	_exit(0);
}
