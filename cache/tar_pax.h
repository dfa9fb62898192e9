/* SPDX-License-Identifier: Apache-2.0
 *
 * tar_pax.h: the records of extended headers in tar archives.
 * Runs in clients.
 *
 * A record is "LENGTH KEY=VALUE\n", its length counted in itself.
 */

#ifndef CACHE_TAR_PAX_H
#define CACHE_TAR_PAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pax {
	char		*path;		/* or NULL */
	uint64_t	size;
	bool		has_size;
	bool		is_set;		/* a header was read */
};

#define PAX_NO_MEMORY	"no memory"

const char *pax_parse(struct pax *p, const char *body, size_t len);
	/* A later record replaces an earlier one; an empty value takes it
	 * back.  What is wrong with it, or NULL. */

const char *pax_check_global(const char *body, size_t len);
	/* One for all members to come, which must say nothing of path or
	 * size. */

void pax_clear(struct pax *p);

#endif
