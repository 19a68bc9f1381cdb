/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signal frames on the program's stack, and death by signal. */
#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/budget/suppress.h"
#include "rt/budget/unique.h"
#include "rt/jit/jit.h"
#include "rt/native/breakpoints.h"
#include "rt/os/held.h"
#include "rt/os/sigdeliver.h"
#include "rt/os/waiting.h"
#include "rt/tool/callbacks.h"

enum {
	SA_NODEFER = 0x40000000,
	SA_ONSTACK = 0x08000000,
	SS_ONSTACK = 1,
	SS_DISABLE = 2,
	RED_ZONE = 128,
	CODE_KERNEL = 128,
	FLAG_TF = 0x100,
	FLAG_DF = 0x400,
	FLAG_RF = 0x10000,
};
#define SA_RESETHAND 0x80000000u
#define SS_AUTODISARM (1u << 31)

static bool
on_altstack(const struct thread *t, uint64_t sp)
{
	return !(t->signals.altstack.flags & SS_DISABLE) &&
	       !((uint32_t)t->signals.altstack.flags & SS_AUTODISARM) &&
	       sp - 1 - t->signals.altstack.sp < t->signals.altstack.size &&
	       sp > t->signals.altstack.sp;
}

/* The kernel's rule (arch/x86 get_sigframe): below the red zone or on the alternate stack, state
 * aligned to 64. 0: the alternate stack has no space for it. */
static uint64_t
frame_place(const struct thread *t, const struct ksigaction *action, uint32_t state_size,
            uint64_t *state)
{
	uint64_t sp = t->regs.r[RSP] - RED_ZONE;
	bool on = on_altstack(t, t->regs.r[RSP]);
	if ((action->flags & SA_ONSTACK) && !(t->signals.altstack.flags & SS_DISABLE) && !on) {
		sp = t->signals.altstack.sp + t->signals.altstack.size;
		on = true;
	}
	if (state_size)
		sp = (sp - state_size) & ~63ull;
	*state = state_size ? sp : 0;
	sp -= sizeof(struct sigframe);
	sp = (sp & ~15ull) - 8;
	return on && (sp <= t->signals.altstack.sp ||
	              sp - t->signals.altstack.sp > t->signals.altstack.size)
	               ? 0
	               : sp;
}

/* A handler starts with the floating-point state a new program has. */
static void
reset_fpstate(void *fpstate)
{
	if (!fpstate)
		return;
	uint8_t *p = fpstate;
	uint32_t magic;
	memcpy(&magic, p + 464, 4);
	if (magic == 0x46505853u) {
		memset(p + 512, 0, 8); /* xstate_bv: everything in its initial state */
	}
	uint16_t fcw = 0x37f;
	uint32_t mxcsr = 0x1f80;
	memset(p, 0, 24);
	memcpy(p, &fcw, 2);
	memcpy(p + 24, &mxcsr, 4);
	memset(p + 32, 0, 384);
}

static void
set_blocked(struct thread *t, uint64_t mask, struct ucontext64 *uc)
{
	mask &= ~(SIGNAL_BIT(SIGNAL_KILL) | SIGNAL_BIT(SIGNAL_STOP));
	t->signals.blocked = mask & NEVER_BLOCKED;
	uc->sigmask = mask & ~NEVER_BLOCKED;
}

/* False, and nothing has been done: there is no memory for its frame. */
static bool
start_handler(struct thread *t, int signo, const struct siginfo *info, struct ucontext64 *uc,
              const struct ksigaction *action)
{
	uint64_t state;
	uint32_t state_size = uc->mc.fpstate ? fpstate_size((void *)uc->mc.fpstate) : 0;
	uint64_t place = frame_place(t, action, state_size, &state);
	struct sigframe frame = {.uc = *uc, .restorer = action->restorer, .info = *info},
	                *f = &frame;
	uint64_t old_mask = (uc->sigmask & ~NEVER_BLOCKED) | t->signals.blocked;

	if (pages_any()) {
		rt_lock(&rt.lock);
		pages_open(place, state ? state + state_size : place + sizeof *f);
		rt_unlock(&rt.lock);
	}
	f->uc.link = 0;
	f->uc.stack = t->signals.altstack;
	if (f->uc.stack.flags == SS_DISABLE && !f->uc.stack.sp)
		f->uc.stack.size = 0;
	regs_to_context(&t->regs, &f->uc.mc);
	f->uc.mc.fpstate = state;
	f->uc.sigmask = old_mask;
	if (!place || rt_copy_guarded((void *)place, f, sizeof *f) ||
	    (state && rt_copy_guarded((void *)state, (void *)uc->mc.fpstate, state_size)))
		return false;
	suppress_end(t); /* nobody has called the handler */
	unique_leave(t);
	jit_suspend_resume(t);
	frame_keep_resume(&((struct sigframe *)place)->uc.mc, &t->resume);
	t->resume.state = RESUME_NONE;
	if ((uint32_t)t->signals.altstack.flags & SS_AUTODISARM)
		t->signals.altstack = (struct kstack){.flags = SS_DISABLE};

	uint64_t mask = old_mask | action->mask;
	if (!(action->flags & SA_NODEFER))
		mask |= SIGNAL_BIT(signo);
	set_blocked(t, mask, uc);
	t->regs.r[RDI] = (uint64_t)signo;
	t->regs.r[RSI] = place + offsetof(struct sigframe, info);
	t->regs.r[RDX] = place + offsetof(struct sigframe, uc);
	t->regs.r[RAX] = 0;
	t->regs.r[RSP] = place;
	t->regs.rflags &= ~(uint64_t)(FLAG_DF | FLAG_RF | FLAG_TF);
	t->regs.pc = action->handler;
	reset_fpstate((void *)uc->mc.fpstate);
	resume_program(t, uc);
	rt_stat(ST_STAT_signals, 1);
	callback_signal(t, signo);
	return true;
}

/* Death by signal, natively at the program's own pc, so that a core dump shows the program and not
 * the engine. */
static void
die(struct thread *t, int signo, struct siginfo *info, struct ucontext64 *uc, enum signal_kind kind)
{
	struct ksigaction action = {.restorer = (uint64_t)rt_restorer, .flags = 0x04000000};
	unique_leave(t);
	jit_suspend_resume(t);
	if (!t->own_process && signals_dump_core(signo))
		os_show_threads(t);
	if (!t->own_process)
		waiting_end_all(t); /* reads stacks: a fault needs the engine's handler */
	SYS(__NR_rt_sigaction, signo, &action, 0, 8);
	if (!t->own_process) {
		callback_end(t);
		budget_end_all(t);
		rt.results->run.fatal_signal = (uint32_t)signo;
		rt.results->run.state = ST_RUN_KILLED;
		rt.results->run.tsc_end = rt_tsc();
	}
	regs_to_context(&t->regs, &uc->mc);
	uc->sigmask &= ~SIGNAL_BIT(signo);
	t->state = THREAD_NATIVE;
	if (kind != SIGNAL_RAISED || signo == SIGNAL_TRAP)
		SYS(__NR_rt_tgsigqueueinfo, SYS(__NR_getpid), SYS(__NR_gettid), signo, info);
	/* A fault comes again when the instruction is executed natively. */
	rt_lock(&rt.lock);
	breakpoints_take(t->regs.pc);
	rt_unlock(&rt.lock);
}

/* There is no stack for a handler's frame: the kernel forces SIGSEGV then, whose own frame has no
 * second try. */
static void
die_of_frame(struct thread *t, int signo, struct ucontext64 *uc)
{
	struct siginfo info = {.signo = SIGNAL_SEGV, .code = CODE_KERNEL};
	bool blocked = signo == SIGNAL_SEGV || (t->signals.blocked & SIGNAL_BIT(SIGNAL_SEGV));
	deliver(t, SIGNAL_SEGV, &info, uc, SIGNAL_FORCED, blocked);
}

void
deliver(struct thread *t, int signo, struct siginfo *info, struct ucontext64 *uc,
        enum signal_kind kind, bool blocked)
{
	struct sigtab *tab = t->signals.table;
	bool sent = kind == SIGNAL_SENT;
	if (blocked && sent) {
		info->signo = signo;
		held_add(t, info);
		resume_program(t, uc);
		return;
	}
	rt_lock(&tab->lock);
	struct ksigaction action = tab->action[signo];
	bool handled = action.handler > 1 && !blocked;
	if (handled && (action.flags & SA_RESETHAND)) {
		tab->action[signo].handler = 0;
		tab->action[signo].flags &= ~(uint64_t)SA_RESETHAND;
		signals_tell_kernel(signo, &tab->action[signo]);
	}
	rt_unlock(&tab->lock);
	if (handled) {
		if (!start_handler(t, signo, info, uc, &action))
			die_of_frame(t, signo, uc);
	} else if (action.handler == 1 && sent) {
		resume_program(t, uc);
	} else {
		die(t, signo, info, uc, kind);
	}
}
