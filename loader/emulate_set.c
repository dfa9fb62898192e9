/* SPDX-License-Identifier: Apache-2.0
 *
 * emulate_set.c: the options of the command as options of the loader.
 * Runs in the command only.
 *
 *  1. An option has one way to be set: its own, where it has one, else --set.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/text.h"
#include "destall.h"
#include "loader/emulate.h"

#define OPTIONS_MAX	64

const char *const emulate_orders[] = { "random", "listed", NULL };
const char *const emulate_touches[] = { "none", "read", "write", NULL };
const char *const emulate_on_bad[] = { "fail", "skip", "substitute", NULL };

/* Those that have an option of their own. */
static const char *const own[] = {
	"batch", "epochs", "seed", "order", "on-bad", "threads", "ledger", NULL,
};

/*--- names ---------------------------------------------------------------*/

const char *
emulate_split(const char *text, char name[EMULATE_NAME])
{
	const char *equals = strchr(text, '=');
	size_t len = equals == NULL ? 0 : (size_t)(equals - text);

	if (len == 0 || len >= EMULATE_NAME)
		return NULL;
	memcpy(name, text, len);
	name[len] = '\0';
	return equals + 1;
}

static int
find(const char *const *list, const char *name)
{
	for (int i = 0; list[i] != NULL; i++) {
		if (strcmp(list[i], name) == 0)
			return i;
	}
	return -ENOENT;
}

static int
check_name(const char *name, struct ds_err *err)
{
	const char *names[OPTIONS_MAX + 1], *near;
	const struct ds_option *o = ds_loader_options();
	unsigned nr = 0;

	if (find(own, name) >= 0)
		return err_fail(err, -EINVAL, "--set %s: there is --%s for "
		    "that", name, name);
	for (; o->name != NULL && nr < OPTIONS_MAX; o++)
		names[nr++] = o->name;
	names[nr] = NULL;
	if (find(names, name) >= 0)
		return 0;
	near = text_nearest(name, names);
	if (near != NULL)
		return err_fail(err, -EINVAL, "--set %s: there is no such "
		    "option: did you mean %s?", name, near);
	return err_fail(err, -EINVAL, "--set %s: there is no such option: "
	    "'man destall-emulate' names them", name);
}

int
emulate_check_set(const struct arg_list *set, struct ds_err *err)
{
	char name[EMULATE_NAME];
	int rc = 0;

	for (unsigned i = 0; i < set->nr && rc == 0; i++) {
		if (emulate_split(set->text[i], name) == NULL)
			return err_fail(err, -EINVAL, "--set '%s': write "
			    "NAME=VALUE, such as size=160", set->text[i]);
		rc = check_name(name, err);
	}
	return rc;
}

/*--- values --------------------------------------------------------------*/

static int
set_number(struct emulate *e, const char *name, uint64_t value,
    struct ds_err *err)
{
	char text[TEXT_FIGURE];
	struct ds_err why;
	int rc;

	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	rc = ds_loader_set(e->loader, name, text, &why);
	return rc < 0 ? err_fail(err, rc, "--%s: %s", name,
	    emulate_reason(why.text, name)) : 0;
}

static int
set_numbers(struct emulate *e, struct ds_err *err)
{
	const struct emulate_options *o = e->options;
	int rc = set_number(e, "batch", o->batch, err);

	if (rc == 0)
		rc = set_number(e, "epochs", o->epochs, err);
	if (rc == 0)
		rc = set_number(e, "seed", o->seed, err);
	if (rc == 0 && o->threads > 0)
		rc = set_number(e, "threads", o->threads, err);
	return rc;
}

static int
set_others(struct emulate *e, struct ds_err *err)
{
	const struct arg_list *set = &e->options->set;
	char name[EMULATE_NAME];
	struct ds_err why;
	const char *value;
	int rc = 0;

	for (unsigned i = 0; i < set->nr && rc == 0; i++) {
		value = emulate_split(set->text[i], name);
		rc = ds_loader_set(e->loader, name, value, &why);
		if (rc < 0)
			err_fail(err, rc, "--set %s: %s", name,
			    emulate_reason(why.text, name));
	}
	return rc;
}

/*--- the ledger ----------------------------------------------------------*/

/* One of its own for each job, in the folder that DESTALL_LEDGER names. */
static int
name_ledger(char path[PATH_MAX], const char *folder, struct ds_err *err)
{
	uint64_t number;
	int n;

	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return err_errno(err, "cannot name the ledger");
	n = snprintf(path, PATH_MAX, "%s/emulate-%d-%016" PRIx64 ".ledger",
	    folder, (int)getpid(), number);
	if (n < 0 || n >= PATH_MAX)
		return err_fail(err, -ENAMETOOLONG, "DESTALL_LEDGER: the name "
		    "is too long");
	return 0;
}

static int
set_ledger(struct emulate *e, struct ds_err *err)
{
	const char *folder = getenv("DESTALL_LEDGER");
	const char *path = e->options->ledger;
	char made[PATH_MAX];
	int rc = 0;

	if (path == NULL && folder != NULL && folder[0] != '\0') {
		rc = name_ledger(made, folder, err);
		path = made;
	}
	return rc < 0 || path == NULL ? rc :
	    ds_loader_set(e->loader, "ledger", path, err);
}

/*--- all of them ---------------------------------------------------------*/

/* The library's advice is for programs: here it is an option. */
static void
advise(struct ds_err *err)
{
	char *advice = strstr(err->text, ": set labels to none");

	if (advice == NULL)
		return;
	*advice = '\0';
	(void)err_hint(err, err->code, "--set labels=none, or --set "
	    "labels=FILE with a list");
}

static int
count_samples(struct emulate *e, struct ds_err *err)
{
	int64_t samples = ds_loader_samples(e->loader, err);

	if (samples < 0) {
		advise(err);
		return (int)samples;
	}
	e->result.samples = (uint64_t)samples;
	return 0;
}

int
emulate_set(struct emulate *e, struct ds_err *err)
{
	const struct emulate_options *o = e->options;
	int rc = set_numbers(e, err);

	if (rc == 0)
		rc = ds_loader_set(e->loader, "order",
		    emulate_orders[o->order], err);
	if (rc == 0)
		rc = ds_loader_set(e->loader, "on-bad",
		    emulate_on_bad[o->on_bad], err);
	if (rc == 0 && e->hub != NULL)
		rc = ds_loader_set(e->loader, "share", "yes", err);
	if (rc == 0)
		rc = set_ledger(e, err);
	if (rc == 0)
		rc = set_others(e, err);
	return rc < 0 ? rc : count_samples(e, err);
}
