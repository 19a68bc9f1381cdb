/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/pool.h"

/* Words are a period's number, and what is said of it in the lower bits. */
#define VALUE_BITS (64 - POOL_NUMBER_BITS)
#define MOST_VALUE ((1ull << VALUE_BITS) - 1)

static uint64_t
word_of(uint32_t number, uint64_t value)
{
	return (uint64_t)number << VALUE_BITS | (value < MOST_VALUE ? value : MOST_VALUE);
}

static uint32_t
period_of_word(uint64_t word)
{
	return (uint32_t)(word >> VALUE_BITS);
}

static uint64_t
value_of_word(uint64_t word)
{
	return word & MOST_VALUE;
}

static uint64_t
pool_word(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* *was is what the word is now when that is not possible. */
static bool
replace_pool_word(uint64_t *word, uint64_t *was, uint64_t by)
{
	return __atomic_compare_exchange_n(word, was, by, false, __ATOMIC_ACQ_REL,
	                                   __ATOMIC_ACQUIRE);
}

/* The number of periods that have begun since; 0: none, or the time is earlier. */
static uint32_t
later_by(uint32_t number, uint32_t than)
{
	uint32_t by = (number - than) % POOL_NUMBERS;
	return by < POOL_NUMBERS / 2 ? by : 0;
}

uint32_t
pool_number(const struct st_budget_pool *p)
{
	return period_of_word(pool_word(&p->used));
}

uint32_t
pool_renew(struct st_budget_pool *p, uint32_t number, int64_t amount)
{
	uint64_t each = (uint64_t)amount / POOL_STEP, used = pool_word(&p->used), debt;
	uint32_t over;
	do {
		uint64_t put = pool_word(&p->put), was = period_of_word(used);
		over = later_by(number, (uint32_t)was);
		if (!over)
			return 0;
		uint64_t paid = (period_of_word(put) == was ? value_of_word(put) : each) +
		                (over - 1) * each;
		debt = value_of_word(used) > paid ? value_of_word(used) - paid : 0;
	} while (!replace_pool_word(&p->used, &used, word_of(number, debt)));
	return over;
}

/* The greatest amount of the period: what is taken beyond it is owed. */
static void
raise_put(struct st_budget_pool *p, uint32_t number, uint64_t amount)
{
	uint64_t put = pool_word(&p->put);
	do
		if (period_of_word(put) == number ? value_of_word(put) >= amount
		                                  : !later_by(number, period_of_word(put)))
			return;
	while (!replace_pool_word(&p->put, &put, word_of(number, amount)));
}

int64_t
pool_take(struct st_budget_pool *p, uint32_t number, int64_t amount, int64_t most)
{
	uint64_t all = (uint64_t)amount / POOL_STEP, used, take;
	if (all > MOST_VALUE)
		all = MOST_VALUE;
	raise_put(p, number, all);
	used = pool_word(&p->used);
	do {
		if (period_of_word(used) != number || value_of_word(used) >= all)
			return 0;
		take = all - value_of_word(used);
		if ((int64_t)take > most / POOL_STEP)
			take = most > 0 ? (uint64_t)most / POOL_STEP : 0;
		if (take < POOL_LEAST / POOL_STEP)
			return 0;
	} while (!replace_pool_word(&p->used, &used, used + take));
	return (int64_t)(take * POOL_STEP);
}

void
pool_give(struct st_budget_pool *p, uint32_t number, int64_t left)
{
	uint64_t give = (uint64_t)left / POOL_STEP, used = pool_word(&p->used);
	do
		if (!give || period_of_word(used) != number || value_of_word(used) < give)
			return;
	while (!replace_pool_word(&p->used, &used, used - give));
}

void
pool_add_debt(struct st_budget_pool *p, int64_t debt)
{
	uint64_t steps = ((uint64_t)debt + POOL_STEP - 1) / POOL_STEP, used = pool_word(&p->used);
	while (!replace_pool_word(&p->used, &used,
	                          word_of(period_of_word(used), value_of_word(used) + steps)))
		;
}

void
pool_weigh(struct st_budget_pool *p, uint32_t number, uint64_t weight)
{
	uint64_t *slot = &p->weights[number % 2], was = pool_word(slot), sum;
	do
		sum = (period_of_word(was) == number ? value_of_word(was) : 0) + weight;
	while (!replace_pool_word(slot, &was, word_of(number, sum)));
}

uint64_t
pool_weights_before(const struct st_budget_pool *p, uint32_t number)
{
	return value_of_word(pool_word(&p->weights[(number + 1) % 2]));
}
