/* SPDX-License-Identifier: Apache-2.0
 *
 * steer_files.c: which files of the set are in memory: arranged, and looked at.
 * Runs in clients, in the job's thread.
 *
 *  1. Of a source that is not a folder of files nothing is arranged, and nothing
 *     told (steer_set.c says so).
 */

#include <config.h>

#include "loader/steer.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "cache/data.h"
#include "cache/source_file.h"
#include "loader/loader.h"
#include "probe/resident.h"

static int
open_item(const struct ds_loader *l, uint64_t item, struct stat *st)
{
	const struct source *source = l->data->source;
	const char *name = data_name(l->data, item);

	if (source->ops->scheme != NULL || name == NULL)
		return -1;
	return source_file_open(source, name, st, NULL);
}

/* Pages that are not written yet stay: only where there are some left is a file
 * written out, which takes long. */
static void
evict(int fd, const struct stat *st)
{
	struct resident now;

	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	resident_look(fd, st, &now);
	if (now.is_told && now.in_memory == 0)
		return;
	(void)fdatasync(fd);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void
evict_all(struct ds_loader *l, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		struct stat st;
		int fd = open_item(l, l->steer->set.items[i], &st);

		if (fd < 0)
			continue;
		evict(fd, &st);
		io_close(&fd);
	}
}

void
steer_arrange(struct ds_loader *l, bool in_memory, uint64_t nr)
{
	struct steer_read r;

	if (in_memory)
		steer_read(l, nr, &r);
	else
		evict_all(l, nr);
}

void
steer_tell_pages(struct ds_loader *l, bool is_after, uint64_t nr)
{
	struct steer *s = l->steer;
	uint64_t pages = 0, in_memory = 0, not_told = 0;

	for (uint64_t i = 0; i < nr; i++) {
		struct resident r = { .is_told = false };
		struct stat st;
		int fd = open_item(l, s->set.items[i], &st);

		if (fd >= 0)
			resident_look(fd, &st, &r);
		else
			r.pages = resident_pages(data_key(l->data,
			    s->set.items[i])->size);
		io_close(&fd);
		pages += r.pages;
		in_memory += r.in_memory;
		not_told += r.is_told ? 0 : r.pages;
	}
	steer_tell(s, JOURNAL_PAGES, (const uint64_t[7]){ s->id, is_after,
	    pages, in_memory, not_told }, NULL);
}
