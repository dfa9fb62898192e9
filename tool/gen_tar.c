/* SPDX-License-Identifier: Apache-2.0
 *
 * gen_tar.c: a data set as shards.  Runs in the command only.
 *
 * A finished shard may be the last of a smaller set: then it has room for the
 * next member, and is made again, complete, before it replaces the old one.
 */

#include <config.h>

#include "tool/gen_tar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/io.h"
#include "base/must.h"

#define END_BYTES	(2 * GEN_TAR_BLOCK)
#define SHARD_NAME	32
#define MEMBER_NAME	(2 * GEN_NAME)
#define SHARD_WORKER	0u	/* whose part a shard is */

/* POSIX ustar; numbers are octal text. */
struct ustar {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12];
	char checksum[8], type, link[100], magic[6], version[2];
	char owner[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct ustar) == GEN_TAR_BLOCK, "a head is one block");

static const uint8_t zeros[END_BYTES];

/*--- the format ----------------------------------------------------------*/

void
gen_tar_head(uint8_t head[GEN_TAR_BLOCK], const char *name, uint64_t size)
{
	struct ustar h = { .type = '0' };
	unsigned sum = 0;

	must(strlen(name) < sizeof h.name && size < (UINT64_C(1) << 33));
	memcpy(h.name, name, strlen(name));
	memcpy(h.mode, "0000644", 8);
	memcpy(h.uid, "0000000", 8);
	memcpy(h.gid, "0000000", 8);
	(void)snprintf(h.size, sizeof h.size, "%011" PRIo64, size);
	memcpy(h.mtime, "00000000000", 12);
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	memset(h.checksum, ' ', sizeof h.checksum);
	memcpy(head, &h, sizeof h);
	for (unsigned i = 0; i < sizeof h; i++)
		sum += head[i];
	(void)snprintf(h.checksum, sizeof h.checksum, "%06o", sum & 0777777);
	memcpy(head, &h, sizeof h);
}

uint64_t
gen_tar_room(uint64_t size)
{
	return GEN_TAR_BLOCK + (size + GEN_TAR_BLOCK - 1) / GEN_TAR_BLOCK *
	    GEN_TAR_BLOCK;
}

static void
name_member(const struct gen_tar *t, uint64_t index, char name[MEMBER_NAME])
{
	struct gen_image image;

	gen_plan_image(t->set->plan, index, &image);
	(void)snprintf(name, MEMBER_NAME, "%s/%s", image.class_name,
	    image.file_name);
}

static void
name_shard(unsigned shard, char name[SHARD_NAME])
{
	(void)snprintf(name, SHARD_NAME, "shard-%06u.tar", shard);
}

/*--- reading what is there -----------------------------------------------*/

/* The size in a head, if it is exactly the one we would have written. */
static bool
check_head(const uint8_t head[GEN_TAR_BLOCK], const char *name, uint64_t *size)
{
	uint8_t want[GEN_TAR_BLOCK];
	struct ustar h;
	uint64_t n = 0;

	memcpy(&h, head, sizeof h);
	for (unsigned i = 0; i < sizeof h.size - 1; i++) {
		if (h.size[i] < '0' || h.size[i] > '7')
			return false;
		n = n * 8 + (uint64_t)(h.size[i] - '0');
	}
	gen_tar_head(want, name, n);
	*size = n;
	return memcmp(head, want, sizeof want) == 0;
}

/* Members from t->next on until the end, which must be that of the file.
 * 0 and the index after the last, 0 and *end 0 if it is no shard of ours;
 * else as gen_found_add(). */
static int
walk_shard(struct gen_tar *t, int fd, struct gen_found *f, uint64_t *end)
{
	uint8_t head[GEN_TAR_BLOCK];
	char name[MEMBER_NAME];
	uint64_t index = t->next, at = 0, size;
	struct stat st;
	int rc;

	*end = 0;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	for (;; index++) {
		if (pread(fd, head, sizeof head, (off_t)at) !=
		    (ssize_t)sizeof head)
			return 0;
		if (memcmp(head, zeros, sizeof head) == 0)
			break;
		name_member(t, index, name);
		if (!check_head(head, name, &size))
			return 0;
		at += gen_tar_room(size);
		rc = gen_found_add(f, index, size);
		if (rc != 0)
			return rc;
	}
	if ((uint64_t)st.st_size != at + END_BYTES || index == t->next)
		return 0;
	t->last_first = t->next;
	t->last_bytes = at;
	*end = index;
	return 0;
}

int
gen_tar_scan(struct gen_tar *t, const struct gen_set *set,
    struct gen_found *f, struct ds_err *err)
{
	char name[SHARD_NAME];
	struct gen_found more;
	uint64_t end;
	int fd, rc;

	*t = (struct gen_tar){ .set = set, .fd = -1 };
	for (;; t->shard++) {
		name_shard(t->shard, name);
		fd = openat(set->root, name, O_RDONLY | O_NOFOLLOW |
		    O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && (errno == ENOENT || errno == ELOOP))
			return 0;
		if (fd < 0)
			return err_errno(err, "cannot read %s/%s", set->path,
			    name);
		more = *f;
		rc = walk_shard(t, fd, &more, &end);
		io_close(&fd);
		if (rc < 0) {
			errno = -rc;
			return err_errno(err, "cannot read %s/%s", set->path,
			    name);
		}
		if (rc > 0 || end == 0)
			return rc;
		*f = more;
		t->next = t->finished = end;
	}
}

void
gen_tar_resume(struct gen_tar *t, uint64_t size)
{
	if (t->shard == 0 || t->last_bytes + gen_tar_room(size) + END_BYTES >
	    t->set->plan->shard_bytes)
		return;
	t->shard--;
	t->next = t->last_first;
}

/*--- writing -------------------------------------------------------------*/

static int
fail_shard(const struct gen_tar *t, int rc, struct ds_err *err)
{
	char name[SHARD_NAME];

	name_shard(t->shard, name);
	errno = -rc;
	return err_errno(err, "cannot write %s/%s", t->set->path, name);
}

static int
write_member(struct gen_tar *t, const void *bytes, size_t len)
{
	size_t pad = (size_t)gen_tar_room(len) - GEN_TAR_BLOCK - len;
	uint8_t head[GEN_TAR_BLOCK];
	char name[MEMBER_NAME];
	int rc;

	name_member(t, t->next, name);
	gen_tar_head(head, name, len);
	rc = io_write_all(t->fd, head, sizeof head);
	if (rc == 0)
		rc = io_write_all(t->fd, bytes, len);
	if (rc == 0)
		rc = io_write_all(t->fd, zeros, pad);
	return rc == 0 ? crash_point("gen.written") : rc;
}

/* The part of a shard gets its end and its name. */
static int
place_shard(struct gen_tar *t)
{
	char part[GEN_PART], name[SHARD_NAME];
	int rc, closed;

	rc = io_write_all(t->fd, zeros, END_BYTES);
	if (rc == 0)
		rc = crash_point("gen.shard-written");
	closed = gen_set_close_part(&t->fd);
	if (rc == 0)
		rc = closed;
	gen_set_part_name(part, SHARD_WORKER);
	name_shard(t->shard, name);
	if (rc == 0 && renameat(t->set->root, part, t->set->root, name) != 0)
		rc = -errno;
	if (rc < 0)
		gen_set_drop_part(t->set, SHARD_WORKER);
	return rc;
}

int
gen_tar_finish(struct gen_tar *t, struct ds_err *err)
{
	int rc;

	if (t->fd < 0)
		return 0;
	rc = place_shard(t);
	if (rc < 0)
		return fail_shard(t, rc, err);
	(void)crash_point("gen.shard-renamed");	/* no step is left to fail */
	t->shard++;
	if (t->finished < t->next)
		t->finished = t->next;
	return 0;
}

int
gen_tar_append(struct gen_tar *t, const void *bytes, size_t len,
    struct ds_err *err)
{
	int rc;

	if (t->fd >= 0 && t->bytes + gen_tar_room(len) + END_BYTES >
	    t->set->plan->shard_bytes) {
		rc = gen_tar_finish(t, err);
		if (rc < 0)
			return rc;
	}
	if (t->fd < 0) {
		t->fd = gen_set_open_part(t->set, SHARD_WORKER);
		t->bytes = 0;
	}
	rc = t->fd < 0 ? t->fd : write_member(t, bytes, len);
	if (rc < 0) {
		gen_tar_abandon(t);
		return fail_shard(t, rc, err);
	}
	t->bytes += gen_tar_room(len);
	t->next++;
	return 0;
}

void
gen_tar_abandon(struct gen_tar *t)
{
	if (t->fd < 0)
		return;
	io_close(&t->fd);
	gen_set_drop_part(t->set, SHARD_WORKER);
}
