/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/budget.h"

#include <asm/unistd.h>

#include "rt/budget/bursts.h"
#include "rt/budget/credit.h"
#include "rt/budget/pool.h"
#include "rt/budget/region.h"
#include "rt/budget/share.h"
#include "rt/budget/suppress.h"
#include "rt/tool/tool.h"

enum {
	CROSSING = 40,                      /* ticks of saving and restoring registers */
	CLOCK_IS_OLD = 200000,              /* ticks: it is read again before work is timed */
	READING = 600,                      /* ticks: of the clock */
	LEAST_LEFT = 512 * ST_BUDGET_UNITS, /* not worth going on with */
	SPARE = 40000,                      /* ticks: most that is left unused */
};

/* The controller may change it while the program runs. */
static uint64_t
own_amount_now(void)
{
	return budget_granted(
	        __atomic_load_n(&rt.results->control.budget_amount, __ATOMIC_RELAXED));
}

static void
add_to_result(uint64_t *sum, uint64_t n)
{
	__atomic_fetch_add(sum, n, __ATOMIC_RELAXED);
}

/* Has the runtime taken more than its part? Then blocks must not go on with what others have. */
static bool
is_overdrawn(const struct thread *t)
{
	return t->budget.credits[0] < 0 || credit_of(t) < 0;
}

static void
share_overdraft(struct thread *t)
{
	if (is_overdrawn(t))
		spread_credit(t, credit_of(t), 0);
}

static uint64_t
ticks_of(uint64_t ns)
{
	return ns * (budget_plan()->ticks_per_second / 1000000) / 1000;
}

static void
see_clock(struct thread *t, uint64_t cpu)
{
	t->budget.clock.cpu = cpu;
	t->budget.clock.tsc = rt_tsc();
}

/* The thread has so much left from now on. */
static void
set_credit(struct thread *t, int64_t credit)
{
	if (credit >= 0)
		t->budget.overshoot.from = 0;
	settle_account(t);
	spread_credit(t, credit, 1);
	t->budget.granted = credit;
}

/* The thread may be measured from here on. It is when it next comes to the dispatcher, which may be
 * never where it executes plain code. */
static void
open_budget_window(struct thread *t)
{
	t->budget.breakpoints.on = false;
	t->budget.regained = t->budget.spent && budget_plan()->policy == ST_BUDGET_TRACE;
	t->budget.spent = t->budget.overshoot.reported = false;
	t->budget.windows++;
	if (t->budget.gap_from)
		t->budget.window_due = true;
	else
		add_to_result(&budget()->windows, 1);
}

/* A window that was granted has begun. */
static void
report_window(struct thread *t)
{
	add_to_result(&budget()->windows, t->budget.window_due);
	t->budget.window_due = false;
}

/* For what the controller has done. */
static void
charge_controller_debt(struct thread *t, int64_t debt)
{
	credit_take(t, debt);
	t->budget.elsewhere += debt;
	share_overdraft(t);
}

/* Setting breakpoints, here and in the controller, may cost more than the budget of one period.
 * Returns the part of that debt which a thread pays when its budget is granted, at most `most`, in
 * units of the account. */
static int64_t
debt_share(int64_t most)
{
	const uint64_t units =
	        budget_plan()->ticks_per_second / 1000000 * ST_BUDGET_UNITS; /* a us */
	uint64_t ns = __atomic_load_n(&rt.results->control.debt_ns, __ATOMIC_RELAXED), pays;
	if (most <= 0)
		return 0;
	do {
		uint64_t can = (uint64_t)most / units * 1000;
		pays = ns < can ? ns : can;
	} while (!__atomic_compare_exchange_n(&rt.results->control.debt_ns, &ns, ns - pays, false,
	                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (int64_t)(pays * units / 1000);
}

static void
grant_credit(struct thread *t, uint64_t amount)
{
	int64_t left = credit_of(t),
	        credit = (int64_t)amount + (left < 0 ? left : 0); /* its debt */
	t->budget.period_amount = (int64_t)amount;
	set_credit(t, credit);
	charge_controller_debt(t, debt_share(credit_of(t) / 2));
	if (credit > 0)
		open_budget_window(t);
}

/* Returns the rest to the pool; a negative rest is a debt of the pool. */
static void
give_back_credit(struct thread *t)
{
	int64_t left = credit_of(t);
	set_credit(t, 0);
	share_give(t, left);
}

/* Of a budget that is shared, another share, or as many as pay what has been spent already and
 * leave so much. False: there are none. */
static bool
take_shares(struct thread *t, int64_t least)
{
	int64_t left = credit_of(t), debt = 0, share;
	if (!share_exists())
		return false;
	while (left - debt < least && (share = share_take(t)) > 0) {
		left += share;
		debt += debt_share(share / 2);
	}
	set_credit(t, left);
	charge_controller_debt(t, debt);
	return left - debt >= least;
}

/* While a thread sleeps, its credit is available to the others. */
static void
release_credit(struct thread *t)
{
	int64_t left = credit_of(t);
	if (t->budget.spent || left < LEAST_LEFT)
		return;
	settle_account(t);
	memcpy(t->budget.share.parts_before, t->budget.credits, sizeof t->budget.credits);
	memset(t->budget.credits, 0, sizeof t->budget.credits);
	t->budget.granted = 0;
	t->budget.share.released = left;
	share_give(t, left);
}

/* Its parts are as they were, except for what the pool rounds: if they were dealt out again at each
 * call none would ever be used up, and the account not be compared with the clock. */
static void
reacquire_credit(struct thread *t)
{
	int64_t released = t->budget.share.released;
	if (!released)
		return;
	t->budget.share.released = 0;
	if (t->budget.spent)
		return;
	int64_t meanwhile = credit_of(t), got = share_retake(t, released);
	if (meanwhile || got <= released - POOL_STEP) {
		set_credit(t, meanwhile + got);
		return;
	}
	memcpy(t->budget.credits, t->budget.share.parts_before, sizeof t->budget.credits);
	credit_take(t, released - got);
	t->budget.granted = got;
	share_overdraft(t);
}

static bool
refill_to(struct thread *t, int64_t least)
{
	if (!take_shares(t, least))
		return false;
	if (t->budget.spent)
		open_budget_window(t);
	return true;
}

static bool
refill_credit(struct thread *t)
{
	return refill_to(t, LEAST_LEFT);
}

/* Of the amount of the thread's period, how much may have been granted by now. */
static uint64_t
own_due(const struct thread *t, uint64_t now)
{
	return (uint64_t)bursts_due((int64_t)own_amount_now(), budget_plan()->bursts,
	                            budget_plan()->period_ns, t->budget.period,
	                            now - t->budget.period_from);
}

/* Another burst may have begun, or the amount have changed within the period: more is granted, or
 * what is left is taken back, so that no period has more than the greatest of its amounts. */
static void
follow_amount(struct thread *t, uint64_t now)
{
	const uint64_t least =
	        budget_plan()->most / 64 / (budget_plan()->bursts ? budget_plan()->bursts : 1);
	int64_t by = (int64_t)own_due(t, now) - t->budget.period_amount, left = credit_of(t);
	if (by < 0 && by < -left)
		by = left > 0 ? -left : 0;
	if (by == 0 || (by > 0 && by < (int64_t)least))
		return;
	t->budget.period_amount += by;
	set_credit(t, left + by);
	if (by > 0 && t->budget.spent && left + by > 0)
		open_budget_window(t);
}

/* The clock of periods: the thread's CPU time without the charges. */
static uint64_t
period_clock(uint64_t net)
{
	return periods_are_wall() ? wall_time() : net;
}

static void
begin_account(struct thread *t, bool first)
{
	spread_credit(t, 0, 0);
	t->budget.gap_from = rt_tsc();
	t->budget.granted = t->budget.period_amount = t->budget.account = t->budget.elsewhere = 0;
	t->budget.cpu_reported = cpu_time();
	t->budget.net_reported = t->budget.net_seen = t->budget.cpu_reported;
	t->budget.period_from = t->budget.accrued_to = period_clock(t->budget.cpu_reported);
	see_clock(t, t->budget.cpu_reported);
	t->budget.works_since = 0;
	t->budget.measured_from = 0;
	audit_restart(t, budget_in_call(t)); /* that of a fork, for its child */
	t->budget.overshoot.from = 0;
	t->budget.overshoot.reported = t->budget.window_due = false;
	t->budget.share.released = 0;
	t->budget.period = 0;
	t->budget.accrues = !first;
	t->budget.spent = true;
	t->budget.regained = false;
	t->budget.breakpoints = (struct thread_breakpoints){
	        .rate = rt.results->control.log_has_code ? 0 : UINT32_MAX};
	if (share_exists()) {
		share_begin(t, first);
		refill_credit(t);
		return;
	}
	if (!first)
		return;
	if (!budget_plan()->first_ns) {
		grant_credit(t, own_due(t, t->budget.period_from));
		return;
	}
	/* The rest of a period that has nothing left; what comes then is number 0. With
	   ST_WATCHES_AT_ONCE it is over. */
	t->budget.period--;
	t->budget.period_from -= budget_plan()->period_ns - budget_plan()->first_ns;
	t->budget.period_amount = (int64_t)budget_plan()->most;
}

void
budget_begin(struct thread *t, bool first)
{
	suppress_clear(t);
	if (!budget_exists())
		return;
	begin_account(t, first);
	if (!thread_is_seen(t))
		return;
	t->budget.gap_from = 0;
	budget_measure_begin(t);
}

/* Adds up what the thread has used of its CPU time. A vfork's child has another clock than the
 * thread that it runs on. */
static void
report_time(struct thread *t, uint64_t cpu)
{
	if (t->in_vfork)
		return;
	uint64_t net = net_time(t, cpu);
	add_to_result(&budget()->cpu_ns, cpu - t->budget.cpu_reported);
	share_report_time(net - t->budget.net_reported);
	t->budget.cpu_reported = cpu;
	t->budget.net_reported = net;
	if (!t->budget.measured_from)
		return;
	add_to_result(&budget()->measured_ns, cpu - t->budget.measured_from);
	t->budget.measured_from = t->budget.gap_from ? 0 : cpu;
}

/* The first period of a thread that began with nothing, and half of one more: from then on it is
 * granted whole budgets at the beginning of periods, so that on average, whenever it ends, it has
 * had what is due to it and no more. */
static void
accrue_credit(struct thread *t, uint64_t now)
{
	const uint64_t end = t->budget.period_from + budget_plan()->period_ns;
	if (now > end)
		now = end;
	const uint64_t amount = own_amount_now(), least = amount / 64;
	uint64_t share =
	        amount / (budget_plan()->period_ns / 1000) * ((now - t->budget.accrued_to) / 1000);
	if (!t->budget.spent || t->budget.breakpoints.on || share < least)
		return;
	int64_t left = credit_of(t);
	t->budget.accrued_to = now;
	grant_credit(t, share + (left > 0 ? (uint64_t)left : 0));
}

/* The thread's own period is over. That in which it has begun is not whole. */
static void
report_period(const struct thread *t)
{
	if (t->budget.accrues || !t->budget.windows)
		return;
	int64_t used = t->budget.period_amount - credit_of(t),
	        all = t->budget.period_amount / 19 * 20;
	add_to_result(&budget()->own_periods, 1);
	add_to_result(&budget()->own_periods_used, used >= all / 10 * 9);
}

/* It is so late on the clock of periods. */
static void
follow_period(struct thread *t, uint64_t now)
{
	uint64_t whole = budget_plan()->period_ns, lag = t->budget.accrues ? whole / 2 : 0,
	         passed = now - t->budget.period_from;
	if (share_exists()) {
		if (share_tick(t)) {
			give_back_credit(t);
			share_adopt(t);
		}
		if (!t->budget.share.released && (t->budget.spent || credit_of(t) < LEAST_LEFT))
			refill_credit(t);
	} else if (passed >= whole + lag) {
		report_period(t);
		t->budget.period_from += passed - (passed - lag) % whole;
		t->budget.accrues = false;
		t->budget.period++;
		add_to_result(&budget()->periods, 1);
		grant_credit(t, own_due(t, now));
	} else if (t->budget.accrues) {
		accrue_credit(t, now);
	} else {
		follow_amount(t, now);
	}
}

static unsigned
overshoot_kind(uint64_t ns)
{
	static const uint64_t below[] = {
#define ST_OVERSHOOT(name, ns, text) ns,
	        ST_OVERSHOOTS(ST_OVERSHOOT)
#undef ST_OVERSHOOT
	};
	unsigned k = 0;
	while (k < ST_OVERSHOOT_KINDS - 1 && ns >= below[k])
		k++;
	return k;
}

/* The program's first window is over, if the thread is in it. What it has cost natively nobody
 * knows; the CPU time without what was charged is near. */
static void
report_first(const struct thread *t)
{
	if (t != rt.main || t->budget.windows != 1 || budget()->until_ns)
		return;
	uint64_t cpu = cpu_time(), charged = __atomic_load_n(&budget()->charged, __ATOMIC_RELAXED);
	uint64_t ns = credit_ns((int64_t)charged),
	         elsewhere = st_budget_elsewhere(&rt.results->control);
	ns = ns > elsewhere ? ns - elsewhere : 0;
	budget()->until_ns = cpu > ns ? cpu - ns : 1;
}

/* By how many ns the thread has exceeded its credit. */
static uint64_t
overshoot_of(const struct thread *t)
{
	int64_t left = credit_of(t) - t->budget.overshoot.from;
	return left < 0 ? credit_ns(-left) : 0;
}

/* A row for one more budget that was spent; NULL: there is no space. */
static struct st_overshoot_row *
new_overshoot_row(void)
{
	struct st_results_header *r = rt.results;
	uint64_t i = __atomic_fetch_add(&budget()->n_overshoot_rows, 1, __ATOMIC_RELAXED);
	if (i >= ST_MAX_OVERSHOOT_ROWS)
		return NULL;
	struct st_overshoot_row *row =
	        (struct st_overshoot_row *)((char *)r + r->layout.off_overshoots) + i;
	__atomic_store_n(&row->tsc, rt_tsc(), __ATOMIC_RELEASE);
	return row;
}

/* The window has exceeded what there was by that many ns. It may be reported again, when the
 * dispatch that ended it has cost more: then that counts, in its class as in the largest. */
static void
report_overshoot(struct thread *t, uint64_t ns)
{
	if (t->budget.overshoot.reported && ns <= t->budget.overshoot.ns)
		return;
	if (t->budget.overshoot.reported)
		add_to_result(&budget()->overshoots[overshoot_kind(t->budget.overshoot.ns)],
		              (uint64_t)-1);
	else
		t->budget.overshoot.row = new_overshoot_row();
	if (t->budget.overshoot.row)
		__atomic_store_n(&t->budget.overshoot.row->over_ns, ns, __ATOMIC_RELAXED);
	add_to_result(&budget()->overshoots[overshoot_kind(ns)], 1);
	t->budget.overshoot.reported = true;
	t->budget.overshoot.ns = ns;
	uint64_t most = __atomic_load_n(&budget()->most_overshoot, __ATOMIC_RELAXED);
	if (ns > most)
		__atomic_store_n(&budget()->most_overshoot, ns, __ATOMIC_RELAXED);
}

void
budget_measure_begin(struct thread *t)
{
	if (!budget_exists())
		return;
	rt_must(!t->budget.measured_from, "is measured already: thread", t->tid);
	uint64_t cpu = cpu_time();
	report_window(t);
	t->budget.measured_from = cpu;
	audit_stretch(t, cpu);
}

void
budget_measure_end(struct thread *t)
{
	if (!budget_exists())
		return;
	rt_must(t->budget.measured_from, "is not measured: thread", t->tid);
	t->budget.audit.from = 0;
	settle_account(t);
	report_time(t, cpu_time());
	t->budget.measured_from = 0;
}

void
budget_pause(struct thread *t)
{
	rt_must(!t->budget.spent, "has no window to pause: thread", t->tid);
	gap_begin(t);
	report_first(t);
	t->budget.spent = true;
}

void
budget_resume(struct thread *t)
{
	t->budget.spent = false;
	share_overdraft(t);
}

/* Moves the rest, or the debt, to where no block takes from it. */
static void
lay_aside(struct thread *t)
{
	int64_t left = credit_of(t);
	for (unsigned i = 1; i < ST_CREDITS; i++)
		t->budget.credits[i] = -1;
	t->budget.credits[0] = left + ST_CREDITS - 1;
}

/* The budget is spent. */
static void
spend_budget(struct thread *t)
{
	uint64_t over = overshoot_of(t);
	t->budget.overshoot.given = share_exists() ? over : 0;
	report_overshoot(t, over);
	report_window(t);
	gap_begin(t);
	if (!share_report_spent())
		report_first(t);
	if (share_exists())
		give_back_credit(t);
	lay_aside(t);
	suppress_clear(t);
	t->budget.spent = true;
	t->budget.breakpoints.on = false;
}

/* By the account the credit is used up. By the clock it may not be, or there is more. */
static void
used_up(struct thread *t)
{
	uint64_t cpu = cpu_time();
	see_clock(t, cpu);
	audit_stretch(t, cpu);
	int64_t left = credit_of(t);
	if (left >= LEAST_LEFT)
		spread_credit(t, left, 1);
	else if (!refill_credit(t))
		spend_budget(t);
}

/* Suppressed code does not look whether the budget is spent. */
static bool
suppressed_tick(struct thread *t, uint64_t cpu)
{
	bool suppressed = t->budget.suppressed.sp, ended = suppress_tick(t, cpu);
	if (suppressed && !t->budget.share.released && credit_of(t) < LEAST_LEFT &&
	    !refill_credit(t))
		spend_budget(t);
	return ended;
}

struct budget_tick
budget_tick(struct thread *t)
{
	uint32_t windows = t->budget.windows;
	add_to_result(&budget()->ticks[thread_is_measured(t) ? ST_TICK_MEASURED
	                               : runs_natively(t)    ? ST_TICK_NATIVE
	                                                     : ST_TICK_PLAIN],
	              1);
	uint64_t cpu = cpu_time();
	see_clock(t, cpu);
	report_time(t, cpu);
	audit_stretch(t, cpu);
	struct budget_tick tick = {.net = net_time(t, cpu)};
	tick.now = period_clock(tick.net);
	if (thread_is_seen(t))
		share_overdraft(t);
	follow_period(t, tick.now);
	tick.begins = t->budget.windows != windows;
	tick.ends_suppression = suppressed_tick(t, cpu);
	return tick;
}

/* This part is used up. */
static void
share_out(struct thread *t, unsigned part)
{
	int64_t left = credit_of(t);
	if (left >= LEAST_LEFT)
		spread_credit(t, left, part);
	else if (!t->budget.spent)
		used_up(t);
}

/* Periods are by the clock, and the thread may have slept through the end of one. */
static void
catch_up(struct thread *t)
{
	enum { TIMES = 64 }; /* in a period, at the most */
	if (!periods_are_wall() || !t->budget.spent || t->budget.breakpoints.on || t->in_vfork)
		return;
	uint64_t now = wall_time();
	if (now - t->budget.woken < budget_plan()->period_ns / TIMES)
		return;
	t->budget.woken = now;
	follow_period(t, now);
}

void
budget_renew(struct thread *t)
{
	unsigned least = 0;
	t->budget.regained = false;
	for (unsigned i = 1; i < ST_CREDITS; i++)
		if (t->budget.credits[i] < t->budget.credits[least])
			least = i;
	share_out(t, least);
}

void
budget_end(struct thread *t)
{
	if (!budget_exists())
		return;
	uint64_t cpu = cpu_time();
	bool in_call = budget_in_call(t);
	audit_call_end(t);
	audit_stretch(t, cpu);
	if (share_exists())
		give_back_credit(t);
	report_time(t, cpu);
	audit_restart(t, in_call); /* an execve may fail */
}

void
budget_end_all(struct thread *t)
{
	budget_end(t);
	rt_lock(&rt.thread_lock);
	for (struct thread *o = rt.threads; o && budget_exists(); o = o->next_thread)
		if (!o->ended)
			settle_account(o);
	rt_unlock(&rt.thread_lock);
}

void
budget_call_begin(struct thread *t, bool sleeps)
{
	if (!budget_exists())
		return;
	rt_must(!budget_in_call(t), "is in a system call already: thread", t->tid);
	if (sleeps && share_exists())
		release_credit(t);
	t->budget.call_sleeps = sleeps;
	audit_call_begin(t);
}

void
budget_call_end(struct thread *t)
{
	if (!budget_exists())
		return;
	rt_must(budget_in_call(t), "is in no system call: thread", t->tid);
	audit_call_end(t);
	reacquire_credit(t);
	if (t->budget.call_sleeps)
		catch_up(t);
}

struct thread_clock
budget_vfork_begin(struct thread *t)
{
	struct thread_clock own = t->budget.clock;
	if (budget_exists())
		report_time(t, cpu_time());
	t->in_vfork = true;
	t->budget.clock = (struct thread_clock){0};
	audit_restart(t, false);
	return own;
}

void
budget_vfork_end(struct thread *t, struct thread_clock own)
{
	t->in_vfork = false;
	t->budget.clock = own;
	if (!budget_exists())
		return;
	/* The child may have been killed anywhere. */
	t->budget.works = false;
	t->budget.works_since = 0;
	t->budget.measured_from = t->budget.gap_from ? 0 : t->budget.cpu_reported;
	audit_restart(t, true);
}

void
budget_work_begin(struct thread *t)
{
	if (!budget_exists())
		return;
	rt_must(!t->budget.works, "works already: thread", t->tid);
	t->budget.works = true;
	t->budget.works_since = 0;
	if (!thread_is_seen(t))
		return;
	uint64_t now = rt_tsc();
	bool reads = now - t->budget.clock.tsc > CLOCK_IS_OLD;
	if (reads)
		see_clock(t, cpu_time());
	/* A thread often loses its CPU at the end of a call: that is over. */
	t->budget.works_since = reads ? t->budget.clock.tsc - READING : now;
}

/* Waiting, for a CPU or asleep, is not charged: what the clocks differ by since they were last
 * read, which was not long before. */
static uint64_t
without_waiting(struct thread *t, uint64_t ticks)
{
	uint64_t cpu = cpu_time(), used = ticks_of(cpu - t->budget.clock.cpu),
	         from = t->budget.clock.tsc;
	see_clock(t, cpu);
	uint64_t passed = t->budget.clock.tsc - from, waited = passed > used ? passed - used : 0;
	return ticks > waited ? ticks - waited : 0;
}

/* The work that the thread pays for, up to now. */
static void
charge_time(struct thread *t, uint64_t since)
{
	uint64_t ticks = rt_tsc() - since;
	if (ticks > CREDIT_SUSPICIOUS)
		ticks = without_waiting(t, ticks);
	credit_take(t, (int64_t)(ticks * ST_BUDGET_UNITS));
	t->budget.audit.timed += (int64_t)(ticks * ST_BUDGET_UNITS);
}

void
budget_work_end(struct thread *t)
{
	if (!budget_exists())
		return;
	rt_must(t->budget.works, "does not work: thread", t->tid);
	t->budget.works = false;
	if (!t->budget.works_since)
		return;
	charge_time(t, t->budget.works_since - CROSSING);
	t->budget.works_since = 0;
	uint64_t over = t->budget.spent ? overshoot_of(t) : 0;
	if (over)
		report_overshoot(
		        t, over + t->budget.overshoot.given); /* it was plain code that was made */
	else if (!t->budget.spent && is_overdrawn(t))
		share_out(t, 0);
}

bool
budget_is_short(const struct thread *t, uint64_t ticks)
{
	if (!t || !t->budget.works_since) /* none: the engine is about to begin */
		return false;
	/* The others check where the literature has them check, and come back too seldom for a
	   window to end early. */
	if (budget_plan()->policy != ST_BUDGET_NATIVE)
		return false;
	uint64_t all = ticks + rt_tsc() - t->budget.works_since;
	return t->budget.spent || credit_of(t) < (int64_t)(all * ST_BUDGET_UNITS);
}

uint64_t
budget_at_most(uint64_t ticks)
{
	uint64_t eighth = own_amount_now() / ST_BUDGET_UNITS / 8,
	         most = eighth < SPARE ? eighth : SPARE;
	return ticks < most ? ticks : most;
}

void
budget_learn(uint64_t *mean, uint64_t ticks)
{
	enum { MEAN_OF = 16, MOST_TIMES = 4 };
	uint64_t most = MOST_TIMES * *mean, seen = ticks < most ? ticks : most;
	*mean += seen / MEAN_OF;
	*mean -= *mean / MEAN_OF;
}

void
budget_stop(struct thread *t)
{
	if (t->budget.spent)
		return;
	charge_time(t, t->budget.works_since);
	t->budget.works_since = rt_tsc();
	int64_t least = (int64_t)budget_at_most(SPARE) * ST_BUDGET_UNITS;
	if (credit_of(t) < least && !refill_to(t, least))
		spend_budget(t);
}
