/* SPDX-License-Identifier: Apache-2.0
 *
 * result.c: what a profile found out.  Runs in the command only.
 */

#include <config.h>

#include "reports/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/say.h"

const char *const rate_names[RATES + 1] = {
	"ingest", "ingest_busy", "prep", "storage", "cache", "loader_cached",
	"loader_cold", "actual", NULL,
};

const char *const share_names[SHARES + 1] = {
	"compute", "prep", "fetch", "handover", NULL,
};

const char *const mode_names[MODES + 1] = { "steered", "live", "runs", NULL };

/*--- memory --------------------------------------------------------------*/

static char *
copy(const char *text)
{
	char *p = text != NULL ? strdup(text) : NULL;

	if (text != NULL && p == NULL)
		say_no_memory();
	return p;
}

void
result_init(struct result *r)
{
	*r = (struct result){ .job = { .resident = -1 } };
}

void
result_fini(struct result *r)
{
	for (size_t i = 0; i < r->nr_fixes; i++) {
		free(r->fixes[i].what);
		free(r->fixes[i].command);
	}
	for (size_t i = 0; i < r->nr_cuts; i++)
		free(r->cuts[i].what);
	for (size_t i = 0; i < r->nr_loaders; i++)
		free(r->loaders[i].name);
	for (size_t i = 0; i < r->nr_seen; i++) {
		free(r->seen[i].phase);
		free(r->seen[i].source);
		free(r->seen[i].name);
		free(r->seen[i].unit);
	}
	for (size_t i = 0; i < r->nr_confessions; i++)
		free(r->confessions[i]);
	free(r->workers);
	free(r->alone);
	free(r->fixes);
	free(r->cuts);
	free(r->loaders);
	free(r->seen);
	free(r->confessions);
	free(r->id);
	free(r->name);
	free(r->command);
	free(r->sentence);
	result_init(r);
}

void
result_set_text(char **field, const char *text)
{
	char *p = copy(text);

	free(*field);
	*field = p;
}

/*--- lists ---------------------------------------------------------------*/

#define GROW(list, nr)	((list) = list_grow((list), (nr), sizeof *(list)))

void
result_add_worker(struct result *r, double fetch_ms, double prep_ms)
{
	GROW(r->workers, r->nr_workers);
	r->workers[r->nr_workers++] = (struct result_worker){
		.fetch_ms_per_sample = fetch_ms, .prep_ms_per_sample = prep_ms,
	};
}

void
result_add_alone(struct result *r, unsigned workers,
    const struct figure *samples_per_s, double cpu_ms_per_sample)
{
	GROW(r->alone, r->nr_alone);
	r->alone[r->nr_alone++] = (struct result_alone){
		.workers = workers, .samples_per_s = *samples_per_s,
		.cpu_ms_per_sample = cpu_ms_per_sample,
	};
}

void
result_add_fix(struct result *r, const char *what, double gain,
    const char *command)
{
	GROW(r->fixes, r->nr_fixes);
	r->fixes[r->nr_fixes++] = (struct result_fix){
		.what = copy(what), .gain = gain, .command = copy(command),
	};
}

void
result_add_cut(struct result *r, const char *what, double seconds,
    uint64_t times)
{
	GROW(r->cuts, r->nr_cuts);
	r->cuts[r->nr_cuts++] = (struct result_cut){
		.what = copy(what), .seconds = seconds, .times = times,
	};
}

void
result_add_loader(struct result *r, const struct result_loader *loader)
{
	GROW(r->loaders, r->nr_loaders);
	r->loaders[r->nr_loaders] = *loader;
	r->loaders[r->nr_loaders++].name = copy(loader->name);
}

void
result_add_seen(struct result *r, const char *phase, const char *source,
    const char *name, const char *unit, double value)
{
	GROW(r->seen, r->nr_seen);
	r->seen[r->nr_seen++] = (struct result_seen){
		.phase = copy(phase), .source = copy(source),
		.name = copy(name), .unit = copy(unit), .value = value,
	};
}

void
result_confess(struct result *r, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		say_no_memory();
	va_end(ap);
	for (size_t i = 0; i < r->nr_confessions; i++) {
		if (strcmp(r->confessions[i], text) == 0) {
			free(text);
			return;
		}
	}
	GROW(r->confessions, r->nr_confessions);
	r->confessions[r->nr_confessions++] = text;
}
