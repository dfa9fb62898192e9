/* SPDX-License-Identifier: Apache-2.0
 *
 * sharers.c: loaders as jobs at a real hub.
 */

#include <config.h>

#include "tests/harness/sharers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loader/loader.h"

struct pictures files;
struct loaded plain;
struct sharer jobs[JOBS];

void
sharer_open(struct sharer *j, const char *options)
{
	static unsigned nr;
	char name[32];
	struct ds_err err;

	memset(j, 0, sizeof *j);
	assert_int_equal(ds_data_open(&j->data, NULL, files.path, NULL, &err),
	    0);
	assert_int_equal(ds_loader_open(&j->loader, j->data, &err), 0);
	loaded_set(j->loader, "share=yes threads=2");
	(void)snprintf(name, sizeof name, "job=%u", nr++);
	loaded_set(j->loader, name);
	loaded_set(j->loader, options);
}

void
sharer_close(struct sharer *j)
{
	if (j->loader != NULL)
		ds_loader_counts(j->loader, &j->counts);
	ds_loader_close(&j->loader);
	ds_data_close(&j->data);
}

int
sharers_start(void **state)
{
	struct sharer alone;

	leak_before(state);
	alarm(300);		/* rather than wait for ever */
	if (pictures_make(&files, PICTURES) != 0)
		return -1;
	stagehub_start(0);
	sharer_open(&alone, "share=no batch=8");
	memset(&plain, 0, sizeof plain);
	loaded_run(&plain, alone.loader, UINT32_MAX);
	sharer_close(&alone);
	return 0;
}

int
sharers_stop(void **state)
{
	for (unsigned i = 0; i < JOBS; i++)
		sharer_close(&jobs[i]);
	stagehub_stop();
	assert_int_equal(pictures_remove(&files), 0);
	return leak_after(state);
}

/*--- a job ---------------------------------------------------------------*/

uint32_t
sharer_sum(const struct ds_batch *b)
{
	return crc32c(0, b->samples, b->count * b->sample_bytes);
}

static void
use(struct sharer *j, struct ds_batch *b)
{
	loaded_note(&j->got, b);
	if (j->writes)
		memset(b->samples, 0x5a, b->count * b->sample_bytes);
	if (!j->keeps) {
		ds_loader_release(j->loader, &b);
		return;
	}
	j->sums[j->nr_kept] = sharer_sum(b);
	j->kept[j->nr_kept++] = b;
}

int
sharer_try(struct sharer *j, unsigned nr, struct ds_err *err)
{
	struct ds_batch *b;
	int rc = 0;

	while (nr > 0 && rc >= 0) {
		rc = ds_loader_next(j->loader, &b, err);
		if (rc != 1)
			continue;
		use(j, b);
		nr--;
	}
	return rc < 0 && rc != -ENOENT ? rc : 0;
}

void
sharer_train(struct sharer *j, unsigned nr)
{
	struct ds_err err;

	if (sharer_try(j, nr, &err) < 0)
		fail_msg("%s", err.text);
}

static void *
run_job(void *arg)
{
	struct sharer *j = arg;
	struct ds_err err;

	return sharer_try(j, UINT32_MAX, &err) < 0 ? j : NULL;
}

void
sharer_launch(struct sharer *j)
{
	assert_int_equal(pthread_create(&j->thread, NULL, run_job, j), 0);
}

void
sharer_join(struct sharer *j)
{
	void *failed;

	assert_int_equal(pthread_join(j->thread, &failed), 0);
	assert_null(failed);
}

void
sharers_run(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		sharer_launch(&jobs[i]);
	for (unsigned i = 0; i < nr; i++)
		sharer_join(&jobs[i]);
}

static void
check_kept(struct sharer *j)
{
	for (unsigned i = 0; i < j->nr_kept; i++) {
		assert_int_equal(sharer_sum(j->kept[i]), j->sums[i]);
		ds_loader_release(j->loader, &j->kept[i]);
	}
	j->nr_kept = 0;
}

void
sharer_check(struct sharer *j)
{
	struct ds_loader_counts c;

	check_kept(j);
	ds_loader_counts(j->loader, &c);
	assert_int_equal(c.samples + c.skipped, 2 * PICTURES);
	assert_int_equal(c.epochs, 2);
	assert_memory_equal(&j->got, &plain, sizeof plain);
	j->counts = c;
}

const char *
sharer_how(struct sharer *j)
{
	static char text[DS_ERR_TEXT];

	assert_true(ds_loader_shared(j->loader, text, sizeof text) >= 0);
	return text;
}

/*--- beside jobs ---------------------------------------------------------*/

void
sharer_attend_beside(struct party *p, struct sharer *j, uint64_t epoch)
{
	struct ds_err err;
	char key[SHARE_KEY];

	sharer_open(j, "batch=8");
	j->loader->options.share = false;
	assert_int_equal(loader_start(j->loader, &err), 0);
	share_key(j->loader, key);
	party_connect(p);
	assert_int_equal(ds_stage_open(&p->stage, p->hub, &err), 0);
	party_set(p, "stream", key);
	party_set(p, "seed", "0");
	party_set(p, "unit", "8");
	party_set(p, "samples", "61");
	party_attend(p, epoch);
}
