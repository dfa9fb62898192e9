/* SPDX-License-Identifier: Apache-2.0
 *
 * fakehub.h: a hub that does as a test says: a thread at the other end of a
 * socket, one data set, one client.
 *
 * It speaks cache/messages.h, has a real store and a real index, and keeps
 * what it was told.  What it does by itself: open what is listed, grant every
 * lease, publish what is handed over.
 */

#ifndef HARNESS_FAKEHUB_H
#define HARNESS_FAKEHUB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/segment.h"
#include "cache/index.h"
#include "cache/page.h"
#include "cache/store.h"
#include "hub/link.h"

#define FAKE_FILES	24u
#define FAKE_SET	7u

/* A folder of files, file i of fake_size(i) bytes. */
struct fake_files {
	char	path[192];
};

void fake_files_new(struct fake_files *f);
void fake_files_free(struct fake_files *f);
void fake_file_name(const struct fake_files *f, uint64_t i, char path[256]);
	/* Names ascend with i. */
uint64_t fake_size(uint64_t i);
bool fake_bytes_right(uint64_t i, const void *bytes, size_t len);

enum fake_grant { FAKE_GRANT, FAKE_BUSY, FAKE_LOOK, FAKE_CLOSED, FAKE_REFUSE };

struct fake {
	pthread_t	thread;
	int		sock;
	pthread_mutex_t	lock;		/* of items: the test changes them too */
	struct segment	control;
	struct segment	index_seg;
	struct index	*index;
	struct store	*store;
	char		store_path[192];
	int		page_fd;
	struct page	*page;
	struct store_draft drafts[FAKE_FILES];
	uint32_t	generation;
	uint64_t	next_file;

	/* The test says, before it asks. */
	_Atomic int	grant;			/* enum fake_grant */
	_Atomic uint32_t hang_up_at;		/* a message: no answer, end */
	_Atomic uint32_t die_after;		/* answered, then the end */
	_Atomic bool	refuse_open;
	_Atomic bool	give_bad_page, give_bad_view;
	_Atomic bool	hold_writers;		/* until they are given up */
	_Atomic int	free_after;		/* BUSY so often, then GRANT */
	_Atomic bool	any_bytes;		/* files are not fake_files */

	/* What it was told. */
	_Atomic uint64_t nr_frames, nr_leases, nr_publishes, nr_give_ups,
	    nr_reports, nr_closes, nr_listings, nr_bad;
	_Atomic uint32_t last_error, last_share;
	_Atomic uint64_t last_since_ns, last_stamp;
};

void fake_start(struct fake *k, struct link **link);
void fake_stop(struct fake *k);
	/* After the link was freed. */

void fake_publish(struct fake *k, uint64_t i);
	/* By the test's own thread, as if another client had: its true bytes. */
void fake_spoil(struct fake *k, uint64_t i);
	/* Publishes bytes that are not those of its crc. */
void fake_fail(struct fake *k, uint64_t i, uint32_t error, uint64_t when_ns);
void fake_forget(struct fake *k, uint64_t i);
	/* Empty again, if it is ready. */
void fake_set_word(struct fake *k, uint64_t i, enum item_state state);

#endif
