/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.c: what the processes of one start of a job have told.
 * Runs in the command only.
 */

#include <config.h>

#include "analyzer/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

#define MAX_PROCESSES	4096u
#define MAX_LOADERS	1024u
#define MAX_WORKERS	4096u	/* who goes through them all must end */
#define MAX_PREFETCH	65536u	/* batches, of a worker */

void
facts_init(struct facts *f, struct result *r)
{
	*f = (struct facts){ .result = r };
}

void
facts_fini(struct facts *f)
{
	storage_fini(&f->opened);
	free(f->list);
	free(f->processes);
	free(f->loaders);
	facts_init(f, f->result);
}

/*--- who tells -----------------------------------------------------------*/

static struct fact_process *
find_process(struct facts *f, size_t process)
{
	while (f->nr_processes <= process) {
		f->processes = list_grow(f->processes, f->nr_processes,
		    sizeof *f->processes);
		f->processes[f->nr_processes++] =
		    (struct fact_process){ .role = ROLE_PYTHON };
	}
	return &f->processes[process];
}

static void
note_hello(struct fact_process *p, const struct journal_record *r)
{
	if (r->word[0] >= ROLES)
		return;
	p->role = (enum journal_role)r->word[0];
	p->pid = (pid_t)(r->word[1] & 0x7fffffff);
	p->rank = r->word[3];
	p->ranks = r->word[4] > 0 && r->word[4] < MAX_PROCESSES ?
	    r->word[4] : 1;
}

static struct fact_loader *
find_loader(const struct facts *f, uint32_t process, uint32_t loader)
{
	for (size_t i = 0; i < f->nr_loaders; i++) {
		if (f->loaders[i].process == process &&
		    f->loaders[i].loader == loader)
			return &f->loaders[i];
	}
	return NULL;
}

static void
note_loader(struct facts *f, uint32_t process, const struct journal_record *r,
    const char *text)
{
	struct fact_loader *l;

	if (f->nr_loaders == MAX_LOADERS ||
	    find_loader(f, process, r->loader) != NULL)
		return;
	f->loaders = list_grow(f->loaders, f->nr_loaders, sizeof *f->loaders);
	l = &f->loaders[f->nr_loaders++];
	*l = (struct fact_loader){
		.process = process, .loader = r->loader,
		.batch_size = r->word[0],
		.workers = r->word[1] < MAX_WORKERS ? r->word[1] : MAX_WORKERS,
		.prefetch = r->word[2] < MAX_PREFETCH ? r->word[2] :
		    MAX_PREFETCH,
		.batches = r->word[3],
		.samples = r->word[4], .flags = r->word[5],
	};
	(void)text_clean(l->name, sizeof l->name, text);
}

static void
note_step(struct facts *f, uint32_t process, const struct journal_record *r)
{
	struct fact_loader *l = find_loader(f, process, r->loader);

	if (l == NULL || r->word[3] < r->word[2])
		return;
	l->given++;
	l->given_ns += r->word[3] - r->word[2];
}

/* Of a job that is only watched. */
static void
note_live(struct facts *f, uint32_t process, const struct journal_record *r)
{
	enum { LIVE_BATCHES = 2, LIVE_WAITED = 4, LIVE_FOUND = 5 };
	struct fact_loader *l = find_loader(f, process, r->loader);

	if (l == NULL)
		return;
	l->given += r->word[LIVE_BATCHES];
	l->given_ns += r->word[LIVE_WAITED] + r->word[LIVE_FOUND];
}

static void
note_left(struct fact_process *p, const struct journal_record *r)
{
	p->has_left = true;
	p->why = r->word[1] < LEFTS ? (enum journal_left)r->word[1] : LEFT_ASKED;
}

static void
note_open(struct facts *f, struct fact_process *p,
    const struct journal_record *r, const char *text)
{
	if (text[0] != '/')
		return;
	p->opens++;
	storage_add(&f->opened, text, r->word[0]);
}

/*--- what is told --------------------------------------------------------*/

static void
keep(struct facts *f, uint32_t process, const struct journal_record *r)
{
	struct fact *p;

	f->list = list_grow(f->list, f->nr, sizeof *f->list);
	p = &f->list[f->nr++];
	*p = (struct fact){ .kind = r->kind, .process = process,
	    .loader = r->loader };
	memcpy(p->word, r->word, sizeof p->word);
}

void
facts_add(void *facts, size_t process, const struct journal_record *r,
    const char *text)
{
	struct facts *f = facts;
	struct fact_process *p;

	if (process >= MAX_PROCESSES)
		return;
	p = find_process(f, process);
	if (r->kind == JOURNAL_HELLO)
		note_hello(p, r);
	else if (r->kind == JOURNAL_LOADER)
		note_loader(f, (uint32_t)process, r, text);
	else if (r->kind == JOURNAL_LEFT)
		note_left(p, r);
	else if (r->kind == JOURNAL_OPEN)
		note_open(f, p, r, text);
	else if (r->kind == JOURNAL_NOTE)
		result_confess(f->result, "%s", text);
	else
		keep(f, (uint32_t)process, r);
	if (r->kind == JOURNAL_TRAINS) {
		p->trains = r->loader;
		p->trains_ns = r->word[0];
	}
	if (r->kind == JOURNAL_SET)
		(void)snprintf(f->data, sizeof f->data, "%s", text);
	if (r->kind == JOURNAL_BLOCK_END)
		p->blocks_ended++;
	if (r->kind == JOURNAL_STEP)
		note_step(f, (uint32_t)process, r);
	if (r->kind == JOURNAL_LIVE)
		note_live(f, (uint32_t)process, r);
}

/*--- asked ---------------------------------------------------------------*/

const struct fact_loader *
facts_loader(const struct facts *f, uint32_t process, uint32_t loader)
{
	return find_loader(f, process, loader);
}

const struct fact_loader *
facts_training(const struct facts *f)
{
	const struct fact_process *p;

	for (size_t i = 0; i < f->nr_processes; i++) {
		p = &f->processes[i];
		if (p->trains != 0)
			return find_loader(f, (uint32_t)i, p->trains);
	}
	return NULL;
}

size_t
facts_ranks(const struct facts *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->nr_processes; i++)
		nr += f->processes[i].trains != 0;
	return nr;
}

uint64_t
facts_ranks_expected(const struct facts *f)
{
	uint64_t most = 1;

	for (size_t i = 0; i < f->nr_processes; i++) {
		if (f->processes[i].trains != 0 && f->processes[i].ranks > most)
			most = f->processes[i].ranks;
	}
	return most;
}

uint32_t
facts_blocks_ended(const struct facts *f)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < f->nr_processes; i++) {
		if (f->processes[i].trains != 0 &&
		    f->processes[i].blocks_ended < least)
			least = f->processes[i].blocks_ended;
	}
	return least == UINT32_MAX ? 0 : least;
}

bool
facts_all_left(const struct facts *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->nr_processes; i++) {
		if (f->processes[i].trains == 0)
			continue;
		if (!f->processes[i].has_left)
			return false;
		nr++;
	}
	return nr >= facts_ranks_expected(f);
}

bool
facts_has_role(const struct facts *f, enum journal_role role)
{
	for (size_t i = 0; i < f->nr_processes; i++) {
		if (f->processes[i].pid != 0 && f->processes[i].role == role)
			return true;
	}
	return false;
}

bool
facts_has_device(const struct facts *f)
{
	enum { END_DEVICE = 5 };

	for (size_t i = 0; i < f->nr; i++) {
		if (f->list[i].kind == JOURNAL_BLOCK_END &&
		    f->list[i].word[END_DEVICE] != 0)
			return true;
	}
	return false;
}

bool
facts_has_left(const struct facts *f, enum journal_left why)
{
	for (size_t i = 0; i < f->nr_processes; i++) {
		if (f->processes[i].trains != 0 && f->processes[i].has_left &&
		    f->processes[i].why == why)
			return true;
	}
	return false;
}
