/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_index.c: any bytes as our index: attached, every name read, every name
 * and every inode looked up.
 *
 * The first byte chooses: 0 leaves the rest as it is, anything else puts a
 * right head before it, an odd one also the right number of bytes of names, of
 * an index with tables if it has the next bit too.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/memfd.h"
#include "cache/index.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "index";

static void
put_head(struct index *x, size_t len)
{
	x->head = (struct segment_head){
		.magic = index_kind.magic, .layout = index_kind.layout,
		.byte_order = SEGMENT_BYTE_ORDER,
		.head_size = sizeof x->head, .size = len,
	};
}

static void
put_names(struct index *x, size_t len, int tables)
{
	size_t most = (len - sizeof *x) / sizeof x->items[0];

	x->nr_items %= most + 1;
	do {
		x->nr_slots = tables ? index_slots(x->nr_items) : 0;
	} while (index_size(x->nr_items, x->nr_slots, 0) > len &&
	    x->nr_items-- > 0);
	x->names_bytes = len - index_size(x->nr_items, x->nr_slots, 0);
}

static int
memfd_of(const void *bytes, size_t len)
{
	struct ds_err err;
	int fd = memfd_new("fuzz", len, &err);

	must(fd >= 0);
	must(pwrite(fd, bytes, len, 0) == (ssize_t)len);
	must(memfd_seal_all(fd, &err) == 0);
	return fd;
}

static void
look_up(const struct index_map *m, const char *name, size_t len)
{
	int64_t i = index_find(m, name, len);
	const char *there;
	size_t there_len;

	if (i < 0) {
		must(i == -ENOENT);
		return;
	}
	there = index_name(m, (uint64_t)i, &there_len);
	must(there == NULL ||
	    (there_len == len && memcmp(there, name, len) == 0));
}

static void
look_up_inodes(const struct index_map *m, const struct index_item *it)
{
	int64_t i = index_find_file(m, it->key.dev, it->key.ino);
	uint64_t ino = atomic_load_explicit(&it->copy_ino,
	    memory_order_relaxed);
	const struct index_item *there = &m->index->items[i < 0 ? 0 : i];

	must(i == -ENOENT || (i >= 0 && (uint64_t)i < m->nr_items &&
	    there->key.dev == it->key.dev && there->key.ino == it->key.ino &&
	    there->key.shard_len == 0));
	i = index_find_copy(m, ino);
	there = &m->index->items[i < 0 ? 0 : i];
	must(i == -ENOENT || (i >= 0 && (uint64_t)i < m->nr_items &&
	    atomic_load_explicit(&there->copy_ino,
	    memory_order_relaxed) == ino));
}

static void
read_all(const struct index_map *m)
{
	const char *end = (const char *)m->seg.base + m->seg.len;
	uint64_t nr = m->index->nr_items;
	size_t len;

	for (uint64_t i = 0; i < nr; i++) {
		const char *name = index_name(m, i, &len);

		look_up_inodes(m, &m->index->items[i]);
		if (name == NULL)
			continue;
		must(name >= m->names && len > 0 && len < (size_t)(end - name));
		must(strlen(name) == len);
		look_up(m, name, len);
		look_up(m, name, len - 1);
	}
	must(index_name(m, nr, &len) == NULL);
	must(index_name(m, UINT64_MAX, &len) == NULL);
}

/* Is there an index of these numbers of exactly this length? */
static int
is_whole(const struct index *x, size_t len)
{
	size_t items = (len - sizeof *x) / sizeof x->items[0];
	size_t slots = (len - sizeof *x) / (2 * sizeof(uint32_t)), before;

	if (x->nr_items > items || x->nr_slots > slots ||
	    (x->nr_slots != 0 && x->nr_slots != index_slots(x->nr_items)))
		return 0;
	before = sizeof *x + x->nr_items * sizeof x->items[0] +
	    x->nr_slots * 2 * sizeof(uint32_t);
	return before <= len && x->names_bytes == len - before;
}

static void
attach(const struct index *x, size_t len, int headed)
{
	struct index_map m;
	struct ds_err err;
	int fd = memfd_of(x, len);
	int rc = index_attach(&m, fd, &err);

	if (rc == 0) {
		must(len >= sizeof *x && is_whole(x, len));
		read_all(&m);
		index_detach(&m);
		must(fcntl(fd, F_GETFD) < 0);
		return;
	}
	must(rc == -EBADMSG);
	must(!headed || len < sizeof *x || !is_whole(x, len));
	fuzz_check_error(&err, rc);
	must(close(fd) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct index *x;
	int how;

	if (len < 2)
		return 0;
	how = *bytes;
	x = fuzz_copy(bytes + 1, --len);
	if (how != 0 && len >= sizeof x->head)
		put_head(x, len);
	if (how % 2 != 0 && len >= sizeof *x)
		put_names(x, len, how & 2);
	attach(x, len, how != 0 && len >= sizeof x->head);
	free(x);
	return 0;
}
