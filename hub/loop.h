/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.h: the hub's event loop.  Runs in the hub only.
 *
 * A turn is the handling of one descriptor that became ready, or of one timer.
 *
 *  1. No turn takes more than 1 ms of processor time: what may take longer is
 *     given to the helper (hub/helper.h) or done in pieces.  The longest turn is
 *     kept as a figure, by processor time and by the clock.
 *  2. A watch may be removed in any turn, its own included; it is not called
 *     after that.
 */

#ifndef HUB_LOOP_H
#define HUB_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct loop_watch;

typedef void loop_ready_f(void *arg, uint32_t events);	/* as epoll(7) */
typedef void loop_timer_f(void *arg);

#define LOOP_TURN_NS	UINT64_C(1000000)	/* of processor time: rule 1 */

struct loop_turns {
	uint64_t turns;
	uint64_t over;			/* that took more than LOOP_TURN_NS */
	uint64_t longest_cpu_ns;
	uint64_t longest_wall_ns;
};

int loop_new(struct loop **out, struct ds_err *err);
void loop_free(struct loop **lp);
	/* All watches are removed first. */

int loop_watch(struct loop *l, struct loop_watch **out, int fd, uint32_t events,
    loop_ready_f *ready, void *arg, struct ds_err *err);
	/* The descriptor stays the caller's, and open until loop_unwatch(). */
int loop_rewatch(struct loop_watch *w, uint32_t events, struct ds_err *err);
void loop_unwatch(struct loop_watch **wp);

void loop_every(struct loop *l, uint64_t period_ns, loop_timer_f *timer,
    void *arg);
	/* The one timer of the loop: called that often, never twice in a row
	 * for time that was slept through. */

int loop_run(struct loop *l, struct ds_err *err);
	/* Until loop_stop(), which may be called in a turn. */
void loop_stop(struct loop *l);

const struct loop_turns *loop_turns(const struct loop *l);

#endif
