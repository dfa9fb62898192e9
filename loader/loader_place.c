/* SPDX-License-Identifier: Apache-2.0
 *
 * loader_place.c: saving where a loader is, and going on from there.
 * Runs in clients.
 */

#include <config.h>

#include <errno.h>
#include <inttypes.h>

#include "base/must.h"
#include "loader/loader.h"

static uint64_t
hash_stream(struct ds_loader *l)
{
	if (l->stream == 0)
		l->stream = position_stream(&l->plan, l->data, l->items);
	return l->stream;
}

static struct plan_place
current_place(const struct ds_loader *l)
{
	if (l->is_started)
		return l->given;
	return l->restored.place;	/* the beginning, if it was not */
}

int
ds_loader_save(struct ds_loader *loader, char text[DS_POSITION_TEXT],
    struct ds_err *err)
{
	int rc = loader_check_process(loader, err);

	if (rc < 0)
		return rc;
	must(pthread_mutex_lock(&loader->turn) == 0);
	rc = loader_ready(loader, err);
	if (rc == 0)
		position_print(&(struct position){ hash_stream(loader),
		    current_place(loader) }, text);
	must(pthread_mutex_unlock(&loader->turn) == 0);
	return rc;
}

static int
check_position(struct ds_loader *l, const struct position *pos,
    struct ds_err *err)
{
	if (pos->stream != hash_stream(l))
		return err_fail(err, -ESTALE, "the position was saved with "
		    "other data, or another seed, order, ranks or drop-last");
	if (!plan_place_fits(&l->plan, &pos->place))
		return err_fail(err, -EBADMSG, "the saved position is past the "
		    "end: an epoch has %" PRIu64 " samples", l->plan.turns);
	return 0;
}

static int
restore(struct ds_loader *l, const char *text, struct ds_err *err)
{
	struct position pos;
	int rc;

	if (l->is_started)
		return err_fail(err, -EBUSY, "too late to restore a position: "
		    "there were batches already");
	rc = position_parse(&pos, text, err);
	if (rc == 0)
		rc = loader_ready(l, err);
	if (rc == 0)
		rc = check_position(l, &pos, err);
	if (rc < 0)
		return rc;
	l->restored = pos;
	l->is_restored = true;
	return 0;
}

int
ds_loader_restore(struct ds_loader *loader, const char *text,
    struct ds_err *err)
{
	int rc = loader_check_process(loader, err);

	if (rc < 0)
		return rc;
	must(pthread_mutex_lock(&loader->turn) == 0);
	rc = restore(loader, text, err);
	must(pthread_mutex_unlock(&loader->turn) == 0);
	return rc;
}

/* Options may have been set since. */
int
loader_begin(struct ds_loader *l, struct ds_err *err)
{
	int rc = 0;

	if (l->is_restored)
		rc = check_position(l, &l->restored, err);
	if (rc == 0)
		l->given = l->opened = l->restored.place;
	return rc;
}
