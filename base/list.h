/* SPDX-License-Identifier: Apache-2.0
 *
 * list.h: lists that grow by one.  Runs in the command only, which ends where there
 * is no memory; the library returns -ENOMEM instead.
 */

#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stddef.h>

void *list_grow(void *list, size_t nr, size_t size);
	/* Room for one more than nr members of that size: it is doubled whenever
	 * nr is a power of two, so the list grows by this alone. */

#endif
