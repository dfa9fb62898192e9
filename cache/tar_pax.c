/* SPDX-License-Identifier: Apache-2.0
 *
 * tar_pax.c: the records of extended headers in tar archives.
 * Runs in clients.
 */

#include <config.h>

#include "cache/tar_pax.h"

#include <stdlib.h>
#include <string.h>

#define NOT_A_RECORD	"an extended header with a bad record"

struct record {
	const char	*key, *value;
	size_t		key_len, value_len;
};

/* A decimal number without sign; false for none, or more than fits. */
static bool
get_decimal(const char *text, size_t len, uint64_t *out)
{
	uint64_t n = 0;

	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		if (n > ((uint64_t)INT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (unsigned)(text[i] - '0');
	}
	*out = n;
	return true;
}

/* The record that begins at *body, which is moved behind it. */
static bool
next_record(const char **body, size_t *left, struct record *r)
{
	const char *blank = memchr(*body, ' ', *left), *equals, *end;
	uint64_t len;

	if (blank == NULL ||
	    !get_decimal(*body, (size_t)(blank - *body), &len) ||
	    len == 0 || len > *left)
		return false;
	end = *body + len - 1;		/* the newline */
	if (end <= blank || *end != '\n')
		return false;
	r->key = blank + 1;
	equals = memchr(r->key, '=', (size_t)(end - r->key));
	if (equals == NULL || equals == r->key)
		return false;
	r->key_len = (size_t)(equals - r->key);
	r->value = equals + 1;
	r->value_len = (size_t)(end - r->value);
	*body += len;
	*left -= (size_t)len;
	return true;
}

static bool
is_key(const struct record *r, const char *key)
{
	return r->key_len == strlen(key) && memcmp(r->key, key, r->key_len) == 0;
}

static bool
is_sparse(const struct record *r)
{
	static const char begin[] = "GNU.sparse.";

	return r->key_len >= sizeof begin - 1 &&
	    memcmp(r->key, begin, sizeof begin - 1) == 0;
}

static const char *
set_path(struct pax *p, const struct record *r)
{
	free(p->path);
	p->path = NULL;
	if (r->value_len == 0)
		return NULL;
	if (memchr(r->value, '\0', r->value_len) != NULL)
		return "a zero byte in the name";
	p->path = strndup(r->value, r->value_len);
	return p->path == NULL ? PAX_NO_MEMORY : NULL;
}

static const char *
set_size(struct pax *p, const struct record *r)
{
	p->has_size = r->value_len > 0;
	if (p->has_size && !get_decimal(r->value, r->value_len, &p->size))
		return "a size that is no number";
	return NULL;
}

const char *
pax_parse(struct pax *p, const char *body, size_t len)
{
	const char *why = NULL;
	struct record r;

	p->is_set = true;
	while (len > 0 && why == NULL) {
		if (!next_record(&body, &len, &r))
			why = NOT_A_RECORD;
		else if (is_sparse(&r))
			why = "a sparse member";
		else if (is_key(&r, "path"))
			why = set_path(p, &r);
		else if (is_key(&r, "size"))
			why = set_size(p, &r);
	}
	return why;
}

const char *
pax_check_global(const char *body, size_t len)
{
	struct record r;

	while (len > 0) {
		if (!next_record(&body, &len, &r))
			return NOT_A_RECORD;
		if (is_sparse(&r) || is_key(&r, "path") || is_key(&r, "size"))
			return "a name or size for all members";
	}
	return NULL;
}

void
pax_clear(struct pax *p)
{
	free(p->path);
	*p = (struct pax){ .path = NULL };
}
