/* SPDX-License-Identifier: Apache-2.0
 *
 * storm.c: lets SIGUSR1 interrupt system calls.
 * Runs inside the program under test, preloaded by tests/harness/storm.
 *
 * A signal that is ignored interrupts nothing, and one without a handler
 * kills.  So the sender starts the program with SIGUSR1 ignored, and this puts
 * an empty handler in place, without SA_RESTART, in the program that
 * DS_STORM_EXE names.
 */

#include <config.h>

#include <signal.h>

#include "tests/shim/shim.h"

static void
do_nothing(int signo)
{
	(void)signo;
}

__attribute__((constructor)) static void
set_up(void)
{
	struct sigaction act = { .sa_handler = do_nothing };

	if (!shim_is_for_us("DS_STORM_EXE"))
		return;
	sigemptyset(&act.sa_mask);
	if (sigaction(SIGUSR1, &act, NULL) != 0)
		shim_broken("storm", "cannot handle SIGUSR1");
}
