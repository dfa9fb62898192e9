/* SPDX-License-Identifier: Apache-2.0
 *
 * demo.h: what `destall demo` found, for those who show it.
 * Runs in the command only.
 */

#ifndef TOOL_DEMO_H
#define TOOL_DEMO_H

#include <stdint.h>

#include "base/err.h"
#include "base/term.h"
#include "tool/demo_jobs.h"
#include "tool/demo_law.h"
#include "tool/demo_profile.h"
#include "tool/demo_read.h"

#define DEMO_EPOCHS	3u

enum demo_run {
	DEMO_PLAIN,		/* with the page cache; or, where memory is not
				 * limited, with no cache at all */
	DEMO_DESTALL,
	DEMO_RUNS
};

struct demo_found {
	struct demo_profile profile[DEMO_KINDS];
	struct demo_jobs caching;	/* one job, its arrays in the cache */
	struct demo_jobs jobs;
	uint64_t	elapsed_ns;

	/* The cache next to the page cache: */
	const char	*share;		/* of the cache, as given; NULL: it
					 * was not tried */
	double		part;		/* the same, 0 to 1 */
	uint64_t	bytes;		/* of all items */
	uint64_t	digest;		/* of an epoch */
	uint64_t	limit_bytes;	/* of memory, for both; 0: none */
	struct ds_err	no_limit;	/* why */
	struct demo_law	law;
	struct demo_epoch epoch[DEMO_RUNS][DEMO_EPOCHS];
	struct demo_held held;		/* by destall */
};

bool demo_is_counted(const struct demo_found *f);
	/* Does the kernel count what is read from storage here? */

uint64_t demo_storage(const struct demo_found *f, enum demo_run run,
    unsigned epoch);
	/* The bytes: by the kernel's count; else, of what was checked, by the
	 * hub's, or DEMO_NOT_COUNTED without one. */

int demo_check(const struct demo_found *f, struct ds_err *err);
	/* Is everything exactly as the law says?  -EBADMSG names what is
	 * not. */

/* Each part is printed once it is known. */
struct demo_page {
	struct term	term;
	unsigned	parts;		/* that are printed */
};

void demo_print_head(struct demo_page *p, const char *text);
void demo_print_text(const struct term *t, const char *text);
	/* Broken into lines. */

void demo_print_profile(struct demo_page *p, const struct demo_profile *found,
    enum demo_kind kind);
void demo_print_caching(struct demo_page *p, const struct demo_jobs *j);
void demo_print_jobs(struct demo_page *p, const struct demo_jobs *j);
void demo_print_cache(struct demo_page *p, const struct demo_found *f);
void demo_print_end(struct demo_page *p, const struct demo_found *f);

int demo_write_json(const struct demo_found *f, const char *path,
    struct ds_err *err);

#endif
