/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The master handler. The kernel knows one handler for every signal that the program handles (and
 * for those by which a program dies with a core dump); it finds out where the program is, and lets
 * the program see the signal as the kernel would have shown it: a frame on its own stack, with its
 * own registers.
 */
#include <asm/unistd.h>

#include "rt/budget/budget.h"
#include "rt/budget/region.h"
#include "rt/frame.h"
#include "rt/jit/jit.h"
#include "rt/native/breakpoint_sampling.h"
#include "rt/native/breakpoints.h"
#include "rt/native/native_run.h"
#include "rt/native/syspatch.h"
#include "rt/os/held.h"
#include "rt/os/os.h"
#include "rt/os/sample.h"
#include "rt/os/sampling.h"
#include "rt/os/sigdeliver.h"
#include "rt/os/waiting.h"
#include "rt/tool/tool.h"
#include "wire/control.h"

enum { CODE_TIMER = -2, CODE_QUEUE = -1, SEGV_ACCERR = 2, ERR_WRITE = 2 };
enum { TRAP_BRKPT = 1, TRAP_TRACE = 2, VECTOR_DEBUG = 1, VECTOR_BREAKPOINT = 3 };

static bool
in_range(uint64_t pc, const char *from, const char *to)
{
	return pc >= (uint64_t)from && pc < (uint64_t)to;
}

bool
signals_in_runtime(uint64_t pc)
{
	return pc - (rt.target.area + ST_AREA_RUNTIME) < ST_AREA_MAIN - ST_AREA_RUNTIME ||
	       pc - (rt.lookup + ST_LOOKUP_BYTES) < ST_LOOKUP_MAPPED - ST_LOOKUP_BYTES;
}

static bool
in_syscall_begin(uint64_t pc)
{
	return in_range(pc, rt_sys_check, rt_sys_done);
}

static bool
in_native_begin(uint64_t pc)
{
	return in_range(pc, (const char *)rt_go_native_run, rt_native_run_end);
}

/* About to go on in the program, all of whose registers but rip are, or are being, put back. */
static bool
is_entering(uint64_t pc)
{
	return in_range(pc, rt_stub_enter, rt_stub_enter_end) || in_native_begin(pc);
}

/* About to make the program's system call, or just back from it. */
static bool
is_calling(uint64_t pc)
{
	return in_syscall_begin(pc) || pc == (uint64_t)rt_sys_done;
}

/* After a breakpoint instruction: what follows it in the cache need not be what follows in the
 * program. */
static int
recover_breakpoint(struct thread *t, const struct regs *machine, struct recovered *at)
{
	struct st_insn in;
	if (jit_recover(t, machine->pc - 1, machine, at) != 0 ||
	    !st_decode(program_code(at->regs.pc), 15, &in))
		return -1;
	at->regs.pc += in.len;
	at->done++;
	at->actions = 0;
	at->back = in.len;
	return 0;
}

/*
 * Finds the program's address. False: the thread was in the runtime, so no signal can be delivered
 * now.
 */
static bool
locate_program(struct thread *t, const struct ucontext64 *uc, bool breakpoint, struct recovered *at)
{
	uint64_t pc = uc->mc.rip;
	struct regs machine;
	regs_from_context(&machine, &uc->mc);
	*at = (struct recovered){.regs = t->regs, .at_end = true};
	if (in_cache(pc) && breakpoint)
		return recover_breakpoint(t, &machine, at) == 0;
	if (in_cache(pc))
		return jit_recover(t, pc, &machine, at) == 0;
	if (is_entering(pc))
		return true;
	if (in_syscall_begin(pc)) {
		at->regs.r[RAX] = uc->mc.rax;
		return t->call.may_sleep;
	}
	if (pc == (uint64_t)rt_sys_done && t->call.may_sleep) {
		if (t->call.has_end || uc->mc.rax == (uint64_t)-14 /* EFAULT: perhaps by us */)
			return false;
		at->regs.r[RAX] = uc->mc.rax;
		at->regs.pc = t->regs.pc + 2;
		at->regs.r[RCX] = at->regs.pc;
		at->regs.r[R11] = at->regs.rflags;
		return true;
	}
	if (pc == (uint64_t)rt_native_jump)
		return true;
	if (signals_in_runtime(pc))
		return false;
	at->regs = machine;
	at->regs.pc = syspatch_leads(pc);
	if (t->native.stepping) /* by the engine's own flag */
		at->regs.rflags = (machine.rflags & ~0x100ull) | (t->regs.rflags & 0x100);
	return true;
}

/*
 * The program goes on from where it was found, by way of the runtime. Until the state says so
 * nobody flushes the cache, and everybody who wants to waits for this thread: no lock may be waited
 * for before, and nothing that knows the cache may be used afterwards.
 */
static void
leave_cache(struct thread *t, const struct recovered *at, uint64_t pc)
{
	if (in_cache(pc))
		jit_leave(t, at);
	else if (!is_entering(pc))
		t->resume.state = RESUME_NONE;
	if (is_calling(pc)) { /* it does not come back from the call */
		waiting_end(t);
		if (budget_in_call(t))
			budget_call_end(t);
	}
	t->regs = at->regs;
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	if (at->repair)
		*(uint64_t *)at->repair = at->repair_value;
	if (at->site) {
		rt_lock(&rt.lock);
		target_count(t, at->site, at->regs.pc);
		rt_unlock(&rt.lock);
	}
}

static bool
is_fault(int signo, const struct siginfo *info)
{
	return info->code > 0 &&
	       (signo == SIGNAL_SEGV || signo == SIGNAL_BUS || signo == SIGNAL_ILL ||
	        signo == SIGNAL_FPE || signo == SIGNAL_TRAP);
}

static enum signal_kind
kind_of_signal(int signo, const struct siginfo *info)
{
	enum { BY_FILTER = 1 };
	if (is_fault(signo, info))
		return SIGNAL_RAISED;
	return signo == SIGNAL_SYS && info->code == BY_FILTER ? SIGNAL_FORCED : SIGNAL_SENT;
}

/* Keeps a signal until the runtime is about to enter the cache; until then no other can come than
 * those of faults. */
static void
queue_signal(struct thread *t, int signo, const struct siginfo *info, struct ucontext64 *uc)
{
	if ((t->pending & PENDING_SIGNAL) || t->signals.due) {
		struct siginfo *late = &t->signals.late[signo == SIGNAL_BUS];
		*late = *info;
		late->signo = signo;
		return;
	}
	t->signals.queued = *info;
	t->signals.queued.signo = signo;
	t->signals.queued_mask = uc->sigmask & ~NEVER_BLOCKED;
	t->signals.queued_forced = kind_of_signal(signo, info) == SIGNAL_FORCED;
	t->signals.queued_in_masked = t->signals.call_masked && !held_blocks(t, signo, uc);
	uc->sigmask = ~(SIGNAL_BIT(SIGNAL_SEGV) | SIGNAL_BIT(SIGNAL_BUS));
	__atomic_fetch_or(&t->pending, PENDING_SIGNAL, __ATOMIC_SEQ_CST);
	if (in_syscall_begin(uc->mc.rip)) /* it must not begin before this is delivered */
		uc->mc.rip = (uint64_t)rt_sys_check;
}

uint64_t
rt_dispatch_pending(struct thread *t)
{
	uint32_t pending = __atomic_exchange_n(&t->pending, 0, __ATOMIC_SEQ_CST);
	if (pending & PENDING_LEAVE) {
		__atomic_fetch_or(&t->pending, pending & PENDING_SIGNAL, __ATOMIC_SEQ_CST);
		thread_park(t, signals_block_all());
	}
	if (pending & PENDING_SHOW) {
		t->native.shown = true;
		t->state = THREAD_NATIVE_RUN;
		rt_go_native(t);
	}
	if (!(pending & PENDING_SIGNAL))
		return 0;
	/* To be delivered it needs a kernel's frame: a signal of our own brings one, unless one of
	 * the program's comes first. Sending it again would put it after others of its number. */
	t->signals.due = true;
	static const uint64_t only_own = ~SIGNAL_BIT(SIGNAL_OWN);
	struct siginfo own = {.signo = SIGNAL_OWN, .code = CODE_QUEUE, .value = OWN_DELIVER};
	SYS(__NR_rt_tgsigqueueinfo, SYS(__NR_getpid), SYS(__NR_gettid), SIGNAL_OWN, &own);
	return (uint64_t)&only_own;
}

/* A system call that only the runtime's own signal has interrupted goes on as if nothing had
 * happened. */
static void
restart_interrupted(struct thread *t, struct ucontext64 *uc)
{
	if (uc->mc.rip == (uint64_t)rt_sys_done && uc->mc.rax == (uint64_t)-4 /* EINTR */) {
		/* A handler's return has spoilt that one: the whole call again. */
		if (t->regs.r[RAX] == __NR_restart_syscall && t->restart)
			t->regs.r[RAX] = t->restart;
		uc->mc.rax = t->regs.r[RAX];
		uc->mc.rip = (uint64_t)rt_sys_insn;
	}
}

static void
take_sample(struct thread *t, struct ucontext64 *uc)
{
	struct recovered at = {.regs = t->regs};
	uint64_t pc = uc->mc.rip;
	if (is_calling(pc)) {
		sample_add(t, &at, ST_SAMPLE_SYSCALL);
		restart_interrupted(t, uc);
		return;
	}
	if (signals_in_runtime(pc)) {
		sample_add(t, &at, ST_SAMPLE_RUNTIME);
		if (tool_loops(t, pc))
			uc->mc.rip = (uint64_t)rt_guard_failed;
		return;
	}
	struct regs machine;
	regs_from_context(&machine, &uc->mc);
	at.regs = machine;
	at.regs.pc = syspatch_leads(pc);
	at.own_work = true;
	if (in_cache(pc) && jit_recover(t, pc, &machine, &at) != 0)
		return;
	sample_add(t, &at, at.own_work ? ST_SAMPLE_CODE : ST_SAMPLE_RUNTIME);
}

/* A thread in the cache, or one that runs natively, comes to the dispatcher, which decides again
 * what it executes and waits while the world is stopped. Any other is on its way there. */
static void
obey_stop(struct thread *t, struct ucontext64 *uc)
{
	struct recovered at;
	if (uc->mc.rip == (uint64_t)rt_sys_done) {
		restart_interrupted(t, uc);
		return;
	}
	if (!in_cache(uc->mc.rip) && !is_entering(uc->mc.rip) && t->state != THREAD_NATIVE_RUN)
		return;
	if (!locate_program(t, uc, false, &at))
		return;
	leave_cache(t, &at, uc->mc.rip);
	resume_program(t, uc);
}

/* Samples that come more often than the budget's ticks are charged to it. */
static void
take_charged_sample(struct thread *t, struct ucontext64 *uc)
{
	const bool pays = t->sampling.event >= 0 && budget_exists() && in_cache(uc->mc.rip) &&
	                  thread_is_measured(t) && !budget_works(t);
	if (pays)
		budget_work_begin(t);
	take_sample(t, uc);
	if (pays)
		budget_work_end(t);
}

/* The thread has used some more CPU time. */
static void
on_tick(struct thread *t, struct ucontext64 *uc)
{
	uint64_t pc = uc->mc.rip;
	const bool by_event = t->sampling.event >= 0;
	sampling_take_tick(t);
	if (rt.sampling.hz && ++t->sampling.ticks % rt.sampling.every == 0)
		take_charged_sample(t, uc);
	else
		restart_interrupted(t, uc);
	sampling_rearm(t);
	if (by_event && t->sampling.ticks % rt.sampling.ticks_of_budget)
		return;
	/* The runtime may be changing the thread's state: wait for the next tick. */
	if (!budget_exists() || (signals_in_runtime(pc) && !is_entering(pc) && !is_calling(pc)))
		return;
	bool granted = bp_sampling_tick(t), leaves = native_run_tick(t);
	bool late = !t->budget.spent && t->state == THREAD_NATIVE_RUN; /* granted on its way out */
	if (granted || leaves || late)
		obey_stop(t, uc);
}

/* The controller asks for the region of interest to begin or end: at once, if this thread is in the
 * program; else when it comes out of the runtime. */
static void
obey_region(struct thread *t, struct ucontext64 *uc)
{
	if (is_calling(uc->mc.rip) && t->call.may_sleep) {
		restart_interrupted(t, uc);
		rt_lock(&rt.lock);
		region_obey(t);
		rt_unlock(&rt.lock);
		return;
	}
	obey_stop(t, uc);
}

/* The process is about to die: the thread goes on natively, also with a system call that was under
 * way, which it makes again. Whatever faults or traps there brings it back. */
static void
obey_show(struct thread *t, struct ucontext64 *uc)
{
	struct recovered at;
	bool plain = is_calling(uc->mc.rip) && t->call.may_sleep;
	restart_interrupted(t, uc);
	if (plain && in_syscall_begin(uc->mc.rip)) {
		at = (struct recovered){.regs = t->regs, .at_end = true};
	} else if (!locate_program(t, uc, false, &at)) {
		__atomic_fetch_or(&t->pending, PENDING_SHOW, __ATOMIC_SEQ_CST);
		return;
	}
	leave_cache(t, &at, uc->mc.rip);
	native_run_end(t);
	step_end(t, uc);
	regs_to_context(&t->regs, &uc->mc);
	uc->sigmask = ~NEVER_BLOCKED;
	t->state = THREAD_NATIVE_RUN;
	t->native.shown = true;
}

/* The thread is to leave the engine: it comes out, and stays out when it is about to enter the
 * cache or to begin a system call. */
static void
obey_leave(struct thread *t, struct ucontext64 *uc)
{
	struct recovered at;
	__atomic_fetch_or(&t->pending, PENDING_LEAVE, __ATOMIC_SEQ_CST);
	restart_interrupted(t, uc);
	if (in_syscall_begin(uc->mc.rip))
		uc->mc.rip = (uint64_t)rt_sys_check;
	else if (uc->mc.rip != (uint64_t)rt_sys_done && locate_program(t, uc, false, &at)) {
		leave_cache(t, &at, uc->mc.rip);
		resume_program(t, uc);
	}
}

/* Raises a signal of this thread again. */
static void
send_again(struct siginfo *info)
{
	SYS(__NR_rt_tgsigqueueinfo, SYS(__NR_getpid), SYS(__NR_gettid), info->signo, info);
}

/* The program is at t->regs, about to enter the cache. What else has come meanwhile is queued in
 * its turn. */
static void
deliver_queued(struct thread *t, struct ucontext64 *uc)
{
	struct siginfo info = t->signals.queued;
	bool blocked =
	        !t->signals.queued_in_masked && (t->signals.blocked & SIGNAL_BIT(info.signo));
	if (!t->signals.due)
		return;
	t->signals.due = false;
	uc->sigmask = t->signals.queued_mask;
	deliver(t, info.signo, &info, uc, t->signals.queued_forced ? SIGNAL_FORCED : SIGNAL_SENT,
	        blocked);
	for (unsigned i = 0; i < 2 && t->state != THREAD_NATIVE; i++) {
		info = t->signals.late[i];
		t->signals.late[i].signo = 0;
		if (info.signo)
			queue_signal(t, info.signo, &info, uc);
	}
}

void
signals_force(struct thread *t, const struct siginfo *info, uint64_t mask)
{
	if (t->pending & PENDING_SIGNAL)
		send_again(&t->signals.queued);
	t->signals.queued = *info;
	t->signals.queued_mask = mask;
	t->signals.queued_forced = true;
	t->signals.queued_in_masked = false;
	__atomic_fetch_or(&t->pending, PENDING_SIGNAL, __ATOMIC_SEQ_CST);
}

/* One that the program blocks has come while the thread is in a system call, or one that it
 * ignores, wherever it is: natively nothing would have been interrupted. */
static bool
comes_unseen(struct thread *t, int signo, struct siginfo *info, struct ucontext64 *uc)
{
	if (kind_of_signal(signo, info) != SIGNAL_SENT)
		return false;
	bool blocked = held_blocks(t, signo, uc),
	     calls = is_calling(uc->mc.rip) && t->call.may_sleep;
	uint64_t handler =
	        __atomic_load_n(&t->signals.table->action[signo].handler, __ATOMIC_RELAXED);
	if (blocked ? !calls : handler != 1)
		return false;
	info->signo = signo;
	if (blocked)
		held_add(t, info);
	if (calls)
		restart_interrupted(t, uc);
	return true;
}

/* Is it a trap of the trap flag? The kernel takes one for an int1 when a hypervisor has lost what
 * the processor said of it (seen: one of 80,000). A true int1 is executed outside the cache. */
static bool
is_step(int signo, const struct siginfo *info, const struct ucontext64 *uc)
{
	enum { FLAG_TRAP = 0x100 };
	return signo == SIGNAL_TRAP &&
	       (info->code == TRAP_TRACE ||
	        (info->code == TRAP_BRKPT && uc->mc.trapno == VECTOR_DEBUG &&
	         (uc->mc.rflags & FLAG_TRAP)));
}

/* The trap flag is the program's: it sees a trap after each of its own instructions, and of nothing
 * else. True when there is nothing to show. */
static bool
hide_step(struct thread *t, const struct ucontext64 *uc)
{
	struct recovered at;
	struct regs machine;
	regs_from_context(&machine, &uc->mc);
	if (signals_in_runtime(uc->mc.rip))
		return true;
	if (!in_cache(uc->mc.rip))
		return false;
	if (jit_recover(t, uc->mc.rip, &machine, &at) != 0 || !at.boundary ||
	    at.regs.pc == t->signals.stepped)
		return true;
	t->signals.stepped = at.regs.pc;
	return false;
}

static bool
is_own_signal(int signo, const struct siginfo *info)
{
	return (signo == SIGNAL_OWN && (info->code == CODE_TIMER || info->code == CODE_QUEUE) &&
	        (info->value == OWN_SAMPLE || info->value == OWN_STOP || info->value == OWN_SHOW ||
	         info->value == OWN_DELIVER || info->value == OWN_LEAVE ||
	         info->value == ST_OWN_REGION)) ||
	       leave_is_hangup(signo, info) || sampling_is_tick(signo, info);
}

void
signals_drain(void)
{
	enum { MOST = 16 };
	struct siginfo info, theirs[MOST];
	uint64_t set = SIGNAL_BIT(SIGNAL_OWN), now[2] = {0, 0};
	unsigned n = 0;
	while (n < MOST && SYS(__NR_rt_sigtimedwait, &set, &info, now, 8) == SIGNAL_OWN)
		if (!is_own_signal(SIGNAL_OWN, &info))
			theirs[n++] = info;
	for (unsigned i = 0; i < n; i++)
		send_again(&theirs[i]);
}

void
signals_hand_over(struct thread *t)
{
	sampling_stop(t);
	signals_drain();
	if (t->pending & PENDING_SIGNAL)
		send_again(&t->signals.queued);
	for (unsigned i = 0; i < 2; i++)
		if (t->signals.late[i].signo)
			send_again(&t->signals.late[i]);
	held_hand_over(t);
}

/* From here on another signal is needed to stop the thread: world.c. */
static void
stop_has_come(struct thread *t, const struct siginfo *info)
{
	if (info->value == OWN_STOP)
		__atomic_store_n(&t->native.stop_sent, false, __ATOMIC_SEQ_CST);
}

bool
signals_take_own(struct thread *t, const struct siginfo *info)
{
	if (!is_own_signal(info->signo, info))
		return false;
	if (sampling_is_tick(info->signo, info))
		sampling_take_tick(t);
	stop_has_come(t, info);
	if (info->value == OWN_LEAVE || leave_is_hangup(info->signo, info))
		__atomic_fetch_or(&t->pending, PENDING_LEAVE, __ATOMIC_SEQ_CST);
	return true;
}

/* A write by the program at t->regs, or pc == 0 by the runtime for it, to memory that holds
 * translated code and was therefore protected: opens it, so that the write can be done again. */
static bool
code_written(uint64_t pc, int signo, const struct siginfo *info, const struct ucontext64 *uc)
{
	/* Whether a page is protected now is known under the lock only: another thread may be about
	 * to note the first one, or may have noted already that it opens the last one. */
	if (signo != SIGNAL_SEGV || info->code != SEGV_ACCERR || !(uc->mc.err & ERR_WRITE) ||
	    !pages_used())
		return false;
	rt_lock(&rt.lock);
	bool ours = pages_written(info->addr);
	if (ours && pc && ((pc ^ info->addr) & ~4095ull) == 0)
		pages_check_from_now(info->addr);
	rt_unlock(&rt.lock);
	return ours;
}

/* If an instruction of the engine stood for one of the program's, the program sees the address of
 * its own. SIGSYS, by which a seccomp filter answers, names the address after the system call. */
static void
show_address(int signo, struct siginfo *info, uint64_t pc)
{
	if (info->code > 0 &&
	    (in_cache(info->addr) || (signo == SIGNAL_SYS && signals_in_runtime(info->addr))))
		info->addr = pc;
}

/* A thread that runs natively makes a system call: the runtime makes it. The kernel has left
 * everything as it was, and names the address after the instruction. */
static void
call_from_outside(struct thread *t, const struct siginfo *info, struct ucontext64 *uc)
{
	enum { ARCH_X86_64 = 0xc000003e }; /* AUDIT_ARCH_X86_64, in the upper half of si_syscall */
	struct recovered at = {.at_end = true};
	regs_from_context(&at.regs, &uc->mc);
	at.regs.pc -= CALL_BYTES;
	if (info->value >> 32 == ARCH_X86_64)
		t->native.call_reported = true;
	else
		native_run_avoid(t); /* int 0x80: the cache hands the program to native execution */
	leave_cache(t, &at, uc->mc.rip);
	resume_program(t, uc);
}

static bool
is_breakpoint(int signo, const struct siginfo *info, const struct ucontext64 *uc)
{
	enum { CODE_KERNEL = 128 };
	return signo == SIGNAL_TRAP && info->code == CODE_KERNEL &&
	       uc->mc.trapno == VECTOR_BREAKPOINT;
}

/* A thread that runs natively has come upon a trap, perhaps one that another thread has just taken
 * away. */
static bool
come_upon_trap(struct thread *t, struct ucontext64 *uc)
{
	struct recovered at = {.at_end = true};
	if (__atomic_load_n(&t->state, __ATOMIC_RELAXED) != THREAD_NATIVE_RUN ||
	    !breakpoints_own(uc->mc.rip - 1))
		return false;
	regs_from_context(&at.regs, &uc->mc);
	at.regs.pc--;
	leave_cache(t, &at, uc->mc.rip);
	bp_sampling_hit(t);
	resume_program(t, uc);
	return true;
}

/* The thread has executed an instruction where it stands; of an uprobe the kernel says so by a
 * signal that looks like one of the process itself. */
static bool
has_stepped(struct thread *t, int signo, const struct siginfo *info, struct ucontext64 *uc)
{
	struct recovered at = {.at_end = true};
	bool there = !in_cache(uc->mc.rip) && !signals_in_runtime(uc->mc.rip);
	bool over = is_step(signo, info, uc) ||
	            (signo == SIGNAL_TRAP && info->code == 0 && (uint32_t)info->addr == rt.pid);
	bool own = t->regs.rflags & uc->mc.rflags & 0x100; /* the program steps, too */
	step_end(t, uc);
	if (!there || !over || own)
		return false;
	regs_from_context(&at.regs, &uc->mc);
	leave_cache(t, &at, uc->mc.rip);
	resume_program(t, uc);
	return true;
}

static _Noreturn void
die_of_own_fault(int signo, const struct siginfo *info, const struct ucontext64 *uc)
{
	rt_complain("the runtime faulted at its offset",
	            uc->mc.rip - rt.target.area - ST_AREA_RUNTIME);
	rt_complain("accessing", info->addr);
	rt_complain("by signal", (uint64_t)signo);
	struct ksigaction action = {0};
	SYS(__NR_rt_sigaction, signo, &action, 0, 8);
	SYS(__NR_kill, SYS(__NR_getpid), SIGNAL_KILL);
	for (;;)
		;
}

void
rt_on_signal(int signo, struct siginfo *info, void *context)
{
	struct ucontext64 *uc = context;
	struct thread *t = rt_self();
	struct recovered at;
	if (is_own_signal(signo, info)) {
		if (info->value == OWN_LEAVE || leave_is_hangup(signo, info))
			obey_leave(t, uc);
		else if (info->value == OWN_SAMPLE || sampling_is_tick(signo, info))
			on_tick(t, uc);
		else if (info->value == OWN_DELIVER)
			deliver_queued(t, uc);
		else if (info->value == ST_OWN_REGION)
			obey_region(t, uc);
		else if (info->value == OWN_SHOW)
			obey_show(t, uc);
		else {
			stop_has_come(t, info);
			obey_stop(t, uc);
		}
		return;
	}
	if (sampling_is_lost_tick(t, signo, info)) {
		on_tick(t, uc);
		return;
	}
	if (native_run_called(t, signo, info)) {
		call_from_outside(t, info, uc);
		return;
	}
	if (is_breakpoint(signo, info, uc) && come_upon_trap(t, uc))
		return;
	if (t->native.stepping && has_stepped(t, signo, info, uc))
		return;
	if (is_step(signo, info, uc) && hide_step(t, uc))
		return;
	if (comes_unseen(t, signo, info, uc))
		return;
	if (t->signals.due && is_entering(uc->mc.rip) &&
	    kind_of_signal(signo, info) == SIGNAL_SENT) {
		deliver_queued(t, uc);
		if (t->pending & PENDING_SIGNAL)
			send_again(info); /* which is blocked now */
		else if (t->state != THREAD_NATIVE)
			queue_signal(t, signo, info, uc);
		return;
	}
	/* The runtime has no breakpoints, and nothing after a system call can fault: what comes
	 * there the program has sent itself. */
	if (is_fault(signo, info) && signo != SIGNAL_TRAP && signals_in_runtime(uc->mc.rip) &&
	    uc->mc.rip != (uint64_t)rt_sys_done && uc->mc.rip != (uint64_t)rt_native_jump &&
	    !in_native_begin(uc->mc.rip)) {
		if (code_written(0, signo, info, uc)) /* a frame on the program's stack, say */
			return;
		if (uc->mc.rip == (uint64_t)rt_copy_insn)
			uc->mc.rip = (uint64_t)rt_copy_failed;
		else if (tool_failed(t, signo, uc->mc.rip))
			uc->mc.rip = (uint64_t)rt_guard_failed;
		else
			die_of_own_fault(signo, info, uc);
		return;
	}
	if (!locate_program(t, uc, is_breakpoint(signo, info, uc), &at)) {
		if (in_cache(uc->mc.rip))
			die_of_own_fault(signo, info, uc);
		show_address(signo, info, t->regs.pc + 2);
		queue_signal(t, signo, info, uc);
		return;
	}
	show_address(signo, info, at.regs.pc);
	bool blocked = held_blocks(t, signo, uc);
	leave_cache(t, &at, uc->mc.rip);
	if (code_written(t->regs.pc, signo, info, uc)) {
		resume_program(t, uc);
		return;
	}
	deliver(t, signo, info, uc, kind_of_signal(signo, info), blocked);
}
