/* SPDX-License-Identifier: Apache-2.0
 *
 * loader.c: opening, setting up and closing a loader, and what it tells of
 * itself.  Runs in clients.
 */

#include <config.h>

#include "loader/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/must.h"
#include "cache/data.h"

const struct ds_option *
ds_loader_options(void)
{
	return loader_options_all();
}

int
ds_loader_open(struct ds_loader **out, struct ds_data *data,
    struct ds_err *err)
{
	struct ds_loader *l = calloc(1, sizeof *l);
	int rc;

	if (l == NULL)
		return err_fail(err, -ENOMEM, "no memory for a loader");
	rc = ds_prep_new(&l->prep, err);
	if (rc < 0) {
		free(l);
		return rc;
	}
	l->magic = LOADER_MAGIC;
	l->pid = getpid();
	l->data = data;
	loader_options_init(&l->options);
	must(pthread_mutex_init(&l->turn, NULL) == 0);
	shelf_init(&l->shelf);
	pipeline_init(&l->pipeline, data);
	share_init(&l->share);
	*out = l;
	return 0;
}

int
loader_check_process(const struct ds_loader *l, struct ds_err *err)
{
	must_be(l, LOADER_MAGIC);
	if (l->pid == getpid())
		return 0;
	return err_fail(err, -ECHILD, "the loader was opened before the fork: "
	    "a child opens its own");
}

/*--- becoming ready ------------------------------------------------------*/

static void
unready(struct ds_loader *l)
{
	plan_fini(&l->plan);
	labels_close(&l->labels);
	l->items = NULL;
	l->stream = 0;
	l->is_ready = false;
}

/* What a listing leaves out would be missing without a word, and, if it is a
 * class, change the labels of others. */
static int
check_left_out(const struct ds_loader *l, struct ds_err *err)
{
	const struct source *s = l->data->source;

	if (l->options.partial)
		return 0;
	if (s->notes.unreadable > 0)
		return err_fail(err, -EACCES, "data set %s: it has folders "
		    "or files that cannot be read, %llu: partial=yes leaves "
		    "them out",
		    source_uri(s), (unsigned long long)s->notes.unreadable);
	if (s->notes.links > 0)
		return err_fail(err, -ELOOP, "data set %s: it has links to "
		    "folders, out of it or to nowhere, which are not followed, "
		    "%llu: partial=yes leaves them out", source_uri(s),
		    (unsigned long long)s->notes.links);
	return 0;
}

int
loader_ready(struct ds_loader *l, struct ds_err *err)
{
	int64_t bytes;
	uint64_t nr;
	int rc;

	if (l->is_ready)
		return 0;
	bytes = ds_prep_bytes(l->prep, err);
	if (bytes < 0)
		return (int)bytes;
	rc = check_left_out(l, err);
	if (rc < 0)
		return rc;
	rc = labels_open(&l->labels, l->options.labels, l->data, &l->items,
	    &nr, err);
	if (rc == 0)
		rc = plan_init(&l->plan, &l->options, nr, err);
	if (rc < 0) {
		unready(l);
		return rc;
	}
	l->is_ready = true;
	return 0;
}

int
ds_loader_set(struct ds_loader *loader, const char *name, const char *value,
    struct ds_err *err)
{
	int rc = loader_check_process(loader, err);

	if (rc < 0)
		return rc;
	if (name == NULL || value == NULL)
		return err_fail(err, -EINVAL, "an option has a name and a "
		    "value");
	must(pthread_mutex_lock(&loader->turn) == 0);
	if (loader->is_started) {
		rc = err_fail(err, -EBUSY, "%.64s: too late, there were "
		    "batches already", name);
	} else {
		unready(loader);
		rc = loader_options_set(&loader->options, loader->prep, name,
		    value, err);
	}
	must(pthread_mutex_unlock(&loader->turn) == 0);
	return rc;
}

/*--- closing -------------------------------------------------------------*/

static void
free_loader(struct ds_loader *l)
{
	steer_free(l);
	bad_fini(&l->bad);
	(void)ledger_close(&l->ledger, NULL);	/* all is written already */
	free(l->skips);
	free(l->pipeline.sound);
	unready(l);
	ds_prep_free(&l->prep);
	l->magic = 0;
	free(l);
}

/* In a child: no lock can be taken, or be destroyed. */
static void
abandon(struct ds_loader *l)
{
	if (l->workers != NULL)
		workers_abandon(&l->workers);
	pipeline_drop(&l->pipeline);
	share_abandon(l);
	shelf_abandon(&l->shelf);
	free_loader(l);
}

void
ds_loader_close(struct ds_loader **loader)
{
	struct ds_loader *l = *loader;

	if (l == NULL)
		return;
	must_be(l, LOADER_MAGIC);
	*loader = NULL;
	if (l->pid != getpid()) {
		abandon(l);
		return;
	}
	loader_end(l);
	share_fini(l);
	pipeline_fini(&l->pipeline);
	shelf_fini(&l->shelf);
	must(pthread_mutex_destroy(&l->turn) == 0);
	free_loader(l);
}

/*--- what it tells -------------------------------------------------------*/

int64_t
ds_loader_samples(struct ds_loader *loader, struct ds_err *err)
{
	int64_t nr = loader_check_process(loader, err);

	if (nr < 0)
		return nr;
	must(pthread_mutex_lock(&loader->turn) == 0);
	nr = loader_ready(loader, err);
	if (nr == 0)
		nr = (int64_t)plan_samples(&loader->plan);
	must(pthread_mutex_unlock(&loader->turn) == 0);
	return nr;
}

int64_t
ds_loader_classes(struct ds_loader *loader, struct ds_err *err)
{
	int64_t nr = loader_check_process(loader, err);

	if (nr < 0)
		return nr;
	must(pthread_mutex_lock(&loader->turn) == 0);
	nr = loader_ready(loader, err);
	if (nr == 0)
		nr = (int64_t)labels_classes(loader->labels);
	must(pthread_mutex_unlock(&loader->turn) == 0);
	return nr;
}

const char *
ds_loader_class(struct ds_loader *loader, int64_t label)
{
	const char *name = NULL;

	if (loader_check_process(loader, NULL) < 0)
		return NULL;
	must(pthread_mutex_lock(&loader->turn) == 0);
	if (loader_ready(loader, NULL) == 0)
		name = labels_class(loader->labels, label);
	must(pthread_mutex_unlock(&loader->turn) == 0);
	return name;
}

void
ds_loader_counts(const struct ds_loader *loader,
    struct ds_loader_counts *counts)
{
	struct ds_loader *l = (struct ds_loader *)(uintptr_t)loader;

	*counts = (struct ds_loader_counts){ 0 };
	if (loader_check_process(l, NULL) < 0)
		return;
	must(pthread_mutex_lock(&l->pipeline.lock) == 0);
	*counts = l->pipeline.counts;
	counts->threads = l->pipeline.nr_makers;
	counts->readers = l->pipeline.nr_readers;
	must(pthread_mutex_unlock(&l->pipeline.lock) == 0);
	counts->memory_bytes = shelf_bytes_most(&l->shelf);
	share_add_counts(&l->share, counts);
}

int
ds_loader_bad(const struct ds_loader *loader, uint64_t i, struct ds_bad *bad)
{
	must_be(loader, LOADER_MAGIC);
	return bad_get(&loader->bad, i, bad);
}
