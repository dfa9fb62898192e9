/* SPDX-License-Identifier: Apache-2.0
 *
 * taker_hold.c: batches that taker.c holds: in this process, in forked
 * children, and under a thread that writes into them.  Run by tests.
 *
 *  1. Of each page (of the batch, not of memory) of what is written, the first
 *     word is the thread's: it finds there what it stored last, and stores the
 *     next number.  All else stays as it was.
 *  2. The thread is under the lock only while it writes one batch: the loader
 *     runs beside it.
 */

#include <config.h>

#include "tests/harness/taker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"

#define PAGE	4096u
#define CHILDREN 16u

struct held {
	struct held	*next;
	struct reading	*reading;
	struct ds_batch	*batch;
	uint32_t	sum;		/* of all but the thread's words */
	bool		is_written;
	uint64_t	rounds;		/* in which it was */
};

static struct held *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t writer;
static bool has_writer, is_ending;

static struct {
	pid_t	pid;
	int	go;			/* closed: look now */
} children[CHILDREN];
static unsigned nr_children;

static size_t
size_of(const struct held *h)
{
	return h->batch->count * h->batch->sample_bytes;
}

static uint32_t
sum_rest(const struct held *h)
{
	const char *p = h->batch->samples;
	size_t size = size_of(h), skip = sizeof h->rounds, n;
	uint32_t sum = 0;

	for (size_t at = 0; at + skip < size; at += PAGE) {
		n = size - at < PAGE ? size - at : PAGE;
		sum = crc32c(sum, p + at + skip, n - skip);
	}
	return sum;
}

/*--- the thread that writes ----------------------------------------------*/

/* Rule 1. */
static void
check_words(const struct held *h)
{
	const char *p = h->batch->samples;
	uint64_t there;

	for (size_t at = 0; h->rounds > 0 &&
	    at + sizeof there < size_of(h); at += PAGE) {
		memcpy(&there, p + at, sizeof there);
		if (there != h->rounds)
			die("epoch %llu, batch %llu, byte %zu: a write is lost",
			    (unsigned long long)h->batch->epoch,
			    (unsigned long long)h->batch->number, at);
	}
}

static void
write_words(struct held *h)
{
	char *p = h->batch->samples;

	h->rounds++;
	for (size_t at = 0; at + sizeof h->rounds < size_of(h); at += PAGE)
		memcpy(p + at, &h->rounds, sizeof h->rounds);
}

static bool
write_all(void)
{
	bool go_on;

	(void)pthread_mutex_lock(&lock);
	for (struct held *h = list; h != NULL; h = h->next) {
		if (h->is_written) {
			check_words(h);
			write_words(h);
		}
	}
	go_on = !is_ending;
	(void)pthread_mutex_unlock(&lock);
	return go_on;
}

static void *
run_writer(void *arg)
{
	while (write_all())
		(void)usleep(100);
	return arg;
}

static void
start_writer(void)
{
	is_ending = false;
	if (pthread_create(&writer, NULL, run_writer, NULL) != 0)
		die("no thread");
	has_writer = true;
}

static void
end_writer(void)
{
	if (!has_writer)
		return;
	(void)pthread_mutex_lock(&lock);
	is_ending = true;
	(void)pthread_mutex_unlock(&lock);
	(void)pthread_join(writer, NULL);
	has_writer = false;
}

/*--- what is held --------------------------------------------------------*/

void
hold_batch(struct reading *r, struct ds_batch *b, bool is_written)
{
	struct held *h = calloc(1, sizeof *h);

	if (h == NULL)
		die("no memory");
	*h = (struct held){ .reading = r, .batch = b,
	    .is_written = is_written };
	h->sum = sum_rest(h);
	(void)pthread_mutex_lock(&lock);
	h->next = list;
	list = h;
	(void)pthread_mutex_unlock(&lock);
	if (is_written && !has_writer)
		start_writer();
}

static void
check_held(void)
{
	for (const struct held *h = list; h != NULL; h = h->next) {
		if (sum_rest(h) != h->sum)
			die("epoch %llu, batch %llu has changed while it was "
			    "held", (unsigned long long)h->batch->epoch,
			    (unsigned long long)h->batch->number);
		check_words(h);
	}
}

void
hold_check(void)
{
	end_writer();
	check_held();
}

void
hold_drop(struct reading *r)
{
	struct held **at = &list, *h;

	end_writer();
	while ((h = *at) != NULL) {
		if (r != NULL && h->reading != r) {
			at = &h->next;
			continue;
		}
		*at = h->next;
		ds_loader_release(h->reading->loader, &h->batch);
		free(h);
	}
}

/*--- children ------------------------------------------------------------*/

static void
run_child(int wait_fd)
{
	char byte;

	if (read(wait_fd, &byte, 1) != 0)
		_exit(2);
	check_held();
	_exit(0);
}

/* The writer is no thread of the child, and would change what it looks at only
 * in the parent's own pages. */
void
hold_fork(void)
{
	int fds[2];
	pid_t pid;

	end_writer();
	(void)fflush(stdout);
	if (nr_children == CHILDREN || pipe(fds) != 0 || (pid = fork()) < 0)
		die("no child");
	if (pid == 0) {
		(void)close(fds[1]);
		for (unsigned i = 0; i < nr_children; i++)
			(void)close(children[i].go);
		run_child(fds[0]);
	}
	(void)close(fds[0]);
	children[nr_children].pid = pid;
	children[nr_children++].go = fds[1];
}

void
hold_join(void)
{
	int status;

	for (unsigned i = 0; i < nr_children; i++)
		(void)close(children[i].go);
	for (unsigned i = 0; i < nr_children; i++) {
		if (waitpid(children[i].pid, &status, 0) < 0 || status != 0)
			die("a child found what is wrong");
	}
	nr_children = 0;
}
