/* SPDX-License-Identifier: Apache-2.0
 *
 * leak.h: a unit test must leave the process as it found it: no descriptor,
 * mapping, thread, child process or heap block more, and the same signal
 * handlers and mask, working directory, umask and environment.
 */

#ifndef HARNESS_LEAK_H
#define HARNESS_LEAK_H

int leak_before(void **state);
int leak_after(void **state);
	/* cmocka's setup and teardown; a leak is said and fails the test. */

#endif
