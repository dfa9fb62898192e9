/* SPDX-License-Identifier: Apache-2.0
 *
 * stagehub.h: a hub with nothing but the stage in it, and streams at it, for
 * unit tests: a set-up and a tear-down, and what most of them begin with.
 */

#ifndef HARNESS_STAGEHUB_H
#define HARNESS_STAGEHUB_H

#include <stdint.h>

#include "destall.h"

struct party {			/* one connection, as a job would have */
	struct ds_hub	*hub;
	struct ds_stage	*stage;
	struct ds_pass	*pass;
	struct ds_pass_info info;
};

int stagehub_open(void **state);	/* for the group of tests */
int stagehub_close(void **state);
void stagehub_clear(void);	/* what variables say of streams */

void stagehub_start(uint64_t stage_bytes);	/* 0: the default */
void stagehub_prepare(void);	/* one more, which begins when it is told to: */
void stagehub_begin(void);	/* where there are threads (testhub.h) */
void stagehub_kill(void);	/* it is gone when this returns */
void stagehub_stop(void);	/* if it was not killed */

void party_connect(struct party *p);
void party_open(struct party *p, const char *stream, unsigned units,
    unsigned bytes);
	/* A stage on that connection; unit: 4 samples.  DESTALL_LAG and so on
	 * count. */
void party_set(struct party *p, const char *name, const char *value);
void party_attend(struct party *p, uint64_t epoch);	/* a pass */
void party_leave(struct party *p);
	/* Everything that there is. */

#endif
