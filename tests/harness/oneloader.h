/* SPDX-License-Identifier: Apache-2.0
 *
 * oneloader.h: a folder of pictures, and a loader of it: the set-up and the
 * tear-down of unit tests of the loader.
 */

#ifndef HARNESS_ONELOADER_H
#define HARNESS_ONELOADER_H

#include <stdint.h>

#include "tests/harness/loaded.h"

extern struct pictures files;
extern struct ds_data *data;		/* of them */
extern struct ds_loader *loader;	/* for the test; closed after it */
extern struct ds_err err;

int oneloader_start(void **state, uint64_t nr);	/* pictures */
int oneloader_stop(void **state);

void oneloader_list(void);
	/* data anew, after files were changed; the loader is closed. */
void oneloader_open(const char *options);
	/* Instead of the one there was. */

#endif
