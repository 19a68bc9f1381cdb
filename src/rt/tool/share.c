/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/tool/share.h"

#include <asm/unistd.h>

enum {
	CLOCK_PROCESS_CPU = 2,
	PIECES = 16, /* of a budget: threads that sleep keep little from the others */
	LEAST = 512 * ST_BUDGET_UNITS,
	SCHEDULED_BY_NICE = 1 << 0 | 1 << 3 | 1 << 5, /* SCHED_OTHER, _BATCH and _IDLE */
};

static struct st_budget_pool *
pool(void)
{
	return &rt.results->budget.pool;
}

static int64_t
amount_now(void)
{
	return (int64_t)__atomic_load_n(&rt.results->budget.amount, __ATOMIC_RELAXED);
}

static uint64_t
process_time(void)
{
	uint64_t now[2] = {0, 0};
	SYS(__NR_clock_gettime, CLOCK_PROCESS_CPU, now);
	uint64_t ns = now[0] * 1000000000u + now[1];
	return ns ? ns : 1;
}

bool
share_exists(void)
{
	return rt.results->budget.share != ST_SHARE_THREAD;
}

/* As the kernel's scheduler weighs: each step of niceness is a quarter. */
static uint64_t
own_weight(void)
{
	enum { PRIO_PROCESS = 0, NICE_0 = 20, MOST = 40 };
	uint64_t weight = 1 << 20;
	int64_t scheduler = (int64_t)SYS(__NR_sched_getscheduler, 0);
	int64_t priority = (int64_t)SYS(__NR_getpriority, PRIO_PROCESS, 0); /* 20 - nice */
	if (scheduler >= 0 && !(SCHEDULED_BY_NICE >> (scheduler & 7) & 1))
		priority = MOST;
	for (; priority > NICE_0; priority--)
		weight += weight / 4;
	for (; priority > 0 && priority < NICE_0; priority++)
		weight -= weight / 5;
	return weight;
}

void
share_begin(struct thread *t, bool first)
{
	const struct st_budget *b = &rt.results->budget;
	struct st_budget_pool *p = pool();
	uint64_t none = 0, from = process_time();
	t->pool_number = 0;
	t->taken = 0;
	bool later = first && b->first_ns; /* the rest of a period that has nothing left */
	if (later)
		from -= b->period_ns - b->first_ns; /* perhaps below 0: only differences count */
	if (!__atomic_compare_exchange_n(&p->from, &none, from, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_ACQUIRE))
		return;
	p->grows = !first;
	p->put = amount_now();
	p->number = 1;
	__atomic_fetch_add(&p->left, later ? 0 : p->put, __ATOMIC_RELEASE);
}

/* One of the threads begins the new period. */
static void
begin_period(uint64_t now)
{
	struct st_budget *b = &rt.results->budget;
	struct st_budget_pool *p = &b->pool;
	uint64_t from = __atomic_load_n(&p->from, __ATOMIC_ACQUIRE), passed = now - from;
	if (!from || (int64_t)passed < (int64_t)b->period_ns ||
	    !__atomic_compare_exchange_n(&p->from, &from, now - passed % b->period_ns, false,
	                                 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	int64_t put = amount_now(), debts = __atomic_exchange_n(&p->debts, 0, __ATOMIC_ACQ_REL);
	int64_t left = __atomic_load_n(&p->left, __ATOMIC_ACQUIRE);
	if (put > p->put)
		left += put - p->put; /* the controller has allowed more meanwhile */
	if (left < 0)
		debts -= left; /* more than that period had */
	p->grows = 0;
	__atomic_store_n(&p->put, put, __ATOMIC_RELAXED);
	__atomic_store_n(&p->weights[(p->number + 1) % 2], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->left, put - debts, __ATOMIC_RELEASE);
	__atomic_fetch_add(&p->number, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&b->periods, 1, __ATOMIC_RELAXED);
}

bool
share_tick(struct thread *t)
{
	begin_period(process_time());
	return t->pool_number != __atomic_load_n(&pool()->number, __ATOMIC_ACQUIRE);
}

void
share_adopt(struct thread *t)
{
	struct st_budget_pool *p = pool();
	t->pool_number = __atomic_load_n(&p->number, __ATOMIC_ACQUIRE);
	t->taken = 0;
	if (rt.results->budget.share == ST_SHARE_PRIORITY)
		__atomic_fetch_add(&p->weights[t->pool_number % 2], own_weight(), __ATOMIC_RELAXED);
}

/* What of a whole budget is the thread's, by the threads that were there in the last period. */
static int64_t
quota(const struct thread *t, int64_t amount)
{
	if (rt.results->budget.share != ST_SHARE_PRIORITY)
		return amount;
	uint64_t own = own_weight(),
	         all = __atomic_load_n(&pool()->weights[(t->pool_number + 1) % 2],
	                               __ATOMIC_RELAXED);
	if (all <= own)
		return amount;
	return (int64_t)((uint64_t)amount / 1024 * (own * 1024 / all));
}

/* What may be taken, of what is left there: the controller may have changed the amount since. */
static int64_t
available(int64_t left, int64_t amount)
{
	const struct st_budget_pool *p = pool();
	int64_t put = __atomic_load_n(&p->put, __ATOMIC_RELAXED), more = amount - put;
	if (!p->grows)
		return left + more;
	uint64_t passed = process_time() - p->from, period = rt.results->budget.period_ns;
	int64_t grown =
	        passed < period ? amount / 1024 * (int64_t)(passed * 1024 / period) : amount;
	return left + grown - put;
}

int64_t
share_take(struct thread *t)
{
	struct st_budget_pool *p = pool();
	int64_t amount = amount_now(), most = quota(t, amount) - t->taken, piece = amount / PIECES;
	int64_t left = __atomic_load_n(&p->left, __ATOMIC_ACQUIRE), take;
	do {
		take = available(left, amount);
		if (take > piece)
			take = piece;
		if (take > most)
			take = most;
		if (take < LEAST)
			return 0;
	} while (!__atomic_compare_exchange_n(&p->left, &left, left - take, false, __ATOMIC_ACQ_REL,
	                                      __ATOMIC_ACQUIRE));
	t->taken += take;
	return take;
}

void
share_give(struct thread *t, int64_t left)
{
	struct st_budget_pool *p = pool();
	if (left < 0)
		__atomic_fetch_sub(&p->debts, left, __ATOMIC_ACQ_REL);
	else if (left && t->pool_number == __atomic_load_n(&p->number, __ATOMIC_ACQUIRE))
		__atomic_fetch_add(&p->left, left, __ATOMIC_ACQ_REL);
}
