/* SPDX-License-Identifier: Apache-2.0
 *
 * step.c: steps that a program tells by itself: ds_step() of destall.h.
 * Runs in jobs, one thread at a time.
 */

#include <config.h>

#include "destall.h"

#include <unistd.h>

#include "base/clock.h"
#include "probe/session.h"

enum state { NOT_ASKED, NOT_PROFILED, PROFILED };

void
ds_step(uint64_t samples)
{
	static struct session session;
	static enum state state;

	if (state == PROFILED && session.pid != getpid()) {
		session_close(&session);	/* of who forked us */
		state = NOT_ASKED;
	}
	if (state == NOT_ASKED)
		state = session_open(&session, NULL) > 0 ? PROFILED :
		    NOT_PROFILED;
	if (state == PROFILED)
		(void)session_tell(&session, &(struct journal_record){
		    .kind = JOURNAL_MARK, .word = { clock_now_ns(), samples } },
		    NULL);
}
