/* SPDX-License-Identifier: Apache-2.0
 *
 * version.c: which libdestall this is.  Runs in every process.
 */

#include <config.h>

#include "destall.h"

const char *
ds_version(void)
{
	return PACKAGE_VERSION;
}
