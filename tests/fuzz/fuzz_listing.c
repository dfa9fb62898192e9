/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_listing.c: any bytes as a listing that a client sent.
 *
 * The first byte chooses the step of checking (its low bits), and with its
 * highest bit that the head is made right: the second byte is then the number
 * of items.  What is accepted is looked at again, in the slow and simple way.
 */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "cache/listing.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "listing";

static int
memfd_of(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd >= 0);
	must(io_write_all(fd, bytes, len) == 0);
	must(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_WRITE | F_SEAL_SEAL) == 0);
	return fd;
}

static void
set_head(uint8_t *bytes, size_t len, unsigned nr_items)
{
	struct listing_head h = {
		.magic = LISTING_MAGIC,
		.item_size = sizeof(struct listing_item),
	};
	struct listing_item item;

	while (nr_items > 0 && sizeof h + nr_items * sizeof item > len)
		nr_items--;
	h.nr_items = nr_items;
	h.names_bytes = len - sizeof h - nr_items * sizeof item;
	for (unsigned i = 0; i < nr_items; i++) {
		memcpy(&item, bytes + sizeof h + i * sizeof item, sizeof item);
		h.total_bytes += item.size;
	}
	memcpy(bytes, &h, sizeof h);
}

/* Everything that listing.h promises. */
static void
check_accepted(const struct listing *l, size_t len)
{
	const char *names = l->names, *end = names + l->head->names_bytes;
	uint64_t total = 0;

	must((const char *)l->head + len == end);
	for (uint64_t i = 0; i < l->head->nr_items; i++) {
		const struct listing_item *item = &l->items[i];
		const char *name = listing_name(l, i);

		must(name == names && name < end);
		must(memchr(name, '\0', (size_t)(end - name)) ==
		    name + item->name_len);
		must(item->name_len >= 1 && item->name_len <= LISTING_NAME_MAX);
		must(i == 0 || strcmp(listing_name(l, i - 1), name) < 0);
		must(name[0] != '/' && strncmp(name, "../", 3) != 0 &&
		    strcmp(name, "..") != 0 && strstr(name, "/../") == NULL);
		must(item->shard_len < item->name_len);
		must(item->shard_len == 0 || name[item->shard_len] == '/');
		must(item->size <= LISTING_SIZE_MAX);
		must(item->offset <= (uint64_t)INT64_MAX - item->size);
		total += item->size;
		names += item->name_len + 1;
	}
	must(names == end && total == l->head->total_bytes);
}

static int
check_steps(const struct listing *l, uint64_t step, struct ds_err *err)
{
	uint64_t total = 0, nr = l->head->nr_items, at = 0;
	int rc;

	do {
		uint64_t to = nr - at < step ? nr : at + step;

		rc = listing_check(l, at, to, &total, err);
		at = to;
	} while (rc == 0 && at < nr);
	return rc;
}

static void
judge(const uint8_t *bytes, size_t len, uint64_t step)
{
	int fd = memfd_of(bytes, len), rc, whole;
	struct listing l;
	struct ds_err err;

	rc = listing_map(&l, fd, &err);
	close(fd);
	if (rc < 0) {
		must(rc == -EBADMSG);
		fuzz_check_error(&err, rc);
		return;
	}
	whole = check_steps(&l, UINT64_MAX, &err);
	if (whole < 0)
		fuzz_check_error(&err, whole);
	else
		check_accepted(&l, len);
	must(check_steps(&l, step, &err) == whole);
	listing_unmap(&l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	uint8_t *copy;

	if (len < 2)
		return 0;
	copy = fuzz_copy(bytes + 2, len - 2);
	if ((bytes[0] & 0x80) != 0 && len - 2 >= sizeof(struct listing_head))
		set_head(copy, len - 2, bytes[1]);
	judge(copy, len - 2, 1 + bytes[0] % 8);
	free(copy);
	return 0;
}
