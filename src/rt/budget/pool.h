/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pool of a budget that is shared: how much of it has been taken in the current period. Those
 * that share it may be threads or processes, and may die between any two instructions, so each step
 * is one compare-and-swap, of one word: what has been taken is lost for the period at worst.
 * Amounts are rounded such that nobody ever has more.
 */
#ifndef STROBE_RT_BUDGET_POOL_H
#define STROBE_RT_BUDGET_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/results/header.h"

enum {
	POOL_STEP = 512, /* units of an amount: what is taken is a multiple of it */
	POOL_LEAST = 512 * ST_BUDGET_UNITS, /* less is not worth going on with */
	POOL_NUMBER_BITS = 24,
	POOL_NUMBERS = 1 << POOL_NUMBER_BITS, /* of periods; then they begin again */
};

/* The period that the pool is in. */
uint32_t pool_number(const struct st_budget_pool *p);
/* Period `number` has begun, of which so much may be taken. What was owed and not paid by the
 * periods before is taken already. Returns how many are over; 0: the pool is in it, or in a later
 * one. */
uint32_t pool_renew(struct st_budget_pool *p, uint32_t number, int64_t amount);
/* Takes at most so much, such that no more than `amount` is taken in that period; 0: it would be
 * less than POOL_LEAST, or the period is over. */
int64_t pool_take(struct st_budget_pool *p, uint32_t number, int64_t amount, int64_t most);
/* Gives back what was taken in that period; nothing if it is over. */
void pool_give(struct st_budget_pool *p, uint32_t number, int64_t left);
/* So much more than was taken has been spent. */
void pool_add_debt(struct st_budget_pool *p, int64_t debt);

/* A thread of that weight takes part in the period. */
void pool_weigh(struct st_budget_pool *p, uint32_t number, uint64_t weight);
/* The weight of all that took part in the last one before. */
uint64_t pool_weights_before(const struct st_budget_pool *p, uint32_t number);

#endif
