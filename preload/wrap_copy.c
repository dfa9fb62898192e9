/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap_copy.c: copy_file_range().  Runs in jobs, in the preload object.
 *
 * The kernel copies within one file system.  A substitute lies on another than
 * the file it stands for, so what it refuses because of that is copied here,
 * from the cache; where the file itself could not be copied either, the refusal
 * stays.
 */

#include <config.h>

#include "preload/wrap.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "preload/guard.h"
#include "preload/origin.h"

#define PIECE 4096		/* on the stack of any thread, which may be 16 KiB */

struct range {
	int	in, out;
	off_t	*in_at, *out_at;	/* NULL: by the descriptor's offset */
};

static ssize_t
write_piece(const struct range *r, const char *piece, size_t len)
{
	ssize_t n = r->out_at != NULL ?
	    pwrite(r->out, piece, len, *r->out_at) :
	    write(r->out, piece, len);

	if (n > 0 && r->out_at != NULL)
		*r->out_at += n;
	return n;
}

/* All of len, unless the file ends or the target takes no more. */
static ssize_t
copy(const struct range *r, off_t *at, size_t len)
{
	char piece[PIECE];
	size_t done = 0;
	ssize_t n = 0;

	while (done < len) {
		n = pread(r->in, piece, len - done < PIECE ? len - done :
		    PIECE, *at);
		if (n > 0)
			n = write_piece(r, piece, (size_t)n);
		if (n <= 0)
			break;
		*at += n;
		done += (size_t)n;
	}
	return done > 0 ? (ssize_t)done : n;
}

static ssize_t
copy_range(const struct range *r, size_t len)
{
	off_t at;
	ssize_t n;

	if (r->in_at != NULL)
		return copy(r, r->in_at, len);
	at = lseek(r->in, 0, SEEK_CUR);
	if (at < 0)
		return -1;
	n = copy(r, &at, len);
	if (n > 0)
		(void)lseek(r->in, at, SEEK_SET);
	return n;
}

static bool
is_ours(const struct range *r)
{
	struct stat st;

	return fstat(r->out, &st) == 0 && origin_is_on(r->in, st.st_dev);
}

ssize_t
wrap_copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t len,
    unsigned flags)
{
	struct range r = { in, out, in_at, out_at };
	real_copy_file_range *call = REAL(copy_file_range);
	struct guard g;
	int before = errno, error = EXDEV;
	ssize_t n;

	if (call == NULL)
		return -1;
	n = call(in, in_at, out, out_at, len, flags);
	if (n >= 0 || errno != EXDEV || !guard_enter(&g))
		return n;
	if (is_ours(&r)) {
		n = copy_range(&r, len);
		error = n < 0 ? errno : before;
	}
	guard_leave(&g);
	errno = error;
	return n;
}
