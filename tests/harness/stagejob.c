/* SPDX-License-Identifier: Apache-2.0
 *
 * stagejob.c: a job of the stage, over the public interface alone, for drills
 * and benchmarks.
 *
 *     stagejob --stream S --units N --bytes B [--epochs E] [--order listed]
 *         [--job-ms MS] [--make-us US] [--workers W] [--ledger FILE]
 *         [--keep] [--write] [--fork N] [--at U] [--peek N] [--orphan-ms MS]
 *
 * This process takes each unit of each epoch once and looks at every byte; W
 * processes make them, or a thread of its own.  Whatever the stage cannot give
 * it makes itself.  A hub that is gone is looked for again at the next epoch.
 *
 *   --job-ms   that the job computes on each
 *   --make-us  that a unit takes to be made, asleep
 *   --keep     every unit to the end; with --write a second thread writes to the
 *              last of them all the time, else every byte is written to
 *   --fork N   at every Nth unit, while it is held; the child looks at it
 *   --at U     begin there; the rest comes last
 *   --peek N   take N units before each epoch, and end there
 *   --orphan-ms  that workers go on for after this process has died
 *
 * Prints a line for each epoch, and at last JSON.  Exit status 1 if a byte was
 * wrong.
 */

#include <config.h>

#include "tests/harness/stagejob.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/args.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "tests/harness/payload.h"

#define TAKE_MS	100u

struct options options = { .stream = "stagejob", .units = 100, .bytes = 4096,
	.epochs = 1 };

static const char *const orders[] = { "random", "listed", NULL };

#define FIELD(member)	offsetof(struct options, member)
#define COUNT(text, member, least) \
	{ .name = text, .kind = ARG_COUNT, .offset = FIELD(member), \
	  .value = "N", .min = least, .max = UINT64_C(1) << 40 }

static const struct arg_option table[] = {
	{ .name = "stream", .kind = ARG_TEXT, .offset = FIELD(stream),
	  .value = "S" },
	{ .name = "ledger", .kind = ARG_TEXT, .offset = FIELD(ledger),
	  .value = "FILE" },
	{ .name = "order", .kind = ARG_CHOICE, .offset = FIELD(order),
	  .value = "WHICH", .choices = orders },
	{ .name = "keep", .kind = ARG_FLAG, .offset = FIELD(keep) },
	{ .name = "write", .kind = ARG_FLAG, .offset = FIELD(write) },
	COUNT("units", units, 1),
	COUNT("bytes", bytes, 2 * STAMP),
	COUNT("epochs", epochs, 1),
	COUNT("job-ms", job_ms, 0),
	COUNT("make-us", make_us, 0),
	COUNT("workers", workers, 0),
	COUNT("at", at, 0),
	COUNT("peek", peek, 0),
	COUNT("fork", fork, 0),
	COUNT("orphan-ms", orphan_ms, 0),
	{ .name = NULL },
};

static struct ds_hub *hub;
static struct ds_stage *stage;
static struct ds_pass *pass;		/* NULL: alone */
static bool is_member;
static bool is_detached;		/* in this epoch */
static bool is_lost;			/* the hub */
static struct counts counts;
static struct hist latency;
static FILE *ledger;

void
die(const char *what, const struct ds_err *err)
{
	fprintf(stderr, "stagejob: %s%s%s\n", what, err != NULL ? ": " : "",
	    err != NULL ? err->text : "");
	exit(2);
}

/*--- giving it to the job ------------------------------------------------*/

static void
deliver(const char *bytes, size_t len, uint64_t epoch, uint64_t unit)
{
	uint32_t crc;

	counts.delivered++;
	if (!make_is_right(bytes, len, epoch, unit)) {
		counts.wrong++;
		fprintf(stderr, "stagejob: epoch %" PRIu64 " unit %" PRIu64
		    ": wrong bytes\n", epoch, unit);
	}
	if (ledger != NULL) {
		crc = crc32c(0, bytes + STAMP, len - STAMP);
		fprintf(ledger, "%" PRIu64 " %" PRIu64 " %" PRIu64 " #%" PRIu64
		    " %08" PRIx32 "\n", epoch, unit, unit, unit, crc);
		if (fflush(ledger) != 0)
			die("cannot write the ledger", NULL);
	}
	make_nap(options.job_ms * 1000);
}

static void
make_alone(uint64_t epoch, uint64_t unit)
{
	char *bytes = malloc(options.bytes);

	if (bytes == NULL)
		die("no memory", NULL);
	counts.alone++;
	make_fill(bytes, epoch, unit);
	deliver(bytes, options.bytes, epoch, unit);
	free(bytes);
}

static void
deliver_taken(struct ds_taken *t, uint64_t epoch, uint64_t asked_ns)
{
	uint64_t now = clock_now_ns(), since;

	memcpy(&since, t->bytes, sizeof since);
	since = since > asked_ns ? since : asked_ns;
	hist_add(&latency, now > since ? now - since : 0);
	counts.staged++;
	counts.own += t->is_own;
	counts.wrong += t->hash != payload_hash(epoch, t->unit);
	if (options.fork > 0 && t->unit % options.fork == 0)
		keep_fork(t, epoch);
	deliver(t->bytes, t->len, epoch, t->unit);
	ds_pass_delivered(pass, 1);
	keep(stage, t, epoch);
}

/*--- a unit --------------------------------------------------------------*/

static void
go_alone(int why)
{
	is_member = false;
	is_detached = why == DS_TAKE_DETACHED;
	is_lost = why == -ESTALE;
	counts.detached += is_detached;
	counts.lost_hub += is_lost;
}

/* False: make it yourself. */
static bool
take(uint64_t epoch, uint64_t unit)
{
	uint64_t asked_ns = clock_now_ns();
	struct ds_taken t;
	struct ds_err err;
	int rc;

	do {
		rc = ds_pass_take(pass, unit, TAKE_MS, &t, &err);
	} while (rc == DS_TAKE_WAIT);
	if (rc == DS_TAKEN) {
		deliver_taken(&t, epoch, asked_ns);
		return true;
	}
	if (rc == DS_TAKE_SELF)
		ds_pass_skip(pass, unit);
	else if (rc == DS_TAKE_DETACHED || rc == -ESTALE)
		go_alone(rc);
	else
		die("cannot take a unit", &err);
	return false;
}

/* On an ordered stream: as soon as those ahead are not too far away. */
static void
try_to_begin(uint64_t unit)
{
	struct ds_err err;
	int rc = ds_pass_begin(pass, unit, options.units, NULL, &err);

	is_member = rc == 1;
	if (rc < 0) {
		go_alone(rc);
		ds_pass_close(&pass);
	}
}

static void
get(uint64_t epoch, uint64_t unit)
{
	if (pass != NULL && !is_member && options.order == ORDER_LISTED &&
	    !is_detached)
		try_to_begin(unit);
	if (!is_member || !take(epoch, unit))
		make_alone(epoch, unit);
}

/*--- an epoch ------------------------------------------------------------*/

static bool
connect_again(void)
{
	struct ds_err err;

	if (hub != NULL && !is_lost)
		return true;
	is_lost = false;
	counts.wrong += keep_end(stage);
	ds_stage_close(&stage);
	ds_disconnect(&hub);
	keep_start();
	return make_open(&hub, &stage, &err);
}

static void
peek(uint64_t epoch)
{
	uint64_t start;
	struct ds_taken t;
	struct ds_err err;

	if (options.peek == 0 || ds_pass_begin(pass, DS_ANY, options.units,
	    &start, &err) != 1)
		return;
	for (uint64_t u = start; u < start + options.peek &&
	    u < options.units; u++) {
		if (ds_pass_take(pass, u, TAKE_MS, &t, &err) != DS_TAKEN) {
			ds_pass_skip(pass, u);
			continue;
		}
		counts.wrong += !make_is_right(t.bytes, t.len, epoch, u);
		ds_stage_release(stage, &t);
	}
	ds_pass_end(pass);
}

/* Where this job begins. */
static uint64_t
begin(uint64_t epoch)
{
	bool has_at = options.at > 0 && epoch == 0;
	uint64_t start = 0;
	struct ds_err err;
	int rc;

	is_member = is_detached = false;
	if (!connect_again() || ds_pass_open(&pass, stage, epoch,
	    has_at ? options.at : DS_ANY, NULL, &err) < 0)
		return 0;
	make_start_thread(pass, epoch);
	peek(epoch);
	if (options.order == ORDER_LISTED)
		return 0;
	rc = ds_pass_begin(pass, has_at ? options.at : DS_ANY, options.units,
	    &start, &err);
	if (rc < 0)
		go_alone(rc);
	is_member = rc == 1;
	return start;
}

static void
end(uint64_t epoch)
{
	if (pass != NULL)
		ds_pass_end(pass);
	make_tell_epoch(epoch + 1);
	make_stop_thread();
	ds_pass_close(&pass);
}

static void
run_epoch(uint64_t epoch)
{
	struct counts before = counts;
	uint64_t start;

	make_tell_epoch(epoch);
	start = begin(epoch);
	for (uint64_t u = start; u < options.units; u++)
		get(epoch, u);
	if (is_member)
		ds_pass_end(pass);
	is_member = false;
	for (uint64_t u = 0; u < start; u++)
		make_alone(epoch, u);
	end(epoch);
	printf("epoch %" PRIu64 " start %" PRIu64 " staged %" PRIu64 " own %"
	    PRIu64 " alone %" PRIu64 "\n", epoch, start,
	    counts.staged - before.staged, counts.own - before.own,
	    counts.alone - before.alone);
	fflush(stdout);
}

/*--- all of it -----------------------------------------------------------*/

static void
print_all(uint64_t ns)
{
	double s = (double)ns / (double)NS_PER_S;

	printf("{\"deliveries\": %" PRIu64 ", \"deliveries_per_s\": %.1f, "
	    "\"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, "
	    "\"staged\": %" PRIu64 ", \"own\": %" PRIu64 ", \"alone\": %" PRIu64
	    ", \"made\": %" PRIu64 ", \"detached\": %" PRIu64
	    ", \"lost_hub\": %" PRIu64 ", \"wrong\": %" PRIu64 "}\n",
	    counts.delivered, (double)counts.delivered / s,
	    (double)hist_quantile(&latency, 0.5) / 1e3,
	    (double)hist_quantile(&latency, 0.99) / 1e3,
	    latency.count > 0 ? (double)latency.max / 1e3 : 0.0,
	    counts.staged, counts.own, counts.alone, make_nr(),
	    counts.detached, counts.lost_hub, counts.wrong);
}

/* All processes of this job are one job. */
static void
name_job(void)
{
	unsigned char random[8];
	char text[17];

	if (getenv("DESTALL_JOB") != NULL)
		return;
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		die("no random numbers", NULL);
	for (size_t i = 0; i < sizeof random; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", random[i]);
	setenv("DESTALL_JOB", text, 1);
}

static void
parse(int argc, char **argv)
{
	struct args args = { .options = &options };
	struct ds_err err;

	args.operands = calloc((size_t)argc + 1, sizeof(char *));
	if (args.operands == NULL)
		die("no memory", NULL);
	if (args_parse(table, argc, argv, &args, &err) != ARGS_RUN ||
	    args.nr_operands > 0 || options.workers > WORKERS_MAX ||
	    options.at >= options.units)
		die("usage: see the head of stagejob.c", NULL);
	free(args.operands);
}

int
main(int argc, char **argv)
{
	uint64_t since_ns;

	parse(argc, argv);
	name_job();
	hist_init(&latency);
	if (options.ledger != NULL) {
		ledger = fopen(options.ledger, "we");
		if (ledger == NULL)
			die("cannot open the ledger", NULL);
	}
	make_start_workers();
	since_ns = clock_now_ns();
	for (uint64_t e = 0; e < options.epochs; e++)
		run_epoch(e);
	since_ns = clock_now_ns() - since_ns;
	make_wait_workers();
	counts.wrong += keep_end(stage);
	ds_stage_close(&stage);
	ds_disconnect(&hub);
	if (ledger != NULL && fclose(ledger) != 0)
		die("cannot write the ledger", NULL);
	print_all(since_ns);
	return counts.wrong > 0;
}
