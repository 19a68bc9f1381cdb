/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/native/native_run.h"

#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/native/breakpoint_sampling.h"
#include "rt/native/breakpoints.h"
#include "rt/native/syspatch.h"
#include "rt/world.h"

enum {
	DISPATCH = 59, /* PR_SET_SYSCALL_USER_DISPATCH */
	DISPATCH_OFF = 0,
	DISPATCH_ON = 1,
	CODE_DISPATCH = 2, /* SYS_USER_DISPATCH */
	FLAG_TF = 0x100,
	/* Of a tick, where there is no system-call patch: with more it costs more than the plain
	   code in the cache. */
	MOST_CALLS = 16,
};

void
native_run_begin(struct thread *t)
{
	t->native.user_dispatch = false;
	t->native.calls = 0;
	t->native.calls_often = false;
}

void
native_run_end(struct thread *t)
{
	/* Whatever is noted: a vfork's child may have used this structure. */
	if (budget_exists())
		SYS(__NR_prctl, DISPATCH, DISPATCH_OFF, 0, 0, 0);
	t->native.user_dispatch = false;
}

/* From now on the kernel reports every system call that is not the runtime's own. */
static bool
intercept_syscalls(struct thread *t)
{
	if (t->native.user_dispatch)
		return true;
	uint64_t own = rt.target.area + ST_AREA_RUNTIME, bytes = ST_AREA_MAIN - ST_AREA_RUNTIME;
	t->native.user_dispatch = SYS(__NR_prctl, DISPATCH, DISPATCH_ON, own, bytes, 0) == 0;
	/* An old kernel, or a sandbox. */
	rt.native.impossible = !t->native.user_dispatch;
	rt.results->budget.no_native = rt.native.impossible;
	return t->native.user_dispatch;
}

static bool
may_ever_go(const struct thread *t)
{
	/* The borders of a region are seen in the cache only. */
	const uint32_t borders = ST_REGION_BY_FUNCTION | ST_REGION_BY_PROGRAM;
	return rt.results->plan.budget.policy == ST_BUDGET_NATIVE && !rt.native.impossible &&
	       !(rt.results->plan.region_by & borders) && !t->own_process && !t->kernel.filters &&
	       !rt.native.leaving;
}

bool
native_run_may(const struct thread *t)
{
	/* Single steps are seen in the cache only, too. */
	return !t->native.calls_often && !(t->regs.rflags & FLAG_TF) && may_ever_go(t);
}

static bool
may_go(const struct thread *t)
{
	return t->budget.spent && native_run_may(t);
}

static void
set_out(struct thread *t)
{
	t->next = (uint64_t)rt_go_native_run;
	t->exit_id = syspatch_resume_address(t->regs.pc);
}

bool
native_run_go(struct thread *t)
{
	rt_must_hold(&rt.lock);
	bp_sampling_pass(t);
	if (!may_go(t) || breakpoints_stay(t->regs.pc) || !intercept_syscalls(t))
		return false;
	bp_sampling_go(t);
	set_out(t);
	return true;
}

bool
native_run_return(struct thread *t)
{
	if (bp_sampling_waits(t) || breakpoints_any_stay() || !may_go(t) || !intercept_syscalls(t))
		return false;
	set_out(t);
	return true;
}

bool
native_run_called(const struct thread *t, int signo, const struct siginfo *info)
{
	return signo == SIGNAL_SYS && info->code == CODE_DISPATCH &&
	       __atomic_load_n(&t->state, __ATOMIC_RELAXED) == THREAD_NATIVE_RUN;
}

void
native_run_avoid(struct thread *t)
{
	t->native.calls_often = true;
}

void
native_run_note_call(struct thread *t, bool trapped)
{
	if (!budget_exists() || (syspatch_serves(t->regs.pc) && !trapped))
		return;
	bool few = may_ever_go(t) && syspatch_note(t, t->budget.spent);
	if (!few && ++t->native.calls > MOST_CALLS)
		t->native.calls_often = true;
}

bool
native_run_tick(struct thread *t)
{
	t->native.calls_often = t->native.calls > MOST_CALLS;
	t->native.calls = 0;
	return may_go(t) && __atomic_load_n(&t->state, __ATOMIC_RELAXED) == THREAD_CACHE;
}
