/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.c: a text file, line by line.  Runs in clients and in the command.
 */

#include <config.h>

#include "loader/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/must.h"

#define READ_AHEAD	(64u << 10)

int
lines_init(struct lines *l, int fd, size_t max)
{
	*l = (struct lines){ .fd = fd, .max = max };
	l->buf = malloc(max + READ_AHEAD + 1);
	return l->buf == NULL ? -ENOMEM : 0;
}

void
lines_fini(struct lines *l)
{
	free(l->buf);
	l->buf = NULL;
}

/* One more read, behind what is there. */
static int
read_more(struct lines *l)
{
	ssize_t n;

	must(l->end - l->begin <= l->max);
	memmove(l->buf, l->buf + l->begin, l->end - l->begin);
	l->end -= l->begin;
	l->begin = 0;
	do
		n = read(l->fd, l->buf + l->end, l->max + READ_AHEAD - l->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	l->at_end = n == 0;
	l->end += (size_t)n;
	return 0;
}

/* So many bytes of the buffer are the line, and its newline if it has one. */
static int
give(struct lines *l, size_t len, char **text, size_t *out)
{
	if (len > l->max)
		return -E2BIG;
	*text = l->buf + l->begin;
	(*text)[len] = '\0';
	*out = len;
	l->begin += len + !l->torn;
	l->next_offset += len + !l->torn;
	return 1;
}

int
lines_next(struct lines *l, char **text, size_t *len)
{
	size_t looked = 0;
	char *newline;
	int rc;

	l->number++;
	l->offset = l->next_offset;
	for (;;) {
		char *from = l->buf + l->begin + looked;

		newline = memchr(from, '\n', l->end - l->begin - looked);
		if (newline != NULL)
			return give(l, (size_t)(newline - l->buf) - l->begin,
			    text, len);
		looked = l->end - l->begin;
		if (looked > l->max)
			return -E2BIG;
		if (l->at_end)
			break;
		rc = read_more(l);
		if (rc < 0)
			return rc;
	}
	l->torn = looked > 0;
	if (!l->torn) {
		l->number--;
		return 0;
	}
	return give(l, looked, text, len);
}
