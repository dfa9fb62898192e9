/* SPDX-License-Identifier: Apache-2.0
 *
 * parties.h: two parties at a hub, and the steps that they take, each of which
 * must work: the set-up and the tear-down of unit tests of the client's side of
 * the stage.
 */

#ifndef HARNESS_PARTIES_H
#define HARNESS_PARTIES_H

#include "tests/harness/stagehub.h"

#define UNITS	40u
#define BYTES	8192u
#define SOON_MS	20000u		/* longer than anything takes that comes */

extern struct party a, b;	/* for the test; they leave after it */

int parties_start(void **state);
int parties_stop(void **state);

#define PARTIES_UNIT(test) \
	cmocka_unit_test_setup_teardown(test, parties_start, parties_stop)

void party_join_with(struct party *p, const char *stream, const char *window,
    const char *lag);
	/* Its first epoch, of UNITS units of BYTES bytes. */
void party_join(struct party *p, const char *stream);
void party_begin(struct party *p);	/* with unit 0 */

void party_lease(struct party *p, struct ds_lease *l);
void party_publish(struct party *p, struct ds_lease *l);
void party_make(struct party *p, uint64_t unit);
	/* Leases this one, the next to be made, and publishes it. */

void party_take(struct party *p, uint64_t unit, struct ds_taken *t);
void party_use(struct party *p, uint64_t unit);	/* takes and releases it */
void party_check(const struct ds_taken *t, uint64_t unit);
	/* It is this unit, and unchanged. */

#endif
