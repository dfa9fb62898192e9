/* SPDX-License-Identifier: Apache-2.0
 *
 * keeper_adopt.h: a new listing takes over the items that did not change.
 * Runs in the hub only.
 */

#ifndef CACHE_KEEPER_ADOPT_H
#define CACHE_KEEPER_ADOPT_H

#include "cache/keeper_make.h"

int adopt_begin(struct make *m, struct dataset *d);
	/* From m->old into d; make_answer() is called when it is done.
	 * -ENOMEM: nothing was begun. */

#endif
