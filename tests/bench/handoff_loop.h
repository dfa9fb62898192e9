/* SPDX-License-Identifier: Apache-2.0
 *
 * handoff_loop.h: what the parts of handoff_loop share.
 */

#ifndef BENCH_HANDOFF_LOOP_H
#define BENCH_HANDOFF_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "base/hist.h"
#include "destall.h"

#define SOON_MS	20000u		/* longer than anything takes that comes */

_Noreturn void give_up(const char *what, const char *why);
uint64_t number(const char *text);

struct seat_at {		/* a stream of one connection, and its pass */
	struct ds_hub	*hub;
	struct ds_stage	*stage;
	struct ds_pass	*pass;
};

void sit_down(struct seat_at *s, uint64_t units, size_t bytes,
    const char *ahead, const char *window);
void get_up(struct seat_at *s);
double us(const struct hist *h, double q);

/* handoff_jobs.c */
void share(unsigned jobs, uint64_t units, uint64_t pace_ns, unsigned makers);
void pipes(unsigned jobs, uint64_t units, uint64_t pace_ns);

/* handoff_large.c */
void take_large(const char *how, uint64_t count, size_t bytes);
void copy_large(const char *how, uint64_t count, size_t bytes);

#endif
