/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_options.c: how a loader works, set by names and texts.
 * Runs in clients.
 *
 * As in prep/settings.c the texts of own[] are the defaults.
 */

#include <config.h>

#include "loader/loader_options.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/must.h"
#include "base/parse.h"
#include "base/text.h"

#define BATCH_MAX	(UINT64_C(1) << 20)
#define EPOCHS_MAX	(UINT64_C(1) << 32)	/* base/rng.h */
#define THREADS_MAX	1024u
#define PREFETCH_MAX	1024u
#define RANKS_MAX	(UINT64_C(1) << 20)

/* The job's text may be gone when it is used. */
static int
copy_text(const char *text, char *field, size_t size, struct ds_err *err)
{
	size_t len = strlen(text);

	if (len >= size)
		return err_fail(err, -ERANGE, "longer than %zu characters",
		    size - 1);
	memcpy(field, text, len + 1);
	return 0;
}

static int
copy_path(const char *text, void *field, struct ds_err *err)
{
	return copy_text(text, field, LOADER_PATH, err);
}

static int
copy_job(const char *text, void *field, struct ds_err *err)
{
	return copy_text(text, field, LOADER_JOB, err);
}

static int
read_audit(const char *text, void *field, struct ds_err *err)
{
	double share = -1;
	int rc = text[0] == '\0' ? 0 : parse_decimal(text, &share, err);

	if (rc == 0 && share > 1)
		rc = err_fail(err, -ERANGE, "'%s' is more than all, which is "
		    "1", text);
	if (rc == 0)
		*(double *)field = share;
	return rc;
}

static const char *const orders[] = { "random", "listed", NULL };
static const char *const policies[] = { "fail", "skip", "substitute", NULL };

#define FIELD(member)	offsetof(struct loader_options, member)

const struct arg_option loader_options_table[] = {
	{ .name = "batch", .kind = ARG_COUNT, .offset = FIELD(batch),
	  .value = "N", .min = 1, .max = BATCH_MAX },
	{ .name = "epochs", .kind = ARG_COUNT, .offset = FIELD(epochs),
	  .value = "N", .max = EPOCHS_MAX },
	{ .name = "seed", .kind = ARG_COUNT, .offset = FIELD(seed),
	  .value = "N", .max = UINT64_MAX },
	{ .name = "order", .kind = ARG_CHOICE, .offset = FIELD(order),
	  .value = "random or listed", .choices = orders },
	{ .name = "drop-last", .kind = ARG_FLAG, .offset = FIELD(drop_last) },
	{ .name = "threads", .kind = ARG_COUNT, .offset = FIELD(threads),
	  .value = "N", .max = THREADS_MAX },
	{ .name = "readers", .kind = ARG_COUNT, .offset = FIELD(readers),
	  .value = "N", .max = THREADS_MAX },
	{ .name = "prefetch", .kind = ARG_COUNT, .offset = FIELD(prefetch),
	  .value = "N", .max = PREFETCH_MAX },
	{ .name = "rank", .kind = ARG_COUNT, .offset = FIELD(rank),
	  .value = "N", .max = RANKS_MAX - 1 },
	{ .name = "ranks", .kind = ARG_COUNT, .offset = FIELD(ranks),
	  .value = "N", .min = 1, .max = RANKS_MAX },
	{ .name = "labels", .kind = ARG_PARSED, .offset = FIELD(labels),
	  .value = "folders, none or FILE", .parse = copy_path },
	{ .name = "on-bad", .kind = ARG_CHOICE, .offset = FIELD(on_bad),
	  .value = "fail, skip or substitute", .choices = policies },
	{ .name = "partial", .kind = ARG_FLAG, .offset = FIELD(partial) },
	{ .name = "ledger", .kind = ARG_PARSED, .offset = FIELD(ledger),
	  .value = "FILE", .parse = copy_path },
	{ .name = "share", .kind = ARG_FLAG, .offset = FIELD(share) },
	{ .name = "job", .kind = ARG_PARSED, .offset = FIELD(job),
	  .value = "NAME", .parse = copy_job },
	{ .name = "audit", .kind = ARG_PARSED, .offset = FIELD(audit),
	  .value = "FRACTION", .parse = read_audit },
	{ .name = NULL },
};

static const struct ds_option own[] = {
	{ "batch", "64", "samples in a batch" },
	{ "epochs", "0", "how many there are in all; 0: no end" },
	{ "seed", "0", "of the order and of the crops" },
	{ "order", "random", "random: another one in each epoch; listed: by "
	  "name, or as the list of labels has it" },
	{ "drop-last", "no", "yes: leave out a last batch that is not full, and "
	  "what cannot be shared evenly by the ranks" },
	{ "threads", "0", "that prepare samples; 0: one for each processor "
	  "that is granted to us" },
	{ "readers", "4", "threads that read ahead from storage; 0: the "
	  "threads that prepare also read" },
	{ "prefetch", "2", "batches that are prepared ahead" },
	{ "rank", "0", "which share of each epoch, from 0" },
	{ "ranks", "1", "how many jobs share each epoch; unless drop-last is "
	  "set, the first samples fill it up, and come twice" },
	{ "labels", "folders", "folders: one for each first folder; none; or "
	  "a file with lines of path and number" },
	{ "on-bad", "fail", "a picture that is bad: fail, skip it, or "
	  "substitute zeros" },
	{ "partial", "no", "yes: go on without folders that cannot be read and "
	  "links that are not followed" },
	{ "ledger", "", "a file that every delivered sample is written to" },
	{ "share", "no", "yes: make batches once for all jobs of the hub that "
	  "want the same ones" },
	{ "job", "", "to which of several jobs of this process it belongs: "
	  "nobody waits for one of its own" },
	{ "audit", "", "the fraction of shared batches that are made here, too, "
	  "and compared, such as 0.01; DESTALL_AUDIT" },
};

/*--- all, as bindings see them -------------------------------------------*/

#define OPTIONS_MAX	64

static struct ds_option all[OPTIONS_MAX + 1];
static const char *names[OPTIONS_MAX + 1];
static pthread_once_t all_once = PTHREAD_ONCE_INIT;

static void
add_option(unsigned *nr, const struct ds_option *o)
{
	must(*nr < OPTIONS_MAX);
	names[*nr] = o->name;
	all[(*nr)++] = *o;
}

static void
fill_all(void)
{
	unsigned nr = 0;

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		add_option(&nr, &own[i]);
	for (const struct ds_option *o = ds_prep_options(); o->name != NULL; o++)
		add_option(&nr, o);
}

const struct ds_option *
loader_options_all(void)
{
	must(pthread_once(&all_once, fill_all) == 0);
	return all;
}

/*--- setting -------------------------------------------------------------*/

void
loader_options_init(struct loader_options *o)
{
	*o = (struct loader_options){ 0 };
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		must(args_set(loader_options_table, o, own[i].name,
		    own[i].value, NULL) == 0);
}

static int
fail_name(const char *name, struct ds_err *err)
{
	const char *near;

	(void)loader_options_all();
	near = text_nearest(name, names);
	if (near == NULL)
		return err_fail(err, -ENOENT, "there is no option '%.64s'",
		    name);
	return err_fail(err, -ENOENT, "there is no option '%.64s': did you "
	    "mean '%s'?", name, near);
}

int
loader_options_set(struct loader_options *o, struct ds_prep *prep,
    const char *name, const char *value, struct ds_err *err)
{
	const struct arg_option *table = loader_options_table;
	int rc;

	while (table->name != NULL && strcmp(table->name, name) != 0)
		table++;
	if (table->name != NULL)
		return args_set(loader_options_table, o, name, value, err);
	rc = ds_prep_set(prep, name, value, err);
	return rc == -ENOENT ? fail_name(name, err) : rc;
}
