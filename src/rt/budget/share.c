/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/share.h"

#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/budget/bursts.h"
#include "rt/budget/credit.h"
#include "rt/budget/pool.h"

enum {
	CLOCK_PROCESS_CPU = 2,
	SHARES = 16,        /* of a budget: who waits for a CPU keeps little from the others */
	FIRST_SHARES = 256, /* of which the first share is one */
	NO_PERIOD = POOL_NUMBERS,
	SCHEDULED_BY_NICE = 1 << 0 | 1 << 3 | 1 << 5, /* SCHED_OTHER, _BATCH and _IDLE */
};

bool
share_is_of_tree(void)
{
	return rt.results->plan.budget.share == ST_SHARE_TREE;
}

static int64_t
shared_amount_now(void)
{
	const uint64_t *amount =
	        rt.boot->pool ? &rt.budget.pool->amount : &rt.results->control.budget_amount;
	return (int64_t)budget_granted(__atomic_load_n(amount, __ATOMIC_RELAXED));
}

static uint64_t
process_time(void)
{
	uint64_t now[2] = {0, 0};
	SYS(__NR_clock_gettime, CLOCK_PROCESS_CPU, now);
	return now[0] * 1000000000u + now[1];
}

/* CPU time since the first period began, without what was charged. There is no clock of a tree of
 * processes: it is what their threads have reported. That of a process never goes back, where a
 * correction of what was charged would. */
static uint64_t
time_passed(void)
{
	struct st_budget_pool *p = rt.budget.pool;
	uint64_t before = __atomic_load_n(&p->clock, __ATOMIC_RELAXED);
	if (periods_are_wall())
		return wall_time() - __atomic_load_n(&p->from, __ATOMIC_ACQUIRE);
	if (share_is_of_tree())
		return before;
	int64_t charged = (int64_t)__atomic_load_n(&budget()->charged, __ATOMIC_RELAXED);
	uint64_t ns = charged > 0 ? credit_ns(charged) : 0,
	         elsewhere = st_budget_elsewhere(&rt.results->control);
	uint64_t now = process_time() - __atomic_load_n(&p->from, __ATOMIC_ACQUIRE) -
	               (ns > elsewhere ? ns - elsewhere : 0);
	while ((int64_t)now > (int64_t)before)
		if (__atomic_compare_exchange_n(&p->clock, &before, now, false, __ATOMIC_RELAXED,
		                                __ATOMIC_RELAXED))
			return now;
	return before;
}

bool
share_exists(void)
{
	return rt.results->plan.budget.share != ST_SHARE_THREAD;
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

/* The first one of a process makes its pool; a tree's was there before, except for when it began.
 */
static void
make_pool(bool first)
{
	const struct st_budget_plan *b = budget_plan();
	uint64_t none = 0, from = periods_are_wall() ? wall_time() : process_time();
	uint32_t begins = !first ? ST_POOL_GROWS : b->first_ns ? ST_POOL_LATE : ST_POOL_FULL;
	if (begins == ST_POOL_LATE)
		from -= b->period_ns - b->first_ns; /* perhaps below 0: only differences count */
	if (__atomic_compare_exchange_n(&rt.budget.pool->from, &none, from ? from : 1, false,
	                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
	    !share_is_of_tree())
		rt.budget.pool->begins = begins;
}

void
share_begin(struct thread *t, bool first)
{
	t->budget.share.period = NO_PERIOD;
	t->budget.share.taken = 0;
	if (!share_is_of_tree() || periods_are_wall())
		make_pool(first);
}

static void
begin_period(void)
{
	uint64_t number = time_passed() / budget_plan()->period_ns % POOL_NUMBERS;
	uint32_t over = pool_renew(rt.budget.pool, (uint32_t)number, shared_amount_now());
	if (over)
		__atomic_fetch_add(&budget()->periods, over, __ATOMIC_RELAXED);
}

bool
share_tick(struct thread *t)
{
	begin_period();
	return t->budget.share.period != pool_number(rt.budget.pool);
}

void
share_adopt(struct thread *t)
{
	t->budget.share.period = pool_number(rt.budget.pool);
	t->budget.share.taken = 0;
	if (rt.results->plan.budget.share == ST_SHARE_PRIORITY)
		pool_weigh(rt.budget.pool, t->budget.share.period, own_weight());
}

/* The thread's share of a whole budget, by the number of threads in the last period. */
static int64_t
quota_of(const struct thread *t, int64_t amount)
{
	if (rt.results->plan.budget.share != ST_SHARE_PRIORITY)
		return amount;
	uint64_t own = own_weight(),
	         all = pool_weights_before(rt.budget.pool, t->budget.share.period);
	if (all <= own)
		return amount;
	return (int64_t)((uint64_t)amount / 1024 * (own * 1024 / all));
}

/* The amount that may have been taken by now in a period that began with all of it. */
static int64_t
shared_due(const struct thread *t, int64_t amount)
{
	const struct st_budget_plan *b = budget_plan();
	if (!b->bursts)
		return amount;
	uint64_t time = time_passed(), passed = time % b->period_ns;
	if (time / b->period_ns % POOL_NUMBERS != t->budget.share.period)
		passed = b->period_ns; /* it is over */
	uint32_t first = rt.budget.pool->begins == ST_POOL_LATE;
	return bursts_due(amount, b->bursts, b->period_ns, t->budget.share.period - first, passed);
}

/* The amount that may have been taken by now in the thread's period. */
static int64_t
shared_allowed(const struct thread *t, int64_t amount)
{
	uint32_t begins = t->budget.share.period ? ST_POOL_FULL : rt.budget.pool->begins;
	if (begins == ST_POOL_LATE)
		return 0;
	if (begins == ST_POOL_FULL)
		return shared_due(t, amount);
	uint64_t passed = time_passed(), period = rt.results->plan.budget.period_ns;
	return passed < period ? amount / 1024 * (int64_t)(passed * 1024 / period) : amount;
}

/* A thread takes as much as it has taken before: at any time most of them sleep. */
static int64_t
next_share(const struct thread *t, int64_t amount)
{
	int64_t share = amount / SHARES, least = amount / FIRST_SHARES;
	if (share > t->budget.share.taken)
		share = t->budget.share.taken > least ? t->budget.share.taken : least;
	return share > POOL_LEAST ? share : POOL_LEAST;
}

int64_t
share_take(struct thread *t)
{
	int64_t amount = shared_amount_now();
	if (share_is_of_tree() || periods_are_wall())
		begin_period(); /* many a process ends, and many a thread sleeps, before a tick */
	if (t->budget.share.period != pool_number(rt.budget.pool))
		share_adopt(t);
	int64_t most = quota_of(t, amount) - t->budget.share.taken, share = next_share(t, amount);
	int64_t taken = pool_take(rt.budget.pool, t->budget.share.period, shared_allowed(t, amount),
	                          share < most ? share : most);
	t->budget.share.taken += taken;
	return taken;
}

int64_t
share_retake(struct thread *t, int64_t released)
{
	if (periods_are_wall())
		begin_period(); /* it has slept */
	int64_t taken = pool_take(rt.budget.pool, t->budget.share.period,
	                          shared_allowed(t, shared_amount_now()), released);
	t->budget.share.taken += taken;
	return taken;
}

void
share_give(struct thread *t, int64_t left)
{
	if (left < 0) {
		pool_add_debt(rt.budget.pool, -left);
		return;
	}
	pool_give(rt.budget.pool, t->budget.share.period, left);
	t->budget.share.taken -= left < t->budget.share.taken ? left : t->budget.share.taken;
}

void
share_report_time(uint64_t ns)
{
	if (share_is_of_tree())
		__atomic_fetch_add(&rt.budget.pool->clock, ns, __ATOMIC_RELAXED);
}

bool
share_report_spent(void)
{
	struct st_budget_pool *p = rt.budget.pool;
	if (!share_exists() || periods_are_wall())
		return false;
	bool late = p->begins == ST_POOL_LATE, tree = share_is_of_tree();
	if (p->begins == ST_POOL_GROWS || pool_number(p) != late)
		return true;
	uint64_t none = 0, now = time_passed();
	if (late && !tree) /* of a tree the controller takes that off */
		now -= budget_plan()->period_ns - budget_plan()->first_ns;
	uint64_t *until = tree ? &p->until_ns : &budget()->until_ns;
	__atomic_compare_exchange_n(until, &none, now ? now : 1, false, __ATOMIC_RELAXED,
	                            __ATOMIC_RELAXED);
	return true;
}
