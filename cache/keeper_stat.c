/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_stat.c: tells what is cached and who used it.  Runs in the hub only.
 *
 * One answer is one data set, or one job's use of one; whoever wants all asks
 * again with the number of the last, so that no turn is long.
 */

#include <config.h>

#include "cache/keeper.h"

#include <errno.h>
#include <string.h>

#include "base/must.h"

#define WHOLE_PAGES	8u	/* looked at in one turn */

static uint32_t
read_after(const struct wire_frame *f, bool *sound)
{
	struct wire_reader r;
	uint32_t after;

	wire_read(&r, f);
	after = wire_get_u32(&r);
	*sound = wire_read_end(&r);
	return after;
}

/*--- data sets -----------------------------------------------------------*/

static struct dataset *
next_set(struct keeper *k, uint32_t after)
{
	struct dataset *d, *next = NULL;

	for (d = k->sets; d != NULL; d = d->next) {
		if (d->id > after && (next == NULL || d->id < next->id))
			next = d;
	}
	return next;
}

/* A page that went back stays at its last copy, and its client does not stay
 * (page.h, rule 2). */
static void
copy_page(struct keeper *k, struct dataset *d, struct attachment *a, bool whole)
{
	struct ds_err err;
	int rc = whole ? dataset_copy_page(d, a, &err) :
	    page_copy_counts(a->page.base, &a->copy, &err);
	struct client *c = rc < 0 ? hub_client(k->hub, a->client) : NULL;

	if (c != NULL)
		client_expel(c, err.text);
}

/* The counts are those of now.  Of the fetch times only some pages' are looked
 * at in this turn; stat_look() gets to the others. */
static void
sum_counts(struct keeper *k, struct dataset *d, struct page_copy *sum)
{
	struct attachment *a;
	unsigned nr = 0;

	for (a = d->attached; a != NULL; a = a->next)
		copy_page(k, d, a, nr++ < WHOLE_PAGES);
	*sum = d->sum;
	page_sum_up(sum);
	for (a = d->attached; a != NULL; a = a->next)
		page_add_counts(sum, &a->copy);
}

static void
fill_words(struct keeper *k, struct dataset *d,
    uint64_t word[CACHE_STAT_WORDS])
{
	struct page_copy sum;

	sum_counts(k, d, &sum);
	word[CACHE_STAT_ITEMS] = d->index->nr_items;
	word[CACHE_STAT_BYTES] = d->index->total_bytes;
	word[CACHE_STAT_CACHED_ITEMS] = d->minio.ready_items;
	word[CACHE_STAT_CACHED_BYTES] = d->minio.ready_bytes;
	word[CACHE_STAT_CACHED_PAGES_BYTES] = d->stored_bytes;
	word[CACHE_STAT_INDEX_BYTES] = d->seg.len;
	word[CACHE_STAT_CAP_BYTES] = d->minio.cap_bytes == MINIO_NO_CAP ?
	    0 : d->minio.cap_bytes;
	word[CACHE_STAT_HITS] = sum.count[COUNT_HITS];
	word[CACHE_STAT_MISSES] = sum.count[COUNT_MISSES];
	word[CACHE_STAT_STORAGE_READS] = sum.count[COUNT_STORAGE_READS];
	word[CACHE_STAT_STORAGE_BYTES] = sum.count[COUNT_STORAGE_BYTES];
	word[CACHE_STAT_FAILED_ITEMS] = d->minio.failed_items;
	word[CACHE_STAT_LEASES] = d->minio.leases;
	word[CACHE_STAT_LATE] = d->minio.late;
	word[CACHE_STAT_EXPIRED] = d->expired;
	word[CACHE_STAT_CORRUPT] = d->corrupt;
	word[CACHE_STAT_FETCH_P50_NS] = hist_quantile(&sum.fetch, 0.5);
	word[CACHE_STAT_FETCH_P99_NS] = hist_quantile(&sum.fetch, 0.99);
	word[CACHE_STAT_FETCH_MAX_NS] = hist_quantile(&sum.fetch, 1);
	word[CACHE_STAT_PASSED_CONTAINERS] = sum.count[COUNT_CONTAINERS];
	word[CACHE_STAT_PASSED_LARGE] = sum.count[COUNT_LARGE];
	word[CACHE_STAT_PASSED_CHANGED] = sum.count[COUNT_CHANGED];
}

int
stat_sets(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	uint64_t word[CACHE_STAT_WORDS];
	struct wire_frame answer;
	struct wire_writer w;
	struct dataset *d;
	bool sound;

	(void)err;
	d = next_set(k, read_after(f, &sound));
	if (!sound)
		return -EBADMSG;
	if (d == NULL) {
		/* Who asked for all looks at the control segment next. */
		hub_tell(k->hub);
		keeper_tell(k);
		client_done(c, f->head.serial);
		return 0;
	}
	fill_words(k, d, word);
	wire_write(&w, &answer, MSG_STATED, f->head.serial);
	wire_put_u32(&w, d->id);
	wire_put_bytes(&w, d->uri, strlen(d->uri));
	wire_put_u32(&w, (d->attached != NULL ? CACHE_SET_IN_USE : 0) |
	    (d->minio.closed ? CACHE_SET_CLOSED : 0));
	for (unsigned i = 0; i < CACHE_STAT_WORDS; i++)
		wire_put_u64(&w, word[i]);
	must(wire_write_end(&w));
	client_answer(c, &answer);
	return 0;
}

/*--- jobs ----------------------------------------------------------------*/

static void
describe(struct job_kept *j, const struct dataset *d,
    const struct attachment *a)
{
	j->number = a->number;
	j->client = a->client;
	j->set = d->id;
	j->job = a->job;
	memcpy(j->count, a->copy.count, sizeof j->count);
	memcpy(j->name, a->name, sizeof j->name);
}

static struct job_kept *
find_kept(struct keeper *k, uint64_t job, uint32_t set)
{
	for (unsigned i = 0; job != 0 && i < KEEPER_JOBS_KEPT; i++) {
		if (k->kept[i].job == job && k->kept[i].set == set)
			return &k->kept[i];
	}
	return NULL;
}

/* A job may be thousands of processes: when there is no room for one more, it
 * is added to another of its job. */
void
stat_keep(struct keeper *k, const struct dataset *d,
    const struct attachment *a)
{
	struct job_kept *same = k->nr_kept < KEEPER_JOBS_KEPT ? NULL :
	    find_kept(k, a->job, d->id);

	if (same == NULL) {
		describe(&k->kept[k->nr_kept++ % KEEPER_JOBS_KEPT], d, a);
		return;
	}
	for (unsigned i = 0; i < CACHE_COUNTS; i++)
		same->count[i] += a->copy.count[i];
}

static void
answer_job(struct client *c, const struct wire_frame *f,
    const struct job_kept *j, bool live)
{
	struct wire_frame answer;
	struct wire_writer w;

	wire_write(&w, &answer, MSG_JOB, f->head.serial);
	wire_put_u32(&w, j->number);
	wire_put_u32(&w, j->client);
	wire_put_bytes(&w, j->name, strlen(j->name));
	wire_put_u64(&w, j->job);
	wire_put_u32(&w, live);
	wire_put_u32(&w, j->set);
	for (unsigned i = 0; i < CACHE_COUNTS; i++)
		wire_put_u64(&w, j->count[i]);
	must(wire_write_end(&w));
	client_answer(c, &answer);
}

static struct attachment *
next_attachment(struct keeper *k, uint32_t after, struct dataset **set)
{
	struct attachment *a, *next = NULL;
	struct dataset *d;

	for (d = k->sets; d != NULL; d = d->next) {
		for (a = d->attached; a != NULL; a = a->next) {
			if (a->number > after && (next == NULL ||
			    a->number < next->number)) {
				next = a;
				*set = d;
			}
		}
	}
	return next;
}

/* Whether or not anybody asks. */
void
stat_look(struct keeper *k)
{
	struct dataset *d;
	struct attachment *a = next_attachment(k, k->looked_at, &d);

	k->looked_at = a != NULL ? a->number : 0;
	if (a != NULL)
		copy_page(k, d, a, true);
}

static const struct job_kept *
next_kept(const struct keeper *k, uint32_t after)
{
	const struct job_kept *next = NULL;
	unsigned nr = k->nr_kept < KEEPER_JOBS_KEPT ? k->nr_kept :
	    KEEPER_JOBS_KEPT;

	for (unsigned i = 0; i < nr; i++) {
		if (k->kept[i].number > after && (next == NULL ||
		    k->kept[i].number < next->number))
			next = &k->kept[i];
	}
	return next;
}

int
stat_jobs(struct keeper *k, struct client *c, struct wire_frame *f,
    struct ds_err *err)
{
	const struct job_kept *kept;
	struct attachment *a;
	struct job_kept live;
	struct dataset *d;
	uint32_t after;
	bool sound;

	(void)err;
	after = read_after(f, &sound);
	if (!sound)
		return -EBADMSG;
	a = next_attachment(k, after, &d);
	kept = next_kept(k, after);
	if (a != NULL && (kept == NULL || a->number < kept->number)) {
		copy_page(k, d, a, true);
		describe(&live, d, a);
		answer_job(c, f, &live, true);
	} else if (kept != NULL) {
		answer_job(c, f, kept, false);
	} else {
		client_done(c, f->head.serial);
	}
	return 0;
}
