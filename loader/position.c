/* SPDX-License-Identifier: Apache-2.0
 *
 * position.c: where a loader is, as a line of text.  Runs in clients.
 */

#include <config.h>

#include "loader/position.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define FORMAT	"destall-position 1 %016" PRIx64 " epoch=%" PRIu64 \
		" samples=%" PRIu64
#define SCAN	"destall-position 1 %16" SCNx64 " epoch=%20" SCNu64 \
		" samples=%20" SCNu64 " from=%20" SCNu64 " tail=%20" SCNu64
#define LATE	" from=%" PRIu64 " tail=%" PRIu64

/*--- the stream ----------------------------------------------------------*/

uint64_t
position_stream(const struct plan *p, const struct ds_data *data,
    const uint64_t *items)
{
	uint64_t hash = HASH_BEGIN;
	struct ds_info info;

	hash = hash_number(hash, p->nr);
	hash = hash_number(hash, p->seed);
	hash = hash_number(hash, p->order != NULL);
	hash = hash_number(hash, p->ranks);
	hash = hash_number(hash, p->drop_last);
	for (uint64_t i = 0; i < p->nr; i++) {
		if (ds_data_info(data, items[i], &info) < 0)
			continue;
		hash = hash_text(hash, info.name);
		hash = hash_number(hash, info.size);
	}
	return hash;
}

/*--- the text ------------------------------------------------------------*/

void
position_print(const struct position *pos, char text[DS_POSITION_TEXT])
{
	const struct plan_place *at = &pos->place;
	int n = snprintf(text, DS_POSITION_TEXT, FORMAT, pos->stream,
	    at->epoch, at->turn);

	if (at->from > 0)
		(void)snprintf(text + n, DS_POSITION_TEXT - (size_t)n, LATE,
		    at->from, at->tail);
}

/* What is read is printed again: so every other spelling is refused. */
int
position_parse(struct position *pos, const char *text, struct ds_err *err)
{
	char again[DS_POSITION_TEXT];
	size_t len;

	*pos = (struct position){ 0 };
	if (sscanf(text, SCAN, &pos->stream, &pos->place.epoch,
	    &pos->place.turn, &pos->place.from, &pos->place.tail) < 3)
		return err_fail(err, -EBADMSG, "this is no saved position: it "
		    "would begin with 'destall-position 1'");
	position_print(pos, again);
	len = strlen(again);
	if (pos->place.epoch > UINT32_MAX || strncmp(text, again, len) != 0 ||
	    (text[len] != '\0' && strcmp(text + len, "\n") != 0))
		return err_fail(err, -EBADMSG, "the saved position is damaged");
	return 0;
}
