/* SPDX-License-Identifier: Apache-2.0
 *
 * heap.c: counts what the unit test, its libraries and the C library allocate
 * and free, by standing before malloc.
 */

#include <config.h>

#include "tests/harness/heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_size_t in_use, nr_blocks;

size_t
heap_bytes_in_use(void)
{
	return atomic_load_explicit(&in_use, memory_order_relaxed);
}

size_t
heap_blocks_in_use(void)
{
	return atomic_load_explicit(&nr_blocks, memory_order_relaxed);
}

#if !HEAP_IS_SANITIZED

#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

static void *
add(void *p)
{
	if (p == NULL)
		return p;
	atomic_fetch_add_explicit(&nr_blocks, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&in_use, malloc_usable_size(p),
	    memory_order_relaxed);
	return p;
}

static void
subtract(size_t len)
{
	atomic_fetch_sub_explicit(&nr_blocks, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&in_use, len, memory_order_relaxed);
}

EXPORT void *
malloc(size_t size)
{
	return add(__libc_malloc(size));
}

EXPORT void *
calloc(size_t nr, size_t size)
{
	return add(__libc_calloc(nr, size));
}

EXPORT void
free(void *p)
{
	if (p != NULL)
		subtract(malloc_usable_size(p));
	__libc_free(p);
}

EXPORT void *
realloc(void *old, size_t size)
{
	size_t was = old == NULL ? 0 : malloc_usable_size(old);
	void *p = __libc_realloc(old, size);

	/* A realloc to nothing frees; one that fails keeps what was. */
	if (old != NULL && (p != NULL || size == 0))
		subtract(was);
	return add(p);
}

EXPORT void *
aligned_alloc(size_t alignment, size_t size)
{
	return add(__libc_memalign(alignment, size));
}

EXPORT void *
memalign(size_t alignment, size_t size)
{
	return add(__libc_memalign(alignment, size));
}

EXPORT int
posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p;

	if (alignment % sizeof(void *) != 0 || alignment == 0 ||
	    (alignment & (alignment - 1)) != 0)
		return EINVAL;
	p = __libc_memalign(alignment, size);
	if (p == NULL)
		return ENOMEM;
	*out = add(p);
	return 0;
}

#endif /* !HEAP_IS_SANITIZED */
