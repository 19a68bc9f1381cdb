/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks the budget whether work may be done now or should be put off (budget/budget.c). */
#ifndef STROBE_RT_COST_H
#define STROBE_RT_COST_H

#include "rt/rt.h"

/* Would work of that many ticks cost more than there is left? Never, if the thread does not pay. */
bool budget_is_short(const struct thread *t, uint64_t ticks);
/* Is it time for a table of `size` entries to grow, of which that many are used and `most` may be?
 * Nearly full ones already do, when that can be paid: else it may be just when the budget is nearly
 * spent. */
static inline bool
budget_lets_grow(uint64_t used, uint64_t most, uint64_t size)
{
	enum { TICKS_OF_ENTRY = 40 };
	return used >= most ||
	       (used >= most - most / 8 && !budget_is_short(rt_self(), size * TICKS_OF_ENTRY));
}
/* Of what the next work may cost, in ticks, so much as may be left unused because of it: not more
 * than 40,000, and not more than an eighth of a budget, else small ones would pay for nothing. */
uint64_t budget_at_most(uint64_t ticks);
/* Updates `mean`, the average cost of some work, with the ticks it took this time: possibly many
 * more than usual, if the thread had to wait. */
void budget_learn(uint64_t *mean, uint64_t ticks);
#endif
