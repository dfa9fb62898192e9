/* SPDX-License-Identifier: Apache-2.0
 *
 * link.c: the client's end of the wire.  Runs in clients, in any of their
 * threads.
 *
 *  1. Serials go from 1; what is told has 0, so that no answer to it can be
 *     taken for the answer of a call.
 *  2. The state goes from live to dying to dead and never back; `why` is
 *     written once, by the one who made it dying.
 *  3. The lock is never touched in a forked child: another thread may have
 *     held it at the fork.
 */

#include <config.h>

#include "hub/link.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/must.h"
#include "hub/job.h"
#include "hub/plug.h"
#include "hub/proto.h"
#include "hub/start.h"

#define LINK_MAGIC	0x44534c4bu	/* "DSLK" */
#define MARK		1u
#define WHY_SIZE	256u
#define ERRNO_MAX	4095u
#define HELLO_TRIES	3
#define UNKNOWN		0u		/* generation: before the welcome */
#define NONE		UINT64_MAX

enum state { LIVE, DYING, DEAD };

struct link {
	unsigned	magic;
	pid_t		pid;
	bool		wipes;		/* fork clears the mark */
	unsigned	*mark;		/* a page of its own */
	size_t		mark_size;

	struct plug	plug;
	uint64_t	patience_ns;	/* LINK_DEADLINE_NS but for tests */

	pthread_mutex_t	lock;		/* of the one who waits for an answer */
	uint32_t	serial;		/* the last one; by the lock */

	_Atomic int	state;
	char		why[WHY_SIZE];

	uint64_t	generation;
	uint32_t	client;
	uint64_t	job;
	struct segment	control;
};

/*--- whose it is ---------------------------------------------------------*/

static int
make_mark(struct link *l, struct ds_err *err)
{
	void *p;

	l->mark_size = (size_t)sysconf(_SC_PAGESIZE);
	p = mmap(NULL, l->mark_size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return err_errno(err, "cannot map a page");
	/* A system that cannot wipe it has pids to go by. */
	l->wipes = madvise(p, l->mark_size, MADV_WIPEONFORK) == 0;
	l->mark = p;
	*l->mark = MARK;
	l->pid = getpid();
	return 0;
}

bool
link_mine(const struct link *l)
{
	must_be(l, LINK_MAGIC);
	return *l->mark == MARK && (l->wipes || l->pid == getpid());
}

/*--- a hub that does not answer ------------------------------------------*/

/* The generation of the one that a call of this process waited for in vain,
 * until it answers again; NONE.  A hub that stands still is waited for once,
 * however many links there are to it.  relaxed, always: who does not see it yet
 * waits longer. */
static _Atomic uint64_t silent = NONE;

static bool
is_silent(const struct link *l)
{
	uint64_t g = atomic_load_explicit(&silent, memory_order_relaxed);

	return g != NONE && (g == l->generation || g == UNKNOWN ||
	    l->generation == UNKNOWN);
}

static void
note_silence(const struct link *l, bool is)
{
	if (is || is_silent(l))
		atomic_store_explicit(&silent, is ? l->generation : NONE,
		    memory_order_relaxed);
}

static uint64_t
patience(const struct link *l)
{
	return is_silent(l) && l->patience_ns > LINK_BRIEF_NS ?
	    LINK_BRIEF_NS : l->patience_ns;
}

/*--- its end -------------------------------------------------------------*/

bool
link_alive(const struct link *l)
{
	/* acquire: pairs with the release in link_end() */
	return link_mine(l) &&
	    atomic_load_explicit(&l->state, memory_order_acquire) == LIVE;
}

/* The hub is told by the end of the connection, whichever forked children
 * hold a copy of it. */
void
link_end(struct link *l, const char *why)
{
	int live = LIVE;

	if (!link_mine(l))
		return;
	/* relaxed: it only chooses who goes on */
	if (!atomic_compare_exchange_strong_explicit(&l->state, &live, DYING,
	    memory_order_relaxed, memory_order_relaxed))
		return;
	(void)snprintf(l->why, sizeof l->why, "%.*s", (int)sizeof l->why - 1,
	    why);
	/* release: pairs with the acquires in link_alive() and say_gone() */
	atomic_store_explicit(&l->state, DEAD, memory_order_release);
	plug_hang_up(&l->plug);
}

bool
link_check(struct link *l)
{
	struct ds_err why;

	if (!link_alive(l))
		return false;
	if (plug_check(&l->plug, &why) == 0)
		return true;
	link_end(l, why.text);
	return false;
}

static int
say_gone(const struct link *l, struct ds_err *err)
{
	/* acquire: pairs with the release in link_end() */
	int state = atomic_load_explicit(&l->state, memory_order_acquire);

	return err_fail(err, -ESTALE, "the hub is gone: %s",
	    state == DEAD ? l->why : "another thread lost it just now");
}

static int
say_not_mine(struct ds_err *err)
{
	return err_fail(err, -ESTALE, "a connection to the hub belongs to the "
	    "process that made it: connect anew after a fork");
}

static int
check_usable(const struct link *l, struct ds_err *err)
{
	if (!link_mine(l))
		return say_not_mine(err);
	return link_alive(l) ? 0 : say_gone(l, err);
}

/*--- calls ---------------------------------------------------------------*/

/* Answers to what was asked before and given up are passed over. */
static int
recv_answer(const struct link *l, struct wire_frame *f, uint32_t serial,
    uint64_t deadline_ns, struct ds_err *err)
{
	int rc;

	for (;;) {
		rc = plug_recv(&l->plug, f, deadline_ns, err);
		if (rc < 0)
			return rc;
		if (f->head.serial == serial)
			return 0;
		wire_close_fds(f);
	}
}

/* Outcomes of a call that leave the link as it is. */
enum { ANSWERED, REFUSED, NOT_ASKED };

/* What the hub said no with goes into err; its errno is err->code, so err is
 * never NULL here. */
static int
read_refusal(struct wire_frame *f, struct ds_err *err)
{
	struct wire_reader r;
	const char *text;
	uint32_t code;
	size_t len;

	wire_close_fds(f);
	wire_read(&r, f);
	code = wire_get_u32(&r);
	text = wire_get_bytes(&r, &len);
	if (!wire_read_end(&r) || code == 0 || code > ERRNO_MAX)
		return err_fail(err, -EBADMSG, "it refused in a way that "
		    "cannot be read");
	(void)err_fail(err, -(int)code, "%.*s", (int)len, text);
	return REFUSED;
}

static int
send_and_recv(struct link *l, struct wire_frame *f, uint64_t deadline_ns,
    struct ds_err *err)
{
	uint32_t serial;
	int rc;

	serial = ++l->serial != 0 ? l->serial : ++l->serial;
	f->head.serial = serial;
	rc = plug_send(&l->plug, f, deadline_ns, err);
	f->nr_fds = 0;		/* the caller's own */
	if (rc == 0)
		rc = recv_answer(l, f, serial, deadline_ns, err);
	if (rc == 0 || rc == -ETIMEDOUT)
		note_silence(l, rc < 0);
	return rc;
}

/* ANSWERED, REFUSED, or what ends the link. */
static int
exchange(struct link *l, struct wire_frame *f, uint16_t answer,
    unsigned times, struct ds_err *err)
{
	int rc;

	rc = send_and_recv(l, f, clock_now_ns() + times * patience(l), err);
	if (rc < 0)
		return rc;
	if (f->head.type == MSG_REFUSED)
		return read_refusal(f, err);
	if (f->head.type == answer || answer == LINK_ANY)
		return ANSWERED;
	wire_close_fds(f);
	return err_fail(err, -EBADMSG, "it answered with message %u where %u "
	    "was due", f->head.type, answer);
}

/* ThreadSanitizer of gcc 12 and clang 14 does not know the call with a clock:
 * it would see no lock here, and races everywhere.  Under it there is no
 * deadline; whoever has the lock has one. */
#ifdef __has_feature
#define SEES_THREADS	__has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define SEES_THREADS	1
#else
#define SEES_THREADS	0
#endif

static int
lock_until(pthread_mutex_t *lock, const struct timespec *until)
{
	return SEES_THREADS ? pthread_mutex_lock(lock) :
	    pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, until);
}

static int
take_lock(struct link *l, uint64_t deadline_ns, struct ds_err *err)
{
	struct timespec until = {
		.tv_sec = (time_t)(deadline_ns / NS_PER_S),
		.tv_nsec = (long)(deadline_ns % NS_PER_S),
	};
	int e;

	e = lock_until(&l->lock, &until);
	if (e == ETIMEDOUT)
		return err_fail(err, -EBUSY, "the hub is busy with "
		    "another thread's request");
	must(e == 0);
	return 0;
}

/* A thread that is cancelled in here would keep the lock. */
static int
call_locked(struct link *l, struct wire_frame *f, uint16_t answer,
    unsigned times, struct ds_err *err)
{
	int rc, old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	rc = take_lock(l, clock_now_ns() + times * patience(l), err);
	if (rc == 0) {
		/* Another thread may have lost it while we waited. */
		rc = link_alive(l) ? exchange(l, f, answer, times, err) :
		    err_fail(err, -ESTALE, "another thread lost it");
		if (rc < 0)
			link_end(l, err->text);
		pthread_mutex_unlock(&l->lock);
	} else {
		rc = NOT_ASKED;
	}
	pthread_setcancelstate(old, &old);
	return rc;
}

static void
give_err(struct ds_err *out, const struct ds_err *err)
{
	if (out != NULL)
		*out = *err;
}

static int
call(struct link *l, struct wire_frame *f, uint16_t answer,
    unsigned times, struct ds_err *err)
{
	struct ds_err why;
	int rc;

	rc = check_usable(l, err);
	if (rc == 0) {
		rc = call_locked(l, f, answer, times, &why);
		if (rc == ANSWERED)
			return 0;
		if (rc == REFUSED || rc == NOT_ASKED) {
			give_err(err, &why);
			rc = why.code;
		} else {
			rc = say_gone(l, err);
		}
	}
	f->nr_fds = 0;
	return rc;
}

int
link_call(struct link *l, struct wire_frame *f, uint16_t answer,
    struct ds_err *err)
{
	return call(l, f, answer, 1, err);
}

int
link_call_long(struct link *l, struct wire_frame *f, uint16_t answer,
    struct ds_err *err)
{
	return call(l, f, answer, LINK_LONG, err);
}

int
link_tell(struct link *l, const struct wire_frame *f, struct ds_err *err)
{
	struct wire_frame copy;
	struct ds_err why;
	int rc;

	rc = check_usable(l, err);
	if (rc < 0)
		return rc;
	must(f->head.len <= WIRE_BODY_MAX && f->nr_fds <= WIRE_FDS_MAX);
	copy.head = f->head;
	copy.head.serial = 0;
	memcpy(copy.body, f->body, f->head.len);
	copy.nr_fds = f->nr_fds;
	memcpy(copy.fds, f->fds, f->nr_fds * sizeof(int));
	rc = plug_send(&l->plug, &copy, clock_now_ns() + patience(l), &why);
	if (rc == -ETIMEDOUT)
		note_silence(l, true);
	if (rc < 0) {
		link_end(l, why.text);
		return say_gone(l, err);
	}
	return 0;
}

/*--- hello ---------------------------------------------------------------*/

static int
attach_control(struct link *l, struct wire_frame *f, struct ds_err *err)
{
	const struct segment_head *head;
	int rc;

	if (f->nr_fds != 1)
		return err_fail(err, -EBADMSG,
		    "the hub's welcome has %u descriptors", f->nr_fds);
	rc = segment_attach(&l->control, &control_kind, f->fds[0], err);
	if (rc < 0)
		return rc;
	/* The mapping is all we need: no number that a program might close
	 * and use for a file of its own. */
	wire_close_fds(f);
	l->control.fd = -1;
	head = l->control.base;
	if (l->control.len < sizeof(struct control) ||
	    head->generation != l->generation) {
		segment_detach(&l->control);
		return err_fail(err, -EBADMSG,
		    "the hub's control segment is not its own");
	}
	return 0;
}

static int
read_welcome(struct link *l, struct wire_frame *f, struct ds_err *err)
{
	struct wire_reader r;
	int rc;

	wire_read(&r, f);
	l->generation = wire_get_u64(&r);
	l->client = wire_get_u32(&r);
	if (!wire_read_end(&r))
		rc = err_fail(err, -EBADMSG,
		    "the hub's welcome cannot be read");
	else
		rc = attach_control(l, f, err);
	wire_close_fds(f);
	return rc;
}

static int
say_hello(struct link *l, struct ds_err *err)
{
	struct wire_frame f;
	struct wire_writer w;
	struct ds_err why;
	int rc;

	wire_write(&w, &f, MSG_HELLO, 0);
	wire_put_bytes(&w, PACKAGE_VERSION, strlen(PACKAGE_VERSION));
	wire_put_u64(&w, l->job);
	must(wire_write_end(&w));
	rc = exchange(l, &f, MSG_WELCOME, 1, &why);
	if (rc == ANSWERED)
		return read_welcome(l, &f, err);
	if (rc == REFUSED) {
		give_err(err, &why);
		return why.code;
	}
	return err_fail(err, rc, "cannot connect to the hub: %s", why.text);
}

static int
make_link(struct link **out, int sock, uint64_t job, uint64_t patience_ns,
    struct ds_err *err)
{
	struct link *l;
	int rc;

	l = calloc(1, sizeof *l);
	if (l == NULL)
		return err_fail(err, -ENOMEM, "out of memory");
	l->magic = LINK_MAGIC;
	l->job = job;
	l->patience_ns = patience_ns;
	must(pthread_mutex_init(&l->lock, NULL) == 0);
	rc = make_mark(l, err);
	if (rc < 0)
		goto free_link;
	rc = plug_take(&l->plug, sock, err);
	if (rc < 0)
		goto unmap_mark;
	rc = say_hello(l, err);
	if (rc < 0)
		goto unmap_mark;
	plug_out_of_the_way(&l->plug);
	*out = l;
	return 0;
unmap_mark:
	munmap(l->mark, l->mark_size);
free_link:
	pthread_mutex_destroy(&l->lock);
	free(l);
	return rc;
}

int
link_new_within(struct link **out, int sock, uint64_t patience_ns,
    struct ds_err *err)
{
	return make_link(out, sock, job_token(NULL), patience_ns, err);
}

int
link_new_on(struct link **out, int sock, struct ds_err *err)
{
	return link_new_within(out, sock, LINK_DEADLINE_NS, err);
}

/* A hub that leaves may take a connection along: then there is none, and the
 * next try finds or starts another. */
int
link_new_as(struct link **out, const char *job, bool may_start,
    struct ds_err *err)
{
	int sock, rc = 0;

	for (int i = 0; i < HELLO_TRIES; i++) {
		sock = start_connect(may_start, err);
		if (sock < 0)
			return sock;
		rc = make_link(out, sock, job_token(job), LINK_DEADLINE_NS,
		    err);
		if (rc == 0)
			return 0;
		io_close(&sock);
		if (rc != -ECONNRESET)
			break;
	}
	return rc;
}

int
link_new(struct link **out, bool may_start, struct ds_err *err)
{
	return link_new_as(out, NULL, may_start, err);
}

void
link_free(struct link **lp)
{
	struct link *l = *lp;
	bool mine;

	if (l == NULL)
		return;
	mine = link_mine(l);
	*lp = NULL;
	if (mine)
		plug_hang_up(&l->plug);
	plug_close(&l->plug);
	segment_detach(&l->control);
	munmap(l->mark, l->mark_size);
	if (mine)
		pthread_mutex_destroy(&l->lock);
	l->magic = 0;
	free(l);
}

/*--- what it knows -------------------------------------------------------*/

uint64_t
link_generation(const struct link *l)
{
	must_be(l, LINK_MAGIC);
	return l->generation;
}

uint32_t
link_client(const struct link *l)
{
	must_be(l, LINK_MAGIC);
	return l->client;
}

uint64_t
link_job(const struct link *l)
{
	must_be(l, LINK_MAGIC);
	return l->job;
}

const struct control *
link_control(const struct link *l)
{
	must_be(l, LINK_MAGIC);
	return l->control.base;
}
