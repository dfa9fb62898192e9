/* SPDX-License-Identifier: Apache-2.0
 *
 * tar.c: the members of a tar archive.  Runs in clients.
 *
 *  1. t->at is a multiple of 512, at most t->size, and only grows.
 *  2. Every number from the archive is compared with what is left of it
 *     before it is added to anything.
 */

#include <config.h>

#include "cache/tar.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cache/listing.h"
#include "cache/tar_pax.h"

#define TAR_MAGIC	0x54415258u	/* "TARX" */
#define BLOCK		512u
#define WINDOW		(16u << 10)	/* bytes read ahead among small members */
#define WINDOW_MIN	(4 * BLOCK)	/* an extended header, and its member's */
#define EXTENSION_MAX	(1u << 20)	/* bytes of an extended header */

struct header {
	char	name[100];
	char	mode[8], uid[8], gid[8];
	char	size[12], mtime[12];
	char	checksum[8];
	char	type;
	char	linkname[100];
	char	magic[8];		/* and version */
	char	uname[32], gname[32], devmajor[8], devminor[8];
	char	prefix[155];
	char	pad[12];
};

static_assert(sizeof(struct header) == BLOCK, "the layout of tar");

struct tar {
	unsigned	magic;
	tar_read	*read;
	void		*arg;
	uint64_t	size;
	uint64_t	at;		/* the next header */
	uint64_t	skipped;
	struct pax	pax;		/* of the member to come */
	char		*long_name;	/* the same, from GNU; or NULL */
	char		name[256 + 2];	/* from a header */
	uint64_t	window_at;
	size_t		window_len;
	char		window[WINDOW];
};

int
tar_open(struct tar **out, tar_read *read, void *arg, uint64_t size,
    struct ds_err *err)
{
	struct tar *t;

	if (size % BLOCK != 0 || size > INT64_MAX)
		return err_fail(err, -EBADMSG, "%llu bytes are not whole "
		    "blocks of 512: cut short, or compressed",
		    (unsigned long long)size);
	t = calloc(1, sizeof *t);
	if (t == NULL)
		return err_fail(err, -ENOMEM, "no memory");
	t->magic = TAR_MAGIC;
	t->read = read;
	t->arg = arg;
	t->size = size;
	*out = t;
	return 0;
}

static void
forget_extensions(struct tar *t)
{
	pax_clear(&t->pax);
	free(t->long_name);
	t->long_name = NULL;
}

void
tar_close(struct tar **tp)
{
	struct tar *t = *tp;

	*tp = NULL;
	if (t == NULL)
		return;
	must_be(t, TAR_MAGIC);
	forget_extensions(t);
	t->magic = 0;
	free(t);
}

uint64_t
tar_skipped(const struct tar *t)
{
	must_be(t, TAR_MAGIC);
	return t->skipped;
}

static int
refuse(const struct tar *t, const char *why, struct ds_err *err)
{
	return err_fail(err, -EBADMSG, "byte %llu: %s",
	    (unsigned long long)t->at, why);
}

/*--- reading -------------------------------------------------------------*/

/* Exactly len bytes, which lie within the archive. */
static int
fetch_bytes(struct tar *t, uint64_t at, char *bytes, size_t len,
    struct ds_err *err)
{
	while (len > 0) {
		ssize_t n = t->read(t->arg, at, bytes, len);

		if (n == 0)
			return refuse(t, "the file became shorter", err);
		if (n < 0) {
			errno = (int)-n;
			return err_errno(err, "byte %llu",
			    (unsigned long long)at);
		}
		must((size_t)n <= len);
		at += (uint64_t)n;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

static bool
is_in_window(const struct tar *t, uint64_t at, size_t len)
{
	return at >= t->window_at && at - t->window_at <= t->window_len &&
	    len <= t->window_len - (at - t->window_at);
}

static int
read_bytes(struct tar *t, uint64_t at, char *bytes, size_t len,
    struct ds_err *err)
{
	if (!is_in_window(t, at, len))
		return fetch_bytes(t, at, bytes, len, err);
	memcpy(bytes, t->window + (at - t->window_at), len);
	return 0;
}

/* The header at t->at.  Where members are small the next ones are read with
 * it; where they are large that would read what nobody asked for. */
static int
read_header(struct tar *t, struct header *h, struct ds_err *err)
{
	uint64_t left = t->size - t->at;
	size_t len;
	int rc;

	if (!is_in_window(t, t->at, BLOCK)) {
		len = t->at - t->window_at <= 2 * WINDOW ? WINDOW : WINDOW_MIN;
		len = left < len ? (size_t)left : len;
		t->window_len = 0;
		rc = fetch_bytes(t, t->at, t->window, len, err);
		if (rc < 0)
			return rc;
		t->window_at = t->at;
		t->window_len = len;
	}
	return read_bytes(t, t->at, (char *)h, BLOCK, err);
}

/*--- fields --------------------------------------------------------------*/

static bool
is_zero(const void *block)
{
	static const char zeros[BLOCK];

	return memcmp(block, zeros, BLOCK) == 0;
}

/* Base 256: the first byte says so, and its sign.  false: not a size. */
static bool
get_binary(const unsigned char *p, size_t len, uint64_t *out)
{
	uint64_t n = p[0] & 0x7f;

	if ((p[0] & 0x40) != 0)
		return false;		/* negative */
	for (size_t i = 1; i < len; i++) {
		if (n > (uint64_t)INT64_MAX >> 8)
			return false;
		n = n << 8 | p[i];
	}
	*out = n;
	return true;
}

static bool
get_number(const char *field, size_t len, uint64_t *out)
{
	uint64_t n = 0;
	size_t i = 0;

	if (((unsigned char)field[0] & 0x80) != 0)
		return get_binary((const unsigned char *)field, len, out);
	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		n = n << 3 | (unsigned)(field[i] - '0');	/* 36 bits */
	for (; i < len; i++) {
		if (field[i] != ' ' && field[i] != '\0')
			return false;
	}
	*out = n;
	return true;
}

static bool
is_sum_right(const struct header *h)
{
	const unsigned char *p = (const unsigned char *)h;
	uint64_t said, sum = 8 * ' ';

	for (size_t i = 0; i < sizeof *h; i++)
		sum += p[i];
	for (size_t i = 0; i < sizeof h->checksum; i++)
		sum -= (unsigned char)h->checksum[i];
	return get_number(h->checksum, sizeof h->checksum, &said) && said == sum;
}

static const char *
compression_of(const void *block)
{
	if (memcmp(block, "\x1f\x8b", 2) == 0)
		return "compressed with gzip: decompress it first";
	if (memcmp(block, "\x28\xb5\x2f\xfd", 4) == 0)
		return "compressed with zstd: decompress it first";
	if (memcmp(block, "\xfd" "7zXZ", 5) == 0)
		return "compressed with xz: decompress it first";
	if (memcmp(block, "BZh", 3) == 0)
		return "compressed with bzip2: decompress it first";
	return NULL;
}

static int
check_header(const struct tar *t, const struct header *h, struct ds_err *err)
{
	const char *why = NULL;

	if (is_sum_right(h))
		return 0;
	if (t->at == 0)
		why = compression_of(h);
	return refuse(t, why != NULL ? why : "not a tar header", err);
}

/*--- names ---------------------------------------------------------------*/

/* Into t->name: the prefix is a name's beginning in ustar only; GNU's magic
 * has a blank there and other things in its place. */
static void
join_name(struct tar *t, const struct header *h)
{
	size_t prefix = 0, len = strnlen(h->name, sizeof h->name);

	if (memcmp(h->magic, "ustar", 6) == 0)
		prefix = strnlen(h->prefix, sizeof h->prefix);
	if (prefix > 0) {
		memcpy(t->name, h->prefix, prefix);
		t->name[prefix++] = '/';
	}
	memcpy(t->name + prefix, h->name, len);
	t->name[prefix + len] = '\0';
}

static int
set_name(struct tar *t, const struct header *h, struct tar_member *m,
    struct ds_err *err)
{
	const char *fault;

	join_name(t, h);
	m->name = t->pax.path != NULL ? t->pax.path :
	    t->long_name != NULL ? t->long_name : t->name;
	m->name_len = strlen(m->name);
	if (m->name_len > LISTING_NAME_MAX)
		return 0;
	fault = listing_name_fault(m->name, m->name_len);
	return fault != NULL ? refuse(t, fault, err) : 0;
}

/*--- extensions ----------------------------------------------------------*/

/* How far it is from the header at t->at to the one behind its body. */
static int
get_length(const struct tar *t, uint64_t size, uint64_t *length,
    struct ds_err *err)
{
	uint64_t left = t->size - t->at - BLOCK;

	if (size > left)
		return refuse(t, "cut short: larger than what is left", err);
	/* left is a multiple of BLOCK: rounding up stays within. */
	*length = BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
	return 0;
}

/* The body of an extension, with an end added; the caller frees it. */
static int
read_extension(struct tar *t, const struct header *h, char **body,
    size_t *len, struct ds_err *err)
{
	uint64_t size, length;
	int rc;

	if (!get_number(h->size, sizeof h->size, &size))
		return refuse(t, "a size that is no number", err);
	rc = get_length(t, size, &length, err);
	if (rc < 0)
		return rc;
	if (size > EXTENSION_MAX)
		return refuse(t, "an extended header of over 1 MiB", err);
	*body = malloc((size_t)size + 1);
	if (*body == NULL)
		return err_fail(err, -ENOMEM, "no memory");
	rc = read_bytes(t, t->at + BLOCK, *body, (size_t)size, err);
	if (rc < 0) {
		free(*body);
		return rc;
	}
	(*body)[size] = '\0';
	*len = (size_t)size;
	t->at += length;
	return 0;
}

static int
take_extension(struct tar *t, const struct header *h, struct ds_err *err)
{
	uint64_t at = t->at;
	const char *why = NULL;
	char *body;
	size_t len;
	int rc;

	rc = read_extension(t, h, &body, &len, err);
	if (rc < 0)
		return rc;
	if (h->type == 'L') {
		free(t->long_name);
		t->long_name = body;
		return 0;
	}
	if (h->type == 'x')
		why = pax_parse(&t->pax, body, len);
	else if (h->type == 'g')
		why = pax_check_global(body, len);
	free(body);
	if (why == NULL)
		return 0;
	return strcmp(why, PAX_NO_MEMORY) == 0 ?
	    err_fail(err, -ENOMEM, "%s", why) :
	    err_fail(err, -EBADMSG, "byte %llu: %s",
	    (unsigned long long)at, why);
}

/*--- members -------------------------------------------------------------*/

enum kind { REGULAR, PASSED_OVER, EXTENSION, REFUSED };

static enum kind
find_kind(const struct header *h, const char **why)
{
	switch (h->type) {
	case '\0': case '0': case '7':
		return REGULAR;
	case '1': case '2': case '3': case '4': case '5': case '6': case 'V':
		return PASSED_OVER;
	case 'x': case 'g': case 'L': case 'K':
		return EXTENSION;
	case 'S':
		*why = "a sparse member";
		return REFUSED;
	case 'M':
		*why = "the rest of a member of another volume";
		return REFUSED;
	default:
		*why = "a member of unknown type";
		return REFUSED;
	}
}

/* A regular member: 1, or 0 if it is a folder by its name. */
static int
take_member(struct tar *t, const struct header *h, struct tar_member *m,
    struct ds_err *err)
{
	uint64_t size, length;
	int rc;

	if (!get_number(h->size, sizeof h->size, &size))
		return refuse(t, "a size that is no number", err);
	if (t->pax.has_size)
		size = t->pax.size;
	rc = get_length(t, size, &length, err);
	if (rc < 0)
		return rc;
	rc = set_name(t, h, m, err);
	if (rc < 0)
		return rc;
	m->offset = t->at + BLOCK;
	m->size = size;
	t->at += length;
	return m->name[m->name_len - 1] != '/';
}

/* From the first block of zeros on. */
static int
check_end(struct tar *t, struct ds_err *err)
{
	struct header h;
	int rc;

	if (t->pax.is_set || t->long_name != NULL)
		return refuse(t, "an extended header without a member", err);
	for (; t->at < t->size; t->at += BLOCK) {
		rc = read_header(t, &h, err);
		if (rc < 0)
			return rc;
		if (!is_zero(&h))
			return refuse(t, "bytes after the end mark: archives "
			    "put one after another?", err);
	}
	return 0;
}

/* The header at t->at: 1 a member, 0 none, look further. */
static int
take_header(struct tar *t, const struct header *h, struct tar_member *m,
    struct ds_err *err)
{
	const char *why;
	int rc = check_header(t, h, err);

	if (rc < 0)
		return rc;
	switch (find_kind(h, &why)) {
	case EXTENSION:
		return take_extension(t, h, err);
	case REGULAR:
		rc = take_member(t, h, m, err);
		break;
	case PASSED_OVER:
		t->at += BLOCK;		/* such have no body, whatever size says */
		break;
	case REFUSED:
		return refuse(t, why, err);
	}
	if (rc == 0) {
		t->skipped++;
		forget_extensions(t);
	}
	return rc;
}

int
tar_next(struct tar *t, struct tar_member *m, struct ds_err *err)
{
	struct header h;
	int rc;

	must_be(t, TAR_MAGIC);
	forget_extensions(t);
	while (t->at < t->size) {
		rc = read_header(t, &h, err);
		if (rc < 0)
			return rc;
		if (is_zero(&h))
			return check_end(t, err);
		rc = take_header(t, &h, m, err);
		if (rc != 0)
			return rc;
	}
	return refuse(t, "cut short: no end mark", err);
}
