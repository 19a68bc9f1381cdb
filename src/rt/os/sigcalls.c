/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system calls about signals: the program's view is kept here, the kernel is told what the
 * engine needs. */
#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/frame.h"
#include "rt/jit/jit.h"
#include "rt/native/native_run.h"
#include "rt/os/held.h"
#include "rt/os/os.h"

enum {
	E_FAULT = 14,
	E_INVAL = 22,
	E_NOMEM = 12,
	E_PERM = 1,
	SA_SIGINFO = 4,
	SA_NOCLDSTOP = 1,
	SA_NOCLDWAIT = 2,
	SA_RESTART = 0x10000000,
	SA_ONSTACK = 0x08000000,
	SA_RESTORER = 0x04000000,
	SS_ONSTACK = 1,
	SS_DISABLE = 2,
	MIN_STACK = 2048,
	SIG_BLOCK = 0,
	SIG_UNBLOCK = 1,
	SIG_SETMASK = 2,
	SIG_STACK_BYTES = 65536,
	FLAGS_OF_FRAME = 0x40dd5, /* arithmetic, TF, DF, AC */
};
#define SS_AUTODISARM (1u << 31)

/* Signals that end a program by default. The master handler sees to it that the tools' last words
 * are heard, and that a core dump shows the program. */
#define IGNORED_SIGNALS                                                                            \
	(SIGNAL_BIT(17 /* CHLD */) | SIGNAL_BIT(18 /* CONT */) | SIGNAL_BIT(19 /* STOP */) |       \
	 SIGNAL_BIT(20 /* TSTP */) | SIGNAL_BIT(21 /* TTIN */) | SIGNAL_BIT(22 /* TTOU */) |       \
	 SIGNAL_BIT(23 /* URG */) | SIGNAL_BIT(28 /* WINCH */) | SIGNAL_BIT(SIGNAL_KILL))
#define CORE_SIGNALS                                                                               \
	(SIGNAL_BIT(3) | SIGNAL_BIT(SIGNAL_ILL) | SIGNAL_BIT(SIGNAL_TRAP) |                        \
	 SIGNAL_BIT(SIGNAL_ABRT) | SIGNAL_BIT(SIGNAL_BUS) | SIGNAL_BIT(SIGNAL_FPE) |               \
	 SIGNAL_BIT(SIGNAL_SEGV) | SIGNAL_BIT(24) | SIGNAL_BIT(25) | SIGNAL_BIT(31))
#define FATAL_SIGNALS (~(uint64_t)IGNORED_SIGNALS)

bool
signals_dump_core(int signo)
{
	return CORE_SIGNALS & SIGNAL_BIT(signo);
}

static bool
needs_master(int signo, const struct ksigaction *a)
{
	if (a->handler > 1 || signo == SIGNAL_SEGV || signo == SIGNAL_BUS || signo == SIGNAL_OWN ||
	    signo == SIGNAL_TRAP || (signo == SIGNAL_SYS && budget_exists()))
		return true;
	/* The kernel ignores those that nobody handles for the first process of a namespace. */
	return a->handler == 0 && (FATAL_SIGNALS & SIGNAL_BIT(signo)) &&
	       (rt.pid != 1 || (CORE_SIGNALS & SIGNAL_BIT(signo)));
}

long
signals_tell_kernel(int signo, const struct ksigaction *a)
{
	struct ksigaction k = *a;
	if (needs_master(signo, a)) {
		uint64_t kept = a->flags & (uint64_t)(SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT);
		k = (struct ksigaction){
		        .handler = (uint64_t)rt_signal_entry,
		        .flags = kept | SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
		        .restorer = (uint64_t)rt_restorer,
		        .mask = ~(SIGNAL_BIT(SIGNAL_SEGV) | SIGNAL_BIT(SIGNAL_BUS))};
	}
	return SYS(__NR_rt_sigaction, signo, &k, 0, 8);
}

void
signals_init(void)
{
	for (int s = 1; s <= N_SIGNALS; s++) {
		struct ksigaction *a = &rt.sigtab.action[s];
		if (s == SIGNAL_KILL || s == SIGNAL_STOP)
			continue;
		SYS(__NR_rt_sigaction, s, 0, a, 8);
		if (needs_master(s, a))
			signals_tell_kernel(s, a);
	}
}

void
signals_begin(struct thread *t, uint64_t mask)
{
	t->signals.blocked = mask & NEVER_BLOCKED;
	signals_set_mask(mask);
}

uint64_t
signals_block_all(void)
{
	uint64_t all = ~(SIGNAL_BIT(SIGNAL_SEGV) | SIGNAL_BIT(SIGNAL_BUS)), old = 0;
	SYS(__NR_rt_sigprocmask, SIG_SETMASK, &all, &old, 8);
	return old;
}

void
signals_set_mask(uint64_t mask)
{
	mask &= ~NEVER_BLOCKED;
	SYS(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
}

void
signals_set_stack(struct thread *t)
{
	struct kstack s = {.sp = t->stacks.signal, .size = SIG_STACK_BYTES};
	SYS(__NR_sigaltstack, &s, 0);
}

void
signals_restore_dispositions(const struct sigtab *tab)
{
	for (int s = 1; s <= N_SIGNALS; s++) {
		const struct ksigaction *a = &tab->action[s];
		if (s != SIGNAL_KILL && s != SIGNAL_STOP && needs_master(s, a))
			SYS(__NR_rt_sigaction, s, a, 0, 8);
	}
}

void
signals_restore_native(struct thread *t, uint64_t mask)
{
	signals_restore_dispositions(t->signals.table);
	SYS(__NR_sigaltstack, &t->signals.altstack, 0);
	mask = (mask & ~NEVER_BLOCKED) | t->signals.blocked;
	SYS(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
}

long
sys_sigaction(struct thread *t)
{
	int signo = (int)t->regs.r[RDI];
	uint64_t new_at = t->regs.r[RSI], old_at = t->regs.r[RDX];
	struct ksigaction action, old;
	if (t->regs.r[R10] != 8)
		return -E_INVAL;
	if (new_at && rt_copy_guarded(&action, (void *)new_at, sizeof action))
		return -E_FAULT;
	if (signo < 1 || signo > N_SIGNALS ||
	    (new_at && (signo == SIGNAL_KILL || signo == SIGNAL_STOP)))
		return -E_INVAL;
	if (signo == SIGNAL_KILL || signo == SIGNAL_STOP)
		return SYS(__NR_rt_sigaction, signo, 0, old_at, 8);
	uint64_t mask = signals_block_all();
	rt_lock(&t->signals.table->lock);
	old = t->signals.table->action[signo];
	long ret = 0;
	if (new_at) {
		/* As the kernel keeps it: unknown flags and the unblockable signals are dropped. */
		action.mask &= ~(SIGNAL_BIT(SIGNAL_KILL) | SIGNAL_BIT(SIGNAL_STOP));
		action.flags &= 0xdc000807ull;
		ret = signals_tell_kernel(signo, &action);
		if (ret == 0)
			t->signals.table->action[signo] = action;
		if (ret == 0 && action.handler == 1)
			held_drop(signo);
	}
	rt_unlock(&t->signals.table->lock);
	SYS(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
	if (ret == 0 && old_at && rt_copy_guarded((void *)old_at, &old, sizeof old))
		return -E_FAULT;
	return ret;
}

/* With every signal blocked: makes `mask` the program's. A queued signal keeps the kernel's mask
 * full until it has been delivered. */
static void
set_program_mask(struct thread *t, uint64_t mask)
{
	mask &= ~(SIGNAL_BIT(SIGNAL_KILL) | SIGNAL_BIT(SIGNAL_STOP));
	t->signals.blocked = mask & NEVER_BLOCKED;
	held_release(t);
	if (t->pending & PENDING_SIGNAL)
		t->signals.queued_mask = mask & ~NEVER_BLOCKED;
	else
		signals_set_mask(mask);
}

long
sys_sigprocmask(struct thread *t)
{
	uint32_t how = (uint32_t)t->regs.r[RDI];
	uint64_t new_at = t->regs.r[RSI], old_at = t->regs.r[RDX], set = 0;
	if (t->regs.r[R10] != 8)
		return -E_INVAL;
	if (new_at && rt_copy_guarded(&set, (void *)new_at, 8))
		return -E_FAULT;
	if (new_at && how > SIG_SETMASK)
		return -E_INVAL;
	uint64_t kernel = signals_block_all();
	uint64_t old = ((t->pending & 1 ? t->signals.queued_mask : kernel) & ~NEVER_BLOCKED) |
	               t->signals.blocked;
	uint64_t mask = old;
	if (new_at)
		mask = how == SIG_BLOCK ? old | set : how == SIG_UNBLOCK ? old & ~set : set;
	set_program_mask(t, mask);
	if (old_at && rt_copy_guarded((void *)old_at, &old, 8))
		return -E_FAULT;
	return 0;
}

static bool
on_stack(const struct thread *t)
{
	uint64_t sp = t->regs.r[RSP];
	return !(t->signals.altstack.flags & SS_DISABLE) &&
	       !((uint32_t)t->signals.altstack.flags & SS_AUTODISARM) &&
	       sp > t->signals.altstack.sp &&
	       sp - t->signals.altstack.sp <= t->signals.altstack.size;
}

static long
set_altstack(struct thread *t, const struct kstack *s)
{
	uint32_t mode = (uint32_t)s->flags & ~SS_AUTODISARM;
	if (on_stack(t))
		return -E_PERM;
	if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
		return -E_INVAL;
	if (mode == SS_DISABLE) {
		t->signals.altstack = (struct kstack){.flags = s->flags};
		return 0;
	}
	if (s->size < MIN_STACK)
		return -E_NOMEM;
	t->signals.altstack = *s;
	return 0;
}

long
sys_sigaltstack(struct thread *t)
{
	uint64_t new_at = t->regs.r[RDI], old_at = t->regs.r[RSI];
	struct kstack s = {0}, old = t->signals.altstack;
	if (new_at && rt_copy_guarded(&s, (void *)new_at, sizeof s))
		return -E_FAULT;
	if (on_stack(t))
		old.flags |= SS_ONSTACK;
	else if (!(old.flags & SS_DISABLE))
		old.flags &= (int)SS_AUTODISARM;
	long ret = new_at ? set_altstack(t, &s) : 0;
	if (ret == 0 && old_at && rt_copy_guarded((void *)old_at, &old, sizeof old))
		return -E_FAULT;
	return ret;
}

/* It cannot be read: the kernel forces SIGSEGV, right after the system call. */
static _Noreturn void
refuse_frame(struct thread *t, uint64_t kernel)
{
	struct siginfo info = {.signo = SIGNAL_SEGV, .code = 128 /* SI_KERNEL */};
	t->regs.pc += CALL_BYTES;
	t->regs.r[RAX] = 0;
	t->regs.r[RCX] = t->regs.pc;
	t->regs.r[R11] = t->regs.rflags;
	t->state = THREAD_RUNTIME;
	signals_force(t, &info, kernel & ~NEVER_BLOCKED);
	((void (*)(void))rt_stub_resume)();
	__builtin_unreachable();
}

/*
 * The kernel restores everything at once, from a private copy of the program's frame in which the
 * program counter leads back into the runtime.
 */
void
sys_sigreturn(struct thread *t)
{
	budget_call_end(t); /* it does not come back from the call */
	uint64_t place = t->regs.r[RSP] - 8;
	struct sigframe *f = (struct sigframe *)(t->stacks.signal + 1024);
	uint8_t *state = (uint8_t *)((t->stacks.signal + 1024 + sizeof *f + 63) & ~63ull);
	uint64_t kernel = signals_block_all();
	bool bad = rt_copy_guarded(f, (void *)place, sizeof *f) != 0;
	if (!bad && f->uc.mc.fpstate) {
		const void *from = (const void *)f->uc.mc.fpstate;
		bad = rt_copy_guarded(state, from, 512) != 0;
		if (!bad && fpstate_size(state) > 512)
			bad = rt_copy_guarded(state, from, fpstate_size(state)) != 0;
		f->uc.mc.fpstate = (uint64_t)state;
	}
	if (bad)
		refuse_frame(t, kernel);
	struct regs back;
	regs_from_context(&back, &f->uc.mc);
	if (!SEEDED(19)) /* the others stay */
		back.rflags = (t->regs.rflags & ~FLAGS_OF_FRAME) | (back.rflags & FLAGS_OF_FRAME);
	back.rflags |= 0x202;
	t->regs = back;
	frame_find_resume(&f->uc.mc, &t->resume);
	if (t->resume.id >= rt.results->blocks.n)
		t->resume.state = RESUME_NONE;
	t->signals.stepped = back.rflags & 0x100 /* TF */ ? back.pc : 0; /* no trap before that
	                                                            instruction has been executed */
	if (!(f->uc.stack.flags & ~(SS_ONSTACK | SS_DISABLE | (int)SS_AUTODISARM)) &&
	    ((f->uc.stack.flags & SS_DISABLE) || f->uc.stack.size >= MIN_STACK)) {
		struct regs at_handler = t->regs;
		if (!on_stack(t))
			t->signals.altstack = f->uc.stack;
		t->signals.altstack.flags &= ~SS_ONSTACK;
		t->regs = at_handler;
	}
	uint64_t mask = f->uc.sigmask & ~(SIGNAL_BIT(SIGNAL_KILL) | SIGNAL_BIT(SIGNAL_STOP));
	t->signals.blocked = mask & NEVER_BLOCKED;
	held_release(t);
	if (t->pending & PENDING_SIGNAL)
		t->signals.queued_mask = mask & ~NEVER_BLOCKED;
	f->uc.sigmask = t->pending & PENDING_SIGNAL
	                        ? ~(SIGNAL_BIT(SIGNAL_SEGV) | SIGNAL_BIT(SIGNAL_BUS))
	                        : mask & ~NEVER_BLOCKED;
	f->uc.stack = (struct kstack){.sp = t->stacks.signal, .size = SIG_STACK_BYTES};
	f->uc.mc.rip = (uint64_t)rt_stub_resume;
	f->uc.mc.rsp = t->rt_sp;
	f->uc.mc.rflags = 0x202;
	__asm__("mov %%cs, %0" : "=r"(f->uc.mc.cs));
	__asm__("mov %%ss, %0" : "=r"(f->uc.mc.ss));
	t->state = THREAD_RUNTIME;
	rt_sigreturn_now(f);
}
