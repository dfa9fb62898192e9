/* SPDX-License-Identifier: Apache-2.0
 *
 * source.c: where items come from.  Runs in clients.
 */

#include <config.h>

#include "cache/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cache/messages.h"
#include "cache/source_root.h"

#define SOURCE_MAGIC	0x53524345u	/* "SRCE" */

static const struct source_ops *const table[] = {
	&source_tar,
	&source_dir,		/* takes anything: the last */
};

/* The back end, and where the path begins. */
static const struct source_ops *
find_ops(const char *uri, const char **path)
{
	const struct source_ops *const *ops = table;

	for (; (*ops)->scheme != NULL; ops++) {
		size_t len = strlen((*ops)->scheme);

		*path = uri + len + 1;
		if (strncmp(uri, (*ops)->scheme, len) == 0 && uri[len] == ':')
			return *ops;
	}
	*path = uri;
	return *ops;
}

/* uri and path, so that one data set has one name. */
static int
make_canonical(struct source *s, const char *path, struct ds_err *err)
{
	const char *scheme = s->ops->scheme;
	size_t head = scheme != NULL ? strlen(scheme) + 1 : 0, len;
	char *real;

	if (*path == '\0')
		return err_fail(err, -EINVAL, "a data set without a path");
	real = realpath(path, NULL);
	if (real == NULL)
		return err_errno(err, "data set %s", path);
	len = strlen(real);
	s->uri = malloc(head + len + 1);
	if (s->uri == NULL) {
		free(real);
		return err_fail(err, -ENOMEM, "data set %s: no memory", path);
	}
	if (head > 0) {
		memcpy(s->uri, scheme, head - 1);
		s->uri[head - 1] = ':';
	}
	memcpy(s->uri + head, real, len + 1);
	s->path = s->uri + head;
	free(real);
	if (head + len > CACHE_URI_MAX) {
		err_fail(err, -ENAMETOOLONG, "data set %s", path);
		return err_hint(err, -ENAMETOOLONG,
		    "longer than %u bytes", CACHE_URI_MAX);
	}
	return 0;
}

static void
free_source(struct source *s)
{
	source_root_close(s);
	s->magic = 0;
	free(s->shard);
	free(s->uri);
	free(s);
}

int
source_open(struct source **out, const char *uri, struct ds_err *err)
{
	struct source *s = calloc(1, sizeof *s);
	const char *path;
	int rc;

	if (s == NULL)
		return err_fail(err, -ENOMEM, "data set %s: no memory", uri);
	s->magic = SOURCE_MAGIC;
	s->root = -1;
	s->ops = find_ops(uri, &path);
	rc = make_canonical(s, path, err);
	if (rc == 0)
		rc = s->ops->open(s, err);
	if (rc == 0)
		rc = source_root_take(s, err);
	if (rc < 0) {
		free_source(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
source_close(struct source **sp)
{
	struct source *s = *sp;

	*sp = NULL;
	if (s == NULL)
		return;
	must_be(s, SOURCE_MAGIC);
	free_source(s);
}

const char *
source_uri(const struct source *s)
{
	must_be(s, SOURCE_MAGIC);
	return s->uri;
}

int
source_stamp(struct source *s, uint64_t *stamp, struct ds_err *err)
{
	must_be(s, SOURCE_MAGIC);
	*stamp = 0;
	return s->ops->stamp != NULL ? s->ops->stamp(s, stamp, err) : 0;
}

int
source_list(struct source *s, struct ds_err *err)
{
	struct listing_maker *m;
	int rc;

	must_be(s, SOURCE_MAGIC);
	s->notes = (struct source_notes){ .links = 0 };
	rc = listing_new(&m, err);
	if (rc < 0)
		return rc;
	rc = s->ops->list(s, m, err);
	if (rc == 0)
		rc = listing_seal(m, err);
	listing_free(&m);
	return rc;
}

int
source_read(struct source *s, const char *name,
    const struct listing_item *key, void *bytes, struct ds_err *err)
{
	must_be(s, SOURCE_MAGIC);
	return s->ops->read(s, name, key, bytes, err);
}
