/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/tool/audit.h"

#include "rt/os/os.h"
#include "rt/tool/budget.h"
#include "rt/tool/credit.h"
#include "rt/tool/tool.h"

static int64_t
units_of(uint64_t ns)
{
	return (int64_t)(ns * (budget()->ticks_per_second / 1000000) / 1000 * ST_BUDGET_UNITS);
}

/* What the controller has done since for rows of the process, in ns of its CPU time. */
static uint64_t
drained(void)
{
	uint64_t all = __atomic_load_n(&budget()->drained_ns, __ATOMIC_RELAXED);
	return all - __atomic_exchange_n(&budget()->drained_told, all, __ATOMIC_RELAXED);
}

/* What is measured but once has no charges that would tell how much was executed; a vfork's child
 * has another clock; of a system call under way nobody knows how much of it has been. */
static bool
can_begin(const struct thread *t)
{
	return thread_is_seen(t) && !rt.unique && !t->in_vfork && !t->away_from;
}

static void
begin(struct thread *t, uint64_t cpu)
{
	t->audit_from = can_begin(t) ? cpu : 0;
	t->account_before = t->account;
	t->timed = t->away = 0;
}

/* The credit is so much less than it was thought to be: no overshoot. */
static void
tell_correction(struct thread *t, int64_t less)
{
	int64_t left = credit_of(t), over = t->over_from - (left + less);
	t->over_from = left < 0 ? left + (over > 0 ? over : 0) : 0;
}

static void
correct(struct thread *t, uint64_t cpu)
{
	int64_t charged = t->account - t->account_before,
	        used = units_of(cpu - t->audit_from + drained()) - t->away,
	        more = audit_cost(used, charged, t->timed, &rt.audit) - charged;
	t->credits[0] -= more;
	tell_correction(t, more);
	__atomic_fetch_add(&budget()->corrected, more, __ATOMIC_RELAXED);
}

void
audit_stretch(struct thread *t, uint64_t cpu)
{
	settle(t);
	if (t->audit_from && !t->away_from) {
		correct(t, cpu);
		settle(t);
	}
	begin(t, cpu);
}

void
budget_away(struct thread *t)
{
	t->away_from = budget_exists() && t->audit_from ? rt_tsc() : 0;
}

void
budget_back(struct thread *t)
{
	if (!t->away_from)
		return;
	uint64_t ticks = rt_tsc() - t->away_from;
	t->away_from = 0;
	if (ticks > CREDIT_SUSPICIOUS) /* nothing is known of this stretch */
		t->audit_from = 0;
	else
		t->away += (int64_t)(ticks * ST_BUDGET_UNITS);
}
