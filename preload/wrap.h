/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap.h: our functions under the names of the C library's.  Runs in jobs, in
 * the preload object.
 *
 * A wrapper has a name of its own in C and that of the function it wraps in
 * the object.  So nothing that headers say of that function reaches it: no
 * inline variant of a checked build, no redirection to a 64-bit name, and no
 * promise that an argument is never NULL, by which the compiler would take
 * checks away.
 */

#ifndef PRELOAD_WRAP_H
#define PRELOAD_WRAP_H

#include "preload/real.h"

#define WRAP_DECLARE(type, name, sibling, params) \
	__attribute__((visibility("default"))) type wrap_##name params \
	    __asm__(#name);
REAL_CALLS(WRAP_DECLARE)
#undef WRAP_DECLARE

#endif
