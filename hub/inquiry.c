/* SPDX-License-Identifier: Apache-2.0
 *
 * inquiry.c: questions to the hub that have many answers.
 * Runs in the command only.
 */

#include <config.h>

#include "hub/inquiry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/say.h"
#include "hub/proto.h"

int
inquiry_ask(struct inquiry *q, struct link *l, const uint32_t *words,
    unsigned nr, struct ds_err *err)
{
	struct wire_writer w;
	int rc;

	wire_write(&w, &q->f, q->question, 0);
	for (unsigned i = 0; i < nr; i++)
		wire_put_u32(&w, words[i]);
	must(wire_write_end(&w));
	rc = link_call(l, &q->f, LINK_ANY, err);
	if (rc < 0)
		return rc;
	wire_close_fds(&q->f);
	wire_read(&q->r, &q->f);
	if (q->f.head.type == q->answer)
		return 1;
	return q->f.head.type == MSG_DONE ? 0 : err_fail(err, -EBADMSG,
	    "the hub gave an answer that cannot be read");
}

/* Numbers only grow: a hub that says otherwise would be asked for ever. */
int
inquiry_check(const struct inquiry *q, uint32_t number, uint32_t after,
    struct ds_err *err)
{
	if (wire_read_end(&q->r) && number > after)
		return 0;
	return err_fail(err, -EBADMSG,
	    "the hub gave an answer that cannot be read");
}

char *
inquiry_text(struct inquiry *q)
{
	size_t len;
	const char *bytes = wire_get_bytes(&q->r, &len);
	char *text = strndup(bytes != NULL ? bytes : "", len);

	if (text == NULL)
		say_no_memory();
	return text;
}

/* Arrays have room for a power of two. */
void *
inquiry_grow(void *array, size_t nr, size_t size)
{
	void *p = array;

	if ((nr & (nr - 1)) == 0)
		p = reallocarray(array, nr > 0 ? 2 * nr : 1, size);
	if (p == NULL)
		say_no_memory();
	memset((char *)p + nr * size, 0, size);
	return p;
}
