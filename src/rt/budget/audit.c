/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/budget/audit.h"

#include "rt/budget/budget.h"
#include "rt/budget/credit.h"
#include "rt/tool/tool.h"

static int64_t
units_of(int64_t ns)
{
	return ns * (int64_t)(budget_plan()->ticks_per_second / 1000000) / 1000 * ST_BUDGET_UNITS;
}

/* Returns the CPU time, in ns, that the controller has used for rows of the process and that no
 * thread's budget has been charged with yet. */
static int64_t
drained(void)
{
	uint64_t charged = __atomic_load_n(&rt.results->control.drained_charged, __ATOMIC_RELAXED),
	         all = __atomic_load_n(&rt.results->control.drained_ns, __ATOMIC_RELAXED);
	if (all <= charged ||
	    !__atomic_compare_exchange_n(&rt.results->control.drained_charged, &charged, all, false,
	                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return 0;
	return (int64_t)(all - charged);
}

/* Code that is measured only once (--unique) has no charges that would say how much was executed. A
 * vfork's child has another clock. Of a system call under way, the part that has been executed is
 * unknown unless its CPU time was read before it. */
static bool
can_be_audited(const struct thread *t)
{
	const struct thread_audit *a = &t->budget.audit;
	return thread_is_measured(t) && !rt.budget.unique && !t->in_vfork &&
	       (!a->away_from || a->away_cpu);
}

static void
begin_stretch(struct thread *t, uint64_t cpu)
{
	struct thread_audit *a = &t->budget.audit;
	a->calls_before = a->calls;
	a->native_from = t->budget.spent && !t->in_vfork && runs_natively(t) ? cpu : 0;
	a->from = can_be_audited(t) ? cpu : 0;
	a->account_before = t->budget.account;
	a->timed = a->away = 0;
}

/* The thread has so much less than it thought it had: that is no overshoot. */
static void
charge_unseen(struct thread *t, int64_t more)
{
	int64_t over = t->budget.overshoot.from - credit_of(t);
	credit_take(t, more);
	settle_account(t);
	int64_t left = credit_of(t);
	t->budget.overshoot.from = left < 0 ? left + (over > 0 ? over : 0) : 0;
}

static void
correct_account(struct thread *t, uint64_t cpu)
{
	const struct thread_audit *a = &t->budget.audit;
	const struct audit_rate *rate = &rt.budget.rate;
	struct audit_work *work = &rt.budget.work;
	int64_t charged = t->budget.account - a->account_before,
	        used = units_of((int64_t)(cpu - a->from)) - a->away,
	        insns = audit_insns(charged - a->timed, rate);
	uint64_t calls = a->calls - a->calls_before;
	int64_t each = audit_is_alike(work, calls, (uint64_t)insns) ? audit_native(work) : 0,
	        more = audit_cost(used, charged, a->timed, rate, each) - charged;
	if (insns)
		audit_learn_seen(work, calls, (uint64_t)a->away, (uint64_t)insns);
	charge_unseen(t, more);
	__atomic_fetch_add(&budget()->corrected, more, __ATOMIC_RELAXED);
	__atomic_fetch_add(&budget()->audited_ns, cpu - a->from, __ATOMIC_RELAXED);
}

void
audit_stretch(struct thread *t, uint64_t cpu)
{
	struct thread_audit *a = &t->budget.audit;
	settle_account(t);
	if (a->away_cpu) {
		a->away += units_of((int64_t)(cpu - a->away_cpu));
		a->away_cpu = cpu;
	}
	if (a->from && can_be_audited(t))
		correct_account(t, cpu);
	if (a->native_from && runs_natively(t))
		audit_learn_native(&rt.budget.work,
		                   (uint64_t)units_of((int64_t)(cpu - a->native_from)),
		                   a->calls - a->calls_before);
	int64_t rows = units_of(drained());
	charge_unseen(t, rows);
	t->budget.elsewhere += rows;
	begin_stretch(t, cpu);
}

/* A thread that has slept in one of its last calls may do so again: its CPU time is then read
 * before and after each call. A call that begins in native execution is not timed; its begin is
 * NOT_TIMED. */
enum { CALLS_AFTER_SLEEP = 64, NOT_TIMED = 1 };

void
audit_restart(struct thread *t, bool in_call)
{
	struct thread_audit *a = &t->budget.audit;
	a->from = a->native_from = a->away_cpu = 0;
	a->away_from = in_call ? NOT_TIMED : 0;
}

void
audit_call_begin(struct thread *t)
{
	struct thread_audit *a = &t->budget.audit;
	a->away_from = a->from ? rt_tsc() : NOT_TIMED;
	a->away_cpu = a->sleeps && a->from ? cpu_time() : 0;
}

void
audit_call_end(struct thread *t)
{
	struct thread_audit *a = &t->budget.audit;
	uint64_t from = a->away_from, cpu = a->away_cpu;
	a->away_from = a->away_cpu = 0;
	if (from <= NOT_TIMED)
		return;
	uint64_t ticks = rt_tsc() - from;
	if (ticks > CREDIT_SUSPICIOUS)
		a->sleeps = CALLS_AFTER_SLEEP;
	else if (a->sleeps)
		a->sleeps--;
	if (cpu) {
		a->away += units_of((int64_t)(cpu_time() - cpu));
		return;
	}
	a->away += (int64_t)(ticks * ST_BUDGET_UNITS);
	if (ticks > CREDIT_SUSPICIOUS && a->from) { /* nothing is known of this stretch */
		settle_account(t);
		begin_stretch(t, cpu_time());
	}
}
