/* SPDX-License-Identifier: Apache-2.0
 *
 * fakehub.c: a hub that does as a test says.
 */

#include <config.h>

#include "tests/harness/fakehub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/io.h"
#include "base/memfd.h"
#include "base/must.h"
#include "base/wire.h"
#include "cache/listing.h"
#include "cache/messages.h"
#include "hub/control.h"

#define GENERATION	99u
#define PAGE_LEN	((sizeof(struct page) + 4095) & ~(size_t)4095)

/*--- files ---------------------------------------------------------------*/

uint64_t
fake_size(uint64_t i)
{
	static const uint64_t sizes[] = { 1, 0, 4096, 110000, 4097, 12345 };

	return sizes[i % (sizeof sizes / sizeof *sizes)];
}

static unsigned char
byte_of(uint64_t i, uint64_t at)
{
	return (unsigned char)(i * 7 + at * 13 + (at >> 8) + 1);
}

bool
fake_bytes_right(uint64_t i, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	if (len != fake_size(i) || p == NULL)
		return false;
	for (size_t at = 0; at < len; at++)
		if (p[at] != byte_of(i, at))
			return false;
	return true;
}

static unsigned char *
make_bytes(uint64_t i)
{
	size_t len = (size_t)fake_size(i);
	unsigned char *p = malloc(len + 1);

	must(p != NULL);
	for (size_t at = 0; at < len; at++)
		p[at] = byte_of(i, at);
	return p;
}

void
fake_file_name(const struct fake_files *f, uint64_t i, char path[256])
{
	(void)snprintf(path, 256, "%s/item%03u", f->path, (unsigned)i);
}

static void
make_folder(char path[192], const char *what)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(path, 192, "%.100s/%s.XXXXXX",
	    tmp != NULL ? tmp : "/tmp", what);
	must(mkdtemp(path) != NULL);
}

void
fake_files_new(struct fake_files *f)
{
	char path[256];

	make_folder(f->path, "fakehub-files");
	for (uint64_t i = 0; i < FAKE_FILES; i++) {
		unsigned char *p = make_bytes(i);
		int fd;

		fake_file_name(f, i, path);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		must(fd >= 0);
		must(io_write_all(fd, p, (size_t)fake_size(i)) == 0);
		io_close(&fd);
		free(p);
	}
}

void
fake_files_free(struct fake_files *f)
{
	char path[256];

	for (uint64_t i = 0; i < FAKE_FILES; i++) {
		fake_file_name(f, i, path);
		(void)unlink(path);
	}
	must(rmdir(f->path) == 0);
}

/*--- items ---------------------------------------------------------------*/

static void
set_word(struct fake *k, uint64_t i, enum item_state state)
{
	atomic_store_explicit(&k->index->items[i].word,
	    item_word(state, k->generation, 1), memory_order_release);
	index_wake(k->index);
}

static size_t
size_of(const struct fake *k, uint64_t i)
{
	return (size_t)k->index->items[i].key.size;
}

/* As the hub does: frozen, trimmed, named. */
static int
publish_draft(struct fake *k, uint64_t i, uint64_t file)
{
	struct store_draft *d = &k->drafts[i];
	char name[STORE_NAME_MAX];
	struct stat st;
	struct ds_err err;
	int rc = store_freeze(d, &err);

	if (rc == 0)
		rc = store_trim(d, size_of(k, i), &err);
	if (rc < 0)
		return rc;
	must(fstat(d->keeper, &st) == 0);
	index_file_name(name, file);
	rc = store_publish(k->store, d, name, &err);
	if (rc < 0)
		return rc;
	index_take_copy(k->index, i);
	must(index_put_copy(k->index, i, st.st_ino));
	return 0;
}

static void
name_draft(struct fake *k, uint64_t i, uint32_t crc)
{
	uint64_t file = ++k->next_file;

	if (publish_draft(k, i, file) < 0) {
		/* A forked child has it open, and will for a moment. */
		store_abandon(&k->drafts[i]);
		set_word(k, i, ITEM_EMPTY);
		return;
	}
	atomic_store_explicit(&k->index->items[i].file, file,
	    memory_order_relaxed);
	atomic_store_explicit(&k->index->items[i].crc32c, crc,
	    memory_order_relaxed);
	set_word(k, i, ITEM_READY);
}

static void
publish(struct fake *k, uint64_t i, unsigned char change)
{
	unsigned char *p = make_bytes(i);
	size_t len = (size_t)fake_size(i);
	uint32_t crc = crc32c(0, p, len);
	struct ds_err err;

	p[len / 2] ^= change;
	k->generation++;
	must(store_begin(k->store, len, &k->drafts[i], &err) == 0);
	must(io_write_all(k->drafts[i].writer, p, len) == 0);
	name_draft(k, i, crc);
	free(p);
}

static void
fail(struct fake *k, uint64_t i, uint32_t error, uint64_t when_ns)
{
	atomic_store_explicit(&k->index->items[i].error, error,
	    memory_order_relaxed);
	atomic_store_explicit(&k->index->items[i].failed_ns, when_ns,
	    memory_order_relaxed);
	set_word(k, i, ITEM_FAILED);
}

void
fake_publish(struct fake *k, uint64_t i)
{
	pthread_mutex_lock(&k->lock);
	publish(k, i, 0);
	pthread_mutex_unlock(&k->lock);
}

void
fake_spoil(struct fake *k, uint64_t i)
{
	pthread_mutex_lock(&k->lock);
	publish(k, i, 0x10);
	pthread_mutex_unlock(&k->lock);
}

void
fake_fail(struct fake *k, uint64_t i, uint32_t error, uint64_t when_ns)
{
	pthread_mutex_lock(&k->lock);
	fail(k, i, error, when_ns);
	pthread_mutex_unlock(&k->lock);
}

void
fake_forget(struct fake *k, uint64_t i)
{
	pthread_mutex_lock(&k->lock);
	if (item_state(k->index->items[i].word) == ITEM_READY)
		set_word(k, i, ITEM_EMPTY);
	pthread_mutex_unlock(&k->lock);
}

void
fake_set_word(struct fake *k, uint64_t i, enum item_state state)
{
	pthread_mutex_lock(&k->lock);
	set_word(k, i, state);
	pthread_mutex_unlock(&k->lock);
}

/*--- answers -------------------------------------------------------------*/

static void
answer(struct fake *k, struct wire_frame *f)
{
	struct ds_err err;

	/* Who hung up hears nothing. */
	(void)wire_send(k->sock, f, &err);
}

static void
answer_hello(struct fake *k, uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_WELCOME, serial);
	wire_put_u64(&w, GENERATION);
	wire_put_u32(&w, 1);
	wire_put_fd(&w, k->control.fd);
	must(wire_write_end(&w));
	answer(k, &f);
}

static void
refuse(struct fake *k, uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_REFUSED, serial);
	wire_put_u32(&w, ENOSPC);
	wire_put_bytes(&w, "the test says no", 16);
	must(wire_write_end(&w));
	answer(k, &f);
}

static void
make_index(struct fake *k, int fd)
{
	struct listing l;
	struct ds_err err;
	uint64_t total = 0, nr_slots;
	size_t len;

	must(listing_map(&l, fd, &err) == 0);
	must(listing_check(&l, 0, l.head->nr_items, &total, &err) == 0);
	nr_slots = index_slots(l.head->nr_items);
	len = index_size(l.head->nr_items, nr_slots, l.head->names_bytes);
	must(segment_create(&k->index_seg, &index_kind, len, GENERATION,
	    &err) == 0);
	k->index = k->index_seg.base;
	k->index->nr_items = l.head->nr_items;
	k->index->nr_slots = nr_slots;
	k->index->names_bytes = l.head->names_bytes;
	k->index->total_bytes = total;
	k->index->set = FAKE_SET;
	for (uint64_t i = 0; i < l.head->nr_items; i++) {
		k->index->items[i].key = l.items[i];
		index_put_file(k->index, i);
	}
	memcpy(index_names(k->index), l.names, l.head->names_bytes);
	listing_unmap(&l);
}

static void
answer_opened(struct fake *k, uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_OPENED, serial);
	wire_put_u32(&w, FAKE_SET);
	wire_put_fd(&w, k->index_seg.fd);
	wire_put_fd(&w, k->give_bad_view ? k->page_fd : store_view(k->store));
	wire_put_fd(&w, k->give_bad_page ? k->index_seg.fd : k->page_fd);
	must(wire_write_end(&w));
	answer(k, &f);
}

static void
answer_open(struct fake *k, struct wire_frame *f)
{
	struct wire_frame a;
	struct wire_writer w;
	struct wire_reader r;
	size_t len;

	wire_read(&r, f);
	(void)wire_get_bytes(&r, &len);
	k->last_stamp = wire_get_u64(&r);
	k->last_share = wire_get_u32(&r);
	if (!wire_read_end(&r))
		k->nr_bad++;
	if (k->refuse_open) {
		refuse(k, f->head.serial);
	} else if (f->head.type == MSG_OPEN && k->index == NULL) {
		wire_write(&w, &a, MSG_LIST, f->head.serial);
		answer(k, &a);
	} else {
		if (f->head.type == MSG_LISTING) {
			k->nr_listings++;
			if (k->index == NULL && f->nr_fds == 1)
				make_index(k, f->fds[0]);
		}
		answer_opened(k, f->head.serial);
	}
}

static void
answer_not_leased(struct fake *k, uint32_t serial, enum cache_why why)
{
	struct wire_frame f;
	struct wire_writer w;

	wire_write(&w, &f, MSG_NOT_LEASED, serial);
	wire_put_u32(&w, why);
	must(wire_write_end(&w));
	answer(k, &f);
}

static void
grant(struct fake *k, uint64_t i, uint32_t serial)
{
	struct wire_frame f;
	struct wire_writer w;
	struct ds_err err;
	enum item_state state = item_state(k->index->items[i].word);

	if (state == ITEM_READY) {
		answer_not_leased(k, serial, CACHE_LOOK);
		return;
	}
	if (state == ITEM_LEASED) {
		answer_not_leased(k, serial, CACHE_BUSY);
		return;
	}
	k->generation++;
	must(store_begin(k->store, size_of(k, i), &k->drafts[i], &err) == 0);
	set_word(k, i, ITEM_LEASED);
	wire_write(&w, &f, MSG_LEASED, serial);
	wire_put_u32(&w, k->generation);
	wire_put_fd(&w, k->drafts[i].writer);
	must(wire_write_end(&w));
	answer(k, &f);
	if (!k->hold_writers)
		io_close(&k->drafts[i].writer);
}

static void
answer_lease(struct fake *k, struct wire_reader *r, uint32_t serial)
{
	uint64_t i = wire_get_u64(r);

	k->last_since_ns = wire_get_u64(r);
	if (!wire_read_end(r) || i >= FAKE_FILES) {
		k->nr_bad++;
		return;
	}
	k->nr_leases++;
	if (k->free_after > 0 && --k->free_after == 0)
		k->grant = FAKE_GRANT;
	if (k->grant == FAKE_REFUSE)
		refuse(k, serial);
	else if (k->grant == FAKE_GRANT)
		grant(k, i, serial);
	else
		answer_not_leased(k, serial, k->grant == FAKE_BUSY ?
		    CACHE_BUSY : k->grant == FAKE_LOOK ? CACHE_LOOK :
		    CACHE_CLOSED);
}

/* What was handed over is what was promised? */
static void
take_publish(struct fake *k, struct wire_reader *r)
{
	uint64_t i = wire_get_u64(r);
	uint32_t generation = wire_get_u32(r), crc = wire_get_u32(r);
	unsigned char *p;
	size_t len;

	if (!wire_read_end(r) || i >= FAKE_FILES ||
	    generation != item_generation(k->index->items[i].word)) {
		k->nr_bad++;
		return;
	}
	len = size_of(k, i);
	p = malloc(len + 1);
	must(p != NULL);
	if (pread(k->drafts[i].keeper, p, len + 1, 0) != (ssize_t)len ||
	    !(k->any_bytes || fake_bytes_right(i, p, len)) ||
	    crc32c(0, p, len) != crc)
		k->nr_bad++;
	free(p);
	k->nr_publishes++;
	name_draft(k, i, crc);
}

static void
take_give_up(struct fake *k, struct wire_reader *r)
{
	uint64_t i = wire_get_u64(r);
	uint32_t generation = wire_get_u32(r);

	k->last_error = wire_get_u32(r);
	if (!wire_read_end(r) || i >= FAKE_FILES ||
	    generation != item_generation(k->index->items[i].word)) {
		k->nr_bad++;
		return;
	}
	store_abandon(&k->drafts[i]);
	if (k->last_error == 0)
		set_word(k, i, ITEM_EMPTY);
	else
		fail(k, i, k->last_error, UINT64_MAX);
	k->nr_give_ups++;
}

static void
take_report(struct fake *k, struct wire_reader *r)
{
	uint64_t i = wire_get_u64(r);
	uint32_t generation = wire_get_u32(r);

	if (!wire_read_end(r) || i >= FAKE_FILES ||
	    generation != item_generation(k->index->items[i].word))
		k->nr_bad++;
	else
		set_word(k, i, ITEM_EMPTY);
	k->nr_reports++;
}

static void
take_frame(struct fake *k, struct wire_frame *f)
{
	struct wire_reader r;

	if (f->head.type == MSG_HELLO) {
		answer_hello(k, f->head.serial);
		return;
	}
	if (f->head.type == MSG_OPEN || f->head.type == MSG_LISTING) {
		answer_open(k, f);
		return;
	}
	wire_read(&r, f);
	if (wire_get_u32(&r) != FAKE_SET)
		k->nr_bad++;
	switch (f->head.type) {
	case MSG_LEASE:
		answer_lease(k, &r, f->head.serial);
		break;
	case MSG_PUBLISH:
		take_publish(k, &r);
		break;
	case MSG_GIVE_UP:
		take_give_up(k, &r);
		break;
	case MSG_REPORT:
		take_report(k, &r);
		break;
	case MSG_CLOSE:
		k->nr_closes++;
		break;
	default:
		k->nr_bad++;
	}
}

static void *
run(void *arg)
{
	struct fake *k = arg;
	struct wire_frame f;
	struct ds_err err;

	while (wire_recv(k->sock, &f, &err) == 1) {
		uint32_t type = f.head.type;

		k->nr_frames++;
		pthread_mutex_lock(&k->lock);
		if (type != k->hang_up_at)
			take_frame(k, &f);
		pthread_mutex_unlock(&k->lock);
		wire_close_fds(&f);
		if (type == k->hang_up_at || type == k->die_after)
			break;
	}
	io_close(&k->sock);
	return NULL;
}

/*--- start and stop ------------------------------------------------------*/

static void
make_page(struct fake *k)
{
	struct ds_err err;
	void *base;

	k->page_fd = memfd_new(page_kind.name, PAGE_LEN, &err);
	must(k->page_fd >= 0);
	must(memfd_map_writer(k->page_fd, PAGE_LEN, &base, &err) == 0);
	k->page = base;
	k->page->head = (struct segment_head){
		.magic = page_kind.magic,
		.layout = page_kind.layout,
		.byte_order = SEGMENT_BYTE_ORDER,
		.head_size = sizeof k->page->head,
		.size = PAGE_LEN,
		.generation = GENERATION,
	};
}

void
fake_start(struct fake *k, struct link **link)
{
	struct ds_err err;
	int fds[2];

	memset(k, 0, sizeof *k);
	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
	k->sock = fds[1];
	must(pthread_mutex_init(&k->lock, NULL) == 0);
	for (unsigned i = 0; i < FAKE_FILES; i++)
		k->drafts[i] = (struct store_draft){ -1, -1 };
	must(segment_create(&k->control, &control_kind, sizeof(struct control),
	    GENERATION, &err) == 0);
	make_folder(k->store_path, "fakehub-store");
	must(store_new_in(&k->store, k->store_path, &err) == 0);
	make_page(k);
	must(pthread_create(&k->thread, NULL, run, k) == 0);
	if (link_new_on(link, fds[0], &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
}

void
fake_stop(struct fake *k)
{
	must(pthread_join(k->thread, NULL) == 0);
	must(pthread_mutex_destroy(&k->lock) == 0);
	for (unsigned i = 0; i < FAKE_FILES; i++)
		store_abandon(&k->drafts[i]);
	segment_detach(&k->control);
	segment_detach(&k->index_seg);
	munmap(k->page, PAGE_LEN);
	io_close(&k->page_fd);
	store_free(&k->store);
	must(rmdir(k->store_path) == 0);
}
