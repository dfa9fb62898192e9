/* SPDX-License-Identifier: Apache-2.0
 *
 * segment.c: shared memory that says what it is.  Runs in hub and clients.
 */

#include <config.h>

#include "base/segment.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/io.h"
#include "base/memfd.h"
#include "base/must.h"

static_assert(sizeof(struct segment_head) == 32,
    "the layout is shared between processes");

int
segment_create(struct segment *seg, const struct segment_kind *kind,
    size_t len, uint64_t generation, struct ds_err *err)
{
	struct segment s = { .len = len };
	struct segment_head *head;
	int rc;

	must(len >= sizeof *head);
	s.fd = memfd_new(kind->name, len, err);
	if (s.fd < 0)
		return s.fd;
	rc = memfd_map_writer(s.fd, len, &s.base, err);
	if (rc < 0)
		goto close_fd;
	head = s.base;
	*head = (struct segment_head){
		.magic = kind->magic,
		.layout = kind->layout,
		.byte_order = SEGMENT_BYTE_ORDER,
		.head_size = sizeof *head,
		.size = len,
		.generation = generation,
	};
	rc = memfd_seal_to_writer(s.fd, err);
	if (rc < 0)
		goto unmap;
	*seg = s;
	return 0;
unmap:
	munmap(s.base, len);
close_fd:
	io_close(&s.fd);
	return rc;
}

int
segment_attach(struct segment *seg, const struct segment_kind *kind, int fd,
    struct ds_err *err)
{
	struct segment s = { .fd = fd };
	uint64_t len;
	int rc;

	rc = memfd_check(fd, &len, err);
	if (rc < 0)
		return rc;
	if (len > SIZE_MAX)
		return err_fail(err, -EBADMSG, "%s: too large to map", kind->name);
	s.len = (size_t)len;
	rc = memfd_map_reader(fd, s.len, &s.base, err);
	if (rc < 0)
		return rc;
	rc = segment_check(kind, s.base, s.len, err);
	if (rc < 0) {
		munmap(s.base, s.len);
		return rc;
	}
	*seg = s;
	return 0;
}

void
segment_detach(struct segment *seg)
{
	if (seg->base == NULL)
		return;
	munmap(seg->base, seg->len);
	seg->base = NULL;
	io_close(&seg->fd);
}

int
segment_check(const struct segment_kind *kind, const void *bytes, size_t len,
    struct ds_err *err)
{
	struct segment_head h;

	if (len < sizeof h)
		return err_fail(err, -EBADMSG, "%s: %zu bytes are no segment",
		    kind->name, len);
	memcpy(&h, bytes, sizeof h);
	if (h.byte_order != SEGMENT_BYTE_ORDER)
		return err_fail(err, -EBADMSG,
		    "%s: made on a machine of another byte order", kind->name);
	if (h.magic != kind->magic)
		return err_fail(err, -EBADMSG,
		    "%s: another kind of segment (0x%08" PRIx32 ")",
		    kind->name, h.magic);
	if (h.head_size != sizeof h)
		return err_fail(err, -EBADMSG, "%s: a head of %" PRIu32
		    " bytes where this build has %zu: hub and job run "
		    "different versions of destall",
		    kind->name, h.head_size, sizeof h);
	if (h.layout != kind->layout)
		return err_fail(err, -EBADMSG, "%s: layout %" PRIu32
		    " where this build has %" PRIu32 ": hub and job run "
		    "different versions of destall",
		    kind->name, h.layout, kind->layout);
	if (h.size != len)
		return err_fail(err, -EBADMSG, "%s: says %" PRIu64
		    " bytes, has %zu", kind->name, h.size, len);
	return 0;
}
