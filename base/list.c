/* SPDX-License-Identifier: Apache-2.0
 *
 * list.c: lists that grow by one.  Runs in the command only.
 */

#include <config.h>

#include "base/list.h"

#include <stdlib.h>

#include "base/say.h"

void *
list_grow(void *list, size_t nr, size_t size)
{
	void *p = list;

	if ((nr & (nr - 1)) == 0)
		p = reallocarray(list, nr > 0 ? 2 * nr : 1, size);
	if (p == NULL)
		say_no_memory();
	return p;
}
