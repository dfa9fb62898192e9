/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap_stdio.c: fopen() and freopen().  Runs in jobs, in the preload object.
 *
 * The C library opens the file by a call of its own that no wrapper sees.  The
 * stream has read nothing yet when its descriptor becomes another.
 */

#include <config.h>

#include "preload/wrap.h"

#include <fcntl.h>
#include <string.h>

#include "preload/consider.h"
#include "preload/guard.h"
#include "preload/trace.h"

#define MODE_LETTERS 7		/* the C library looks at no more */

/* The flags of a stream that only reads, or -1. */
static int
flags_of_reader(const char *mode)
{
	int flags = O_RDONLY;

	if (mode[0] != 'r' || strchr(mode, '+') != NULL)
		return -1;
	for (unsigned i = 1; i < MODE_LETTERS && mode[i] != '\0'; i++)
		if (mode[i] == 'e')
			flags |= O_CLOEXEC;
	return flags;
}

static FILE *
consider_stream(FILE *fp, const char *path, const char *mode)
{
	int flags;

	if (fp == NULL || path == NULL ||
	    (!guard_is_open() && !trace_is_on()))
		return fp;
	flags = flags_of_reader(mode);
	if (flags >= 0)
		(void)consider_fd(fileno(fp), AT_FDCWD, path, flags);
	return fp;
}

#define DEFINE_FOPEN(name) \
FILE * \
wrap_##name(const char *path, const char *mode) \
{ \
	real_##name *call = REAL(name); \
\
	if (call == NULL) \
		return NULL; \
	return consider_stream(call(path, mode), path, mode); \
}

#define DEFINE_FREOPEN(name) \
FILE * \
wrap_##name(const char *path, const char *mode, FILE *fp) \
{ \
	real_##name *call = REAL(name); \
\
	if (call == NULL) \
		return NULL; \
	return consider_stream(call(path, mode, fp), path, mode); \
}

DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)
DEFINE_FREOPEN(freopen)
DEFINE_FREOPEN(freopen64)
