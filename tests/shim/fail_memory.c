/* SPDX-License-Identifier: Apache-2.0
 *
 * fail_memory.c: wrappers of the calls that allocate memory.
 * Runs inside the program under test, preloaded.
 *
 * The real functions are reached by the names under which glibc itself exports
 * them: looking them up with dlsym() could call malloc again.
 */

#include <config.h>

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/shim/fail.h"
#include "tests/shim/shim.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool
shall_fail(enum fail_call call)
{
	return fail_count(call) == VERDICT_FAIL;
}

SHIM_EXPORT void *
malloc(size_t size)
{
	return shall_fail(CALL_malloc) ? NULL : __libc_malloc(size);
}

SHIM_EXPORT void *
calloc(size_t nr, size_t size)
{
	return shall_fail(CALL_calloc) ? NULL : __libc_calloc(nr, size);
}

SHIM_EXPORT void *
realloc(void *old, size_t size)
{
	return shall_fail(CALL_realloc) ? NULL : __libc_realloc(old, size);
}

SHIM_EXPORT void *
aligned_alloc(size_t alignment, size_t size)
{
	if (shall_fail(CALL_aligned_alloc))
		return NULL;
	return __libc_memalign(alignment, size);
}

/* Returns the errno, and leaves the variable alone. */
SHIM_EXPORT int
posix_memalign(void **out, size_t alignment, size_t size)
{
	int saved = errno;
	void *p = NULL;
	int rc = 0;

	if (alignment % sizeof(void *) != 0 || alignment == 0 ||
	    (alignment & (alignment - 1)) != 0)
		return EINVAL;
	if (shall_fail(CALL_posix_memalign))
		rc = errno;
	else if ((p = __libc_memalign(alignment, size)) == NULL)
		rc = ENOMEM;
	else
		*out = p;
	errno = saved;
	return rc;
}

/* Both names, since either may be called; glibc's malloc uses neither. */
SHIM_EXPORT void *
mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	SHIM_REAL(mmap)

	if (shall_fail(CALL_mmap))
		return MAP_FAILED;
	return real(at, len, prot, flags, fd, off);
}

SHIM_EXPORT void *
mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t off)
{
	SHIM_REAL(mmap64)

	if (shall_fail(CALL_mmap))
		return MAP_FAILED;
	return real(at, len, prot, flags, fd, off);
}
