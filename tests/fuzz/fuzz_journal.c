/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_journal.c: any bytes as the journals of a job, and what is made of them.
 *
 * The first byte says how many journals there are; each has an equal part of the
 * rest, which is written in two pieces, the first as long as the second byte says.
 * It is read after each of them, and once more as a whole by another session: the
 * records must be the same.  All figures that they give must be figures.
 */

#include <config.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/estimate.h"
#include "analyzer/folder.h"
#include "analyzer/live.h"
#include "analyzer/planner.h"
#include "analyzer/summary.h"
#include "base/io.h"
#include "tests/fuzz/fuzz.h"

#define JOURNALS_MAX	3u
#define PLANS		20u

const char fuzz_name[] = "journal";

struct told {
	struct result	result;
	struct facts	facts;
	uint64_t	sum[JOURNALS_MAX];	/* of the records of each */
};

static void
take(void *arg, size_t process, const struct journal_record *r,
    const char *text)
{
	struct told *t = arg;

	must(process < JOURNALS_MAX);
	must(r->kind > JOURNAL_NONE && r->kind < JOURNAL_KINDS);
	must(r->text <= JOURNAL_TEXT_MAX && strlen(text) <= r->text);
	t->sum[process] = (t->sum[process] ^ r->kind ^ r->word[0]) *
	    UINT64_C(0x9e3779b97f4a7c15) + strlen(text);
	facts_add(&t->facts, process, r, text);
}

/*--- the session ----------------------------------------------------------*/

static struct folder s;

static void
close_session(void)
{
	folder_close(&s);
}

/* One for all inputs, in memory where there is such a place: to make one takes
 * longer than all the rest. */
static void
open_session(void)
{
	struct ds_err err;

	if (s.schedule != NULL)
		return;
	must(setenv("XDG_RUNTIME_DIR", "/dev/shm", 1) == 0);
	must(folder_open(&s, 0, &err) == 0);
	must(atexit(close_session) == 0);
}

static const char *
name_of(unsigned i)
{
	static char name[32];

	(void)snprintf(name, sizeof name, "%u%s", i, JOURNAL_SUFFIX);
	return name;
}

/* As a new session has it. */
static void
reset_session(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		must(unlinkat(s.dir, name_of(i), 0) == 0);
	free(s.files);
	s.files = NULL;
	s.nr_files = 0;
	s.nr_broken = 0;
}

static void
append(unsigned i, const uint8_t *bytes, size_t len)
{
	int fd = openat(s.dir, name_of(i),
	    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	must(fd >= 0 && io_write_all(fd, bytes, len) == 0);
	io_close(&fd);
}

/*--- figures -------------------------------------------------------------*/

static void
check_figure(const struct figure *f)
{
	must(!f->is_known || (isfinite(f->value) && f->value >= 0 &&
	    f->low <= f->value && f->value <= f->high));
}

static void
check_result(const struct result *r)
{
	for (int i = 0; i < RATES; i++)
		check_figure(&r->rate[i]);
	for (int i = 0; i < SHARES; i++) {
		check_figure(&r->share[i]);
		must(!r->share[i].is_known || r->share[i].value <= 1);
	}
	check_figure(&r->handover_ms_per_batch);
	check_figure(&r->cpu_ms_per_sample);
	for (size_t i = 0; i < r->nr_alone; i++)
		check_figure(&r->alone[i].samples_per_s);
	for (size_t i = 0; i < r->nr_workers; i++)
		must(r->workers[i].fetch_ms_per_sample >= 0 &&
		    r->workers[i].prep_ms_per_sample >= 0);
}

static void
check_plans(const struct facts *f, const struct measured_list *l, double each)
{
	const struct fact_loader *loader = facts_training(f);
	struct planner p = { 0 };
	struct planner_job j;
	struct planned b;

	if (loader == NULL)
		return;
	j = (struct planner_job){ .workers = loader->workers,
	    .batch_size = loader->batch_size, .room = loader->batches,
	    .cores = 4, .knows_files = true, .batch_s = each, .step_s = each };
	planner_start(&p, &j);
	for (unsigned i = 0; i < PLANS; i++) {
		planner_next(&p, l, &b);
		must(b.batches > 0 && b.kind > BLOCK_NONE &&
		    b.kind < BLOCK_END);
	}
}

static void
make_figures(struct told *t)
{
	struct measured_list list = { 0 };
	struct plain plain;
	size_t nr;

	measure_blocks(&list, &t->facts, 0);
	nr = list.nr;
	measure_blocks(&list, &t->facts, 0);
	must(list.nr == nr);
	for (size_t i = 0; i < nr; i++)
		must(list.list[i].s_per_sample > 0);
	measure_plain(&plain, &t->facts);
	must(plain.s_per_sample >= 0 && plain.samples >= 0 && plain.step_s >= 0);
	must(plain.first_s >= 0);
	check_plans(&t->facts, &list, plain.s_per_sample);
	(void)live_estimate(&t->result, &t->facts);
	check_result(&t->result);
	estimate_rates(&t->result, &list, (unsigned)t->result.job.workers);
	estimate_job(&t->result, &list);
	estimate_workers(&t->result, &t->facts);
	(void)estimate_is_narrow(&list, 2, 0.02);
	summary_loaders(&t->result, &t->facts);
	summary_cuts(&t->result, &list);
	summary_residency(&t->result, &list);
	summary_ranks(&t->result, &t->facts);
	(void)facts_all_left(&t->facts);
	check_result(&t->result);
	measured_fini(&list);
}

/*--- journals ------------------------------------------------------------*/

static void
told_init(struct told *t)
{
	memset(t, 0, sizeof *t);
	result_init(&t->result);
	facts_init(&t->facts, &t->result);
}

static void
told_fini(struct told *t)
{
	facts_fini(&t->facts);
	result_fini(&t->result);
}

static void
read_pieces(struct told *t, const uint8_t *bytes, size_t size, unsigned nr,
    size_t first)
{
	if (first > size)
		first = size;
	for (unsigned i = 0; i < nr; i++) {
		append(i, bytes + i * size, first);
		/* So that journals have the numbers of their names. */
		folder_read(&s, take, t);
	}
	for (unsigned i = 0; i < nr; i++)
		append(i, bytes + i * size + first, size - first);
	folder_read(&s, take, t);
	must(s.nr_broken <= nr);
	reset_session(nr);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct told torn, whole;
	unsigned nr;
	size_t size;

	if (len < 2)
		return 0;
	open_session();
	nr = 1 + bytes[0] % JOURNALS_MAX;
	size = (len - 2) / nr;
	told_init(&torn);
	told_init(&whole);
	read_pieces(&torn, bytes + 2, size, nr, bytes[1]);
	read_pieces(&whole, bytes + 2, size, nr, size);
	must(memcmp(torn.sum, whole.sum, sizeof torn.sum) == 0);
	make_figures(&whole);
	told_fini(&torn);
	told_fini(&whole);
	return 0;
}
