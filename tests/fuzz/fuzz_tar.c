/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_tar.c: any bytes as a tar archive.
 *
 * The first byte says how: 1 gives every block its right checksum, so that the
 * fuzzer comes past it (bodies are changed too, which nobody reads); 2 fills
 * up to whole blocks and adds the end mark.  The archive is read twice, once
 * in small pieces, and must be the same.
 */

#include <config.h>

#include <errno.h>
#include <stdio.h>

#include "cache/listing.h"
#include "cache/tar.h"
#include "tests/fuzz/fuzz.h"

#define BLOCK	512u

const char fuzz_name[] = "tar";

struct archive {
	uint8_t	*bytes;
	size_t	len;
	size_t	piece;		/* of one read, at most */
};

static ssize_t
read_archive(void *arg, uint64_t at, void *bytes, size_t len)
{
	const struct archive *a = arg;

	must(at <= a->len && len <= a->len - at && len > 0);
	if (len > a->piece)
		len = a->piece;
	memcpy(bytes, a->bytes + at, len);
	return (ssize_t)len;
}

static void
set_sums(struct archive *a)
{
	for (size_t at = 0; a->len - at >= BLOCK; at += BLOCK) {
		uint8_t *h = a->bytes + at;
		unsigned sum = 0, any = 0;
		char text[8];

		for (unsigned i = 0; i < BLOCK; i++) {
			any |= h[i];
			sum += i >= 148 && i < 156 ? ' ' : h[i];
		}
		if (any == 0)
			continue;
		(void)snprintf(text, sizeof text, "%06o", sum % 01000000);
		memcpy(h + 148, text, 8);
	}
}

static void
make_archive(struct archive *a, const uint8_t *bytes, size_t len, unsigned how)
{
	size_t room = len;

	if ((how & 2) != 0)
		room = (len + BLOCK - 1) / BLOCK * BLOCK + 2 * BLOCK;
	a->bytes = calloc(room > 0 ? room : 1, 1);
	must(a->bytes != NULL);
	if (len > 0)
		memcpy(a->bytes, bytes, len);
	a->len = room;
	if ((how & 1) != 0)
		set_sums(a);
}

static uint64_t
mix(uint64_t sum, uint64_t word)
{
	return (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static void
check_member(const struct tar_member *m, const struct archive *a,
    uint64_t end)
{
	must(m->offset >= end + BLOCK && m->offset % BLOCK == 0);
	must(m->size <= a->len && m->offset <= a->len - m->size);
	must(strlen(m->name) == m->name_len);
	must(m->name_len > LISTING_NAME_MAX ||
	    listing_name_fault(m->name, m->name_len) == NULL);
	must(m->name[m->name_len - 1] != '/');
}

/* A number that stands for all that was read. */
static uint64_t
index_archive(struct archive *a, size_t piece)
{
	uint64_t sum = 0, end = 0;
	struct tar_member m;
	struct ds_err err;
	struct tar *t;
	int rc;

	a->piece = piece;
	rc = tar_open(&t, read_archive, a, a->len, &err);
	must((rc == 0) == (a->len % BLOCK == 0));
	if (rc < 0) {
		fuzz_check_error(&err, rc);
		return 0;
	}
	while ((rc = tar_next(t, &m, &err)) == 1) {
		check_member(&m, a, end);
		end = m.offset + m.size;
		sum = mix(mix(mix(sum, m.offset), m.size), m.name_len);
	}
	must(rc == 0 || rc == -EBADMSG);
	if (rc < 0)
		fuzz_check_error(&err, rc);
	sum = mix(mix(sum, tar_skipped(t)), (uint64_t)(int64_t)rc);
	tar_close(&t);
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct archive a;
	uint64_t whole;

	if (len == 0)
		return 0;
	make_archive(&a, bytes + 1, len - 1, bytes[0]);
	whole = index_archive(&a, SIZE_MAX);
	must(index_archive(&a, 100) == whole);
	free(a.bytes);
	return 0;
}
