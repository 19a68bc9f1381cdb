/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/audit.h"

#include "rt/budget/budget.h"
#include "rt/budget/credit.h"
#include "rt/os/os.h"
#include "rt/tool/tool.h"

static int64_t
units_of(int64_t ns)
{
	return ns * (int64_t)(budget_plan()->ticks_per_second / 1000000) / 1000 * ST_BUDGET_UNITS;
}

/* What the controller has done for rows of the process that nobody has paid yet, in ns of its CPU
 * time. */
static int64_t
drained(void)
{
	uint64_t told = __atomic_load_n(&rt.results->control.drained_charged, __ATOMIC_RELAXED),
	         all = __atomic_load_n(&rt.results->control.drained_ns, __ATOMIC_RELAXED);
	if (all <= told ||
	    !__atomic_compare_exchange_n(&rt.results->control.drained_charged, &told, all, false,
	                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return 0;
	return (int64_t)(all - told);
}

/* What is measured but once has no charges that would tell how much was executed; a vfork's child
 * has another clock; of a system call under way nobody knows how much of it has been, if its CPU
 * time was not asked for. */
static bool
can_be_audited(const struct thread *t)
{
	return thread_is_measured(t) && !rt.budget.unique && !t->in_vfork &&
	       (!t->budget.audit.away_from || t->budget.audit.away_cpu);
}

static void
begin(struct thread *t, uint64_t cpu)
{
	t->budget.audit.calls_before = t->budget.audit.calls;
	t->budget.audit.native_from = t->budget.spent && !t->in_vfork && runs_natively(t) ? cpu : 0;
	t->budget.audit.from = can_be_audited(t) ? cpu : 0;
	t->budget.audit.account_before = t->budget.account;
	t->budget.audit.timed = t->budget.audit.away = 0;
}

/* The thread has so much less than it thought it had: that is no overshoot. */
static void
charge(struct thread *t, int64_t more)
{
	int64_t over = t->budget.overshoot.from - credit_of(t);
	t->budget.credits[0] -= more;
	settle(t);
	int64_t left = credit_of(t);
	t->budget.overshoot.from = left < 0 ? left + (over > 0 ? over : 0) : 0;
}

static void
correct(struct thread *t, uint64_t cpu)
{
	int64_t charged = t->budget.account - t->budget.audit.account_before,
	        used = units_of((int64_t)(cpu - t->budget.audit.from)) - t->budget.audit.away,
	        insns = audit_insns(charged - t->budget.audit.timed, &rt.budget.rate);
	uint64_t calls = t->budget.audit.calls - t->budget.audit.calls_before;
	int64_t each = audit_is_alike(&rt.budget.work, calls, (uint64_t)insns)
	                       ? audit_native(&rt.budget.work)
	                       : 0,
	        more = audit_cost(used, charged, t->budget.audit.timed, &rt.budget.rate, each) -
	               charged;
	if (insns)
		audit_learn_seen(&rt.budget.work, calls, (uint64_t)t->budget.audit.away,
		                 (uint64_t)insns);
	charge(t, more);
	__atomic_fetch_add(&budget()->corrected, more, __ATOMIC_RELAXED);
	__atomic_fetch_add(&budget()->audited_ns, cpu - t->budget.audit.from, __ATOMIC_RELAXED);
}

void
audit_stretch(struct thread *t, uint64_t cpu)
{
	settle(t);
	if (t->budget.audit.away_cpu) {
		t->budget.audit.away += units_of((int64_t)(cpu - t->budget.audit.away_cpu));
		t->budget.audit.away_cpu = cpu;
	}
	if (t->budget.audit.from && can_be_audited(t))
		correct(t, cpu);
	if (t->budget.audit.native_from && runs_natively(t))
		audit_learn_native(&rt.budget.work,
		                   (uint64_t)units_of((int64_t)(cpu - t->budget.audit.native_from)),
		                   t->budget.audit.calls - t->budget.audit.calls_before);
	int64_t rows = units_of(drained());
	charge(t, rows);
	t->budget.elsewhere += rows;
	begin(t, cpu);
}

/* Who sleeps in a call lately may do so again: then its CPU time is asked for, twice a call. A call
 * from outside is not timed: it is under way since a time that is none. */
enum { CALLS_AFTER_SLEEP = 64, NOBODY_ASKS = 1 };

void
budget_away(struct thread *t)
{
	t->budget.audit.away_from = !budget_exists()       ? 0
	                            : t->budget.audit.from ? rt_tsc()
	                                                   : NOBODY_ASKS;
	t->budget.audit.away_cpu =
	        t->budget.audit.away_from && t->budget.audit.sleeps && t->budget.audit.from
	                ? cpu_time()
	                : 0;
}

void
budget_back(struct thread *t)
{
	if (t->budget.audit.away_from <= NOBODY_ASKS) {
		t->budget.audit.away_from = 0;
		return;
	}
	uint64_t ticks = rt_tsc() - t->budget.audit.away_from, cpu = t->budget.audit.away_cpu;
	t->budget.audit.away_from = t->budget.audit.away_cpu = 0;
	if (ticks > CREDIT_SUSPICIOUS)
		t->budget.audit.sleeps = CALLS_AFTER_SLEEP;
	else if (t->budget.audit.sleeps)
		t->budget.audit.sleeps--;
	if (cpu) {
		t->budget.audit.away += units_of((int64_t)(cpu_time() - cpu));
		return;
	}
	t->budget.audit.away += (int64_t)(ticks * ST_BUDGET_UNITS);
	if (ticks > CREDIT_SUSPICIOUS &&
	    t->budget.audit.from) { /* nothing is known of this stretch */
		settle(t);
		begin(t, cpu_time());
	}
}
