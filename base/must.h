/* SPDX-License-Identifier: Apache-2.0
 *
 * must.h: assertions that stay in every build.  Runs in every process.
 *
 * must(x) says "anything else is a bug of ours".  Bytes that another process,
 * a file or a socket could have written are never asserted on: they are
 * checked, and refused with -EBADMSG.
 */

#ifndef BASE_MUST_H
#define BASE_MUST_H

#include <stddef.h>

#define must(x) \
	do { \
		if (__builtin_expect(!(x), 0)) \
			must_fail(__FILE__, __LINE__, #x); \
	} while (0)

/* Every heap object starts with `unsigned magic`; entry points check it. */
#define must_be(obj, want) \
	must((obj) != NULL && (obj)->magic == (want))

void must_tell(void (*tell)(void *arg, const char *text), void *arg);
	/* Who else is to hear of it, before the end: a log.  NULL: nobody. */

_Noreturn void must_fail(const char *file, int line, const char *what);

#endif
