/* SPDX-License-Identifier: Apache-2.0
 *
 * stage_turn.h: a turn of the hub in the model of the stage, shared by
 * stage_turn.c, stage_hub.c and stage_time.c.
 */

#ifndef MODEL_STAGE_TURN_H
#define MODEL_STAGE_TURN_H

#include "tests/model/stage_world.h"

struct hub_turn {
	struct view	v;
	struct stage_world *w;
	struct stage_turn *t;
	unsigned	pass;
};

/* A turn reads the seats at its beginning, and shows at its end what the line
 * says; settle() also wakes whom it concerns. */
bool is_seat_of(const struct hub_turn *h, unsigned p, unsigned s);
void wake_taker(struct hub_turn *h, unsigned p, unsigned s);
bool wake_maker(struct hub_turn *h, bool no_room);
void wake_for_room(struct stage_world *w);
void put_slot(struct stage_world *w, struct stage_turn *t, struct m_slot *slot);
struct m_slot *get_slot(struct hub_turn *h, unsigned p);
void begin_turn(struct hub_turn *h, struct stage_world *w, struct stage_turn *t,
    unsigned pass);
void end_turn(struct hub_turn *h);
void settle(struct hub_turn *h);
bool somebody_needs_room(const struct stage_world *w);
void show_needs(struct hub_turn *h, unsigned taken, unsigned released);

#endif
