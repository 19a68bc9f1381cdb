/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaving a process that was attached.
 *
 * A thread that is to leave comes out at an exact place of the program, gives the kernel back what
 * is the program's (alternate stack, restartable sequences) with every signal blocked, and waits:
 * it is parked. Signal dispositions belong to the process, so nobody goes on natively before all
 * are parked. Then the controller puts the last things in order with ptrace, the program's
 * registers among them. When the controller is gone, the threads see to it themselves.
 *
 * So they do when a thread, of whatever process, is about to do what the engine cannot bear: from
 * then on no thread is in the engine, because what a native thread shares with others, signal
 * dispositions and children, would be the engine's.
 */
#include <asm/unistd.h>

#include "rt/budget/unique.h"
#include "rt/jit/jit.h"
#include "rt/native/native_run.h"
#include "rt/native/syspatch.h"
#include "rt/os/os.h"
#include "rt/os/process.h"
#include "rt/os/waiting.h"
#include "rt/tool/callbacks.h"

/* stubs.S knows it. */
_Static_assert(offsetof(struct st_attached, regs) == 16, "");
_Static_assert(offsetof(struct st_attached, rflags) == 144, "");
_Static_assert(offsetof(struct st_attached, pc) == 152, "");
_Static_assert(offsetof(struct st_attached, mask) == 160, "");
_Static_assert(offsetof(struct st_attached, all_sent) == 192, "");

enum {
	E_BUSY = 16,
	E_INVAL = 22,
	E_NOSYS = 38,
	UNREGISTER = 1,
	POLL_HUP_CODE = 6,
	SET_FLAGS = 4,
	SET_OWNER = 8,
	SET_SIGNAL = 10,
	O_ASYNC_BIT = 0x2000,
	COUNTERS_BYTES = ST_MAX_BLOCKS * 8,
};

static uint32_t gone; /* the process has its dispositions back */
static bool for_good; /* a thread does what the engine cannot bear */

long
sys_rseq(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	/* A C library that has registered its first thread may insist on the others. */
	if (!rt.boot->attached)
		return -E_NOSYS;
	bool same = t->kernel.rseq.at == r[RDI] && t->kernel.rseq.bytes == (uint32_t)r[RSI];
	if (r[RDX] == UNREGISTER && same && r[RDI]) {
		t->kernel.rseq = (struct rseq_area){0};
		return 0;
	}
	if (r[RDX] || !r[RDI] || (uint32_t)r[RSI] < 32 || (r[RDI] & 31))
		return -E_INVAL;
	if (t->kernel.rseq.at)
		return same ? -E_BUSY : -E_INVAL;
	t->kernel.rseq = (struct rseq_area){r[RDI], (uint32_t)r[RSI], (uint32_t)r[R10]};
	return 0;
}

void
rseq_restore(const struct thread *t)
{
	if (t->kernel.rseq.at)
		SYS(__NR_rseq, t->kernel.rseq.at, t->kernel.rseq.bytes, 0,
		    t->kernel.rseq.signature);
}

void
leave_begin(void)
{
	uint32_t fd = rt.boot->channel;
	SYS(__NR_fcntl, fd, SET_SIGNAL, SIGNAL_OWN);
	SYS(__NR_fcntl, fd, SET_OWNER, rt.pid);
	SYS(__NR_fcntl, fd, SET_FLAGS, O_ASYNC_BIT);
	if (!controller_has_hung_up())
		return;
	rt.native.leaving = true;
	__atomic_fetch_or(&rt.main->pending, PENDING_LEAVE, __ATOMIC_SEQ_CST);
}

bool
leave_is_hangup(int signo, const struct siginfo *info)
{
	return signo == SIGNAL_OWN && info->code == POLL_HUP_CODE && rt.boot->channel &&
	       (uint32_t)info->value == rt.boot->channel;
}

/* For copies in children, too. */
static void
disarm_process(void)
{
	if (!rt.boot->attached)
		return;
	SYS(__NR_fcntl, rt.boot->channel, SET_OWNER, 0);
	SYS(__NR_fcntl, rt.boot->channel, SET_FLAGS, 0);
	signals_drain(); /* what had been sent by then */
}

/* Another process runs in this memory, under the engine. */
static bool
is_shared(void)
{
	for (const struct thread *o = rt.threads; o; o = o->next_thread)
		if (o->own_process && !o->ended)
			return true;
	return false;
}

static void
block_every(void)
{
	uint64_t all = ~0ull;
	SYS(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, 0, 8);
}

/* But those of faults, which tools may have. The runtime's own would spoil a system call that is to
 * be restarted. */
static void
block_but_faults(void)
{
	uint64_t mask = ~(SIGNAL_BIT(SIGNAL_SEGV) | SIGNAL_BIT(SIGNAL_BUS));
	SYS(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, 0, 8);
}

/* Every thread is parked: the tools' last words, and what belongs to the process. */
static void
restore_process(struct thread *t)
{
	if (!t->own_process) {
		block_but_faults();
		signals_set_stack(t);
		callback_leave(t);
		block_every();
		SYS(__NR_sigaltstack, &t->signals.altstack, 0);
	}
	signals_restore_dispositions(&rt.sigtab);
	lock_future_natively();
	pages_release();
	syspatches_remove();
	disarm_process();
	rt.results->run.tsc_end = rt_tsc();
	rt.results->run.state = for_good ? ST_RUN_NATIVE : ST_RUN_DETACHED;
}

/* Up to its end. Nothing here may be a system call that the kernel continues by restart_syscall:
 * the program may be about to make that call. */
static void
wait_for_controller(void)
{
	struct {
		int fd;
		int16_t events, revents;
	} p = {(int)rt.boot->channel, 0, 0};
	while (!rt.native.leaving && !p.revents)
		SYS(__NR_ppoll, &p, 1, 0, 0, 8);
}

static _Noreturn void
go_natively(struct thread *t)
{
	signals_drain(); /* somebody may have sent one just before it was parked */
	SYS(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &t->leave_mask, 0, 8);
	rt_go_native_forever(t);
}

/* Without a controller: what no thread needs on its last steps. The rest the agent takes away when
 * they are done, if it is still there. */
static void
forget_alone(void)
{
	for (struct thread *o = rt.threads; o; o = o->next_thread) {
		rt_keep_memory(o, ST_THREAD_PRIVATE);
		rt_keep_memory((void *)thread_stacks(o), THREAD_STACKS);
		SYS(__NR_munmap, (uint64_t)o + ST_THREAD_PRIVATE, COUNTERS_BYTES);
	}
	rt_unmap_all();
	__atomic_store_n(&rt.results->control.detach.finished, ST_FINISHED_MEMORY,
	                 __ATOMIC_SEQ_CST);
	SYS(__NR_munmap, rt.target.area, ST_CACHE_SIZE);
	SYS(__NR_munmap, rt.alias, ST_CACHE_SIZE);
	SYS(__NR_munmap, rt.lookup, ST_LOOKUP_MAPPED);
	SYS(__NR_munmap, rt.results, rt.results->layout.file_size);
}

/* Hangs up at once: a thread that waits for the controller has the descriptor in use, and would
 * wait until the controller hangs up. */
static void
close_channel(void)
{
	enum { BOTH_WAYS = 2 };
	if (!rt.boot->channel)
		return;
	SYS(__NR_shutdown, rt.boot->channel, BOTH_WAYS);
	SYS(__NR_close, rt.boot->channel);
}

static void
finish_alone(struct thread *t)
{
	restore_process(t);
	limits_end();
	if (!is_shared())
		forget_alone();
}

void rt_withdraw(const struct st_boot *boot);

/*
 * The controller was killed while it sent the threads of a process here, and all go on natively.
 * This one takes away what none of them needs for that. Nothing but the boot block is known yet.
 */
void
rt_withdraw(const struct st_boot *boot)
{
	enum { AS = 9, DATA = 2 };
	const struct st_boot b = *boot;
	if (b.limits[0][0])
		SYS(__NR_prlimit64, 0, AS, b.limits[0], 0);
	if (b.limits[1][0])
		SYS(__NR_prlimit64, 0, DATA, b.limits[1], 0);
	SYS(__NR_close, b.channel);
	SYS(__NR_munmap, b.area, ST_CACHE_SIZE);
	SYS(__NR_munmap, b.cache_alias, ST_CACHE_SIZE);
	SYS(__NR_munmap, b.lookup, ST_LOOKUP_MAPPED);
	SYS(__NR_munmap, b.results,
	    ((const struct st_results_header *)b.results)->layout.file_size);
}

void rt_finish(struct thread *t);
void rt_forget(struct thread *t);

/*
 * One thread's work for the controller when all are parked, on the boot stack: what belongs to the
 * process. The others can go on natively from then on, be it that the controller sends them or that
 * it dies now; so it may at any moment.
 */
void
rt_finish(struct thread *t)
{
	rt_lock(&rt.thread_lock);
	bool first = !gone;
	if (first) {
		restore_process(t);
		limits_end();
		__atomic_store_n(&rt.results->control.detach.finished, ST_FINISHED_PROCESS,
		                 __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&gone, 1, __ATOMIC_SEQ_CST);
	rt_unlock(&rt.thread_lock);
	wait_for_controller();
	if (first && !is_shared())
		forget_alone();
	SYS(__NR_close, rt.boot->channel);
	go_natively(t);
}

/* Its last: the other threads are out of the engine. */
void
rt_forget(struct thread *t)
{
	bool shared = is_shared();
	rt_keep_memory(t, ST_THREAD_PRIVATE);
	if (!shared)
		rt_unmap_all();
	__atomic_store_n(&rt.results->control.detach.finished,
	                 shared ? ST_FINISHED_SHARED : ST_FINISHED_MEMORY, __ATOMIC_SEQ_CST);
	wait_for_controller();
	SYS(__NR_close, rt.boot->channel);
	go_natively(t);
}

/* Sends the other threads here; have all of them come? thread_lock held. */
static bool
gather_threads(const struct thread *t)
{
	struct siginfo info = {.signo = SIGNAL_OWN, .code = -1 /* SI_QUEUE */, .value = OWN_LEAVE};
	bool all = true;
	for (struct thread *o = rt.threads; o; o = o->next_thread) {
		if (o == t || o->ended || o->parked == ST_PARKED ||
		    (o->own_process && !o->in_vfork))
			continue;
		all = false;
		if (!o->native.leave_asked && !o->in_vfork && !o->parked && o->tid)
			o->native.leave_asked =
			        SYS(__NR_rt_tgsigqueueinfo, rt.pid, o->tid, SIGNAL_OWN, &info) == 0;
		else if (o->native.leave_asked && ++o->native.leave_rounds % 16 == 0)
			o->native.leave_asked =
			        false; /* it may have been where it could not come out */
	}
	return all;
}

static _Noreturn void
leave_alone(struct thread *t)
{
	enum { PAUSE_NS = 1000000 };
	rt.native.leaving = true;
	while (!__atomic_load_n(&gone, __ATOMIC_SEQ_CST)) {
		rt_lock(&rt.thread_lock);
		bool last = !gone && gather_threads(t);
		if (last) {
			finish_alone(t);
			close_channel();
			__atomic_store_n(&gone, 1, __ATOMIC_SEQ_CST);
		}
		rt_unlock(&rt.thread_lock);
		if (!last)
			rt_pause(PAUSE_NS);
	}
	go_natively(t);
}

/* Completes the thread's counts and records: a basic block counts up to the address at which the
 * thread goes on natively. */
static void
end_measuring(struct thread *t)
{
	unique_leave(t);
	jit_suspend_resume(t);
	t->resume.state = RESUME_NONE;
	if (t->own_process)
		return;
	block_but_faults();
	waiting_leave(t); /* copies the stack up to its end, where it faults */
	callback_thread_end(t);
	block_every();
}

/* Also from rt_park_entry: the controller has found the thread asleep in a system call, or out of
 * the engine, and has said in t->regs where it goes on. `mask` were blocked. */
void
thread_park(struct thread *t, uint64_t mask)
{
	block_every();
	native_run_end(t);
	/* From here on nobody sends it here any more; what was sent by then is drained. */
	__atomic_store_n(&t->parked, ST_PARKING, __ATOMIC_SEQ_CST);
	if (t->pending & PENDING_SIGNAL)
		mask = t->signals.queued_mask;
	t->regs.pc = syspatch_leads(t->regs.pc); /* the controller found it natively there */
	end_measuring(t);
	signals_hand_over(t);
	t->pending = 0;
	t->leave_mask = (mask & ~NEVER_BLOCKED) | t->signals.blocked;
	SYS(__NR_sigaltstack, &t->signals.altstack, 0);
	rseq_restore(t);
	thread_note_end(t);
	__atomic_store_n(&t->parked, ST_PARKED, __ATOMIC_SEQ_CST);
	wait_for_controller();
	leave_alone(t);
}

void
leave_for_good(struct thread *t)
{
	uint64_t mask = signals_block_all();
	for_good = true;
	__atomic_store_n(&rt.results->control.detach.leaves, 1, __ATOMIC_SEQ_CST);
	rt.native.leaving = true;
	thread_park(t, mask);
}

void
leave_forget(struct thread *t)
{
	rt.native.leaving = for_good = false;
	t->native.leave_asked = false;
	t->native.leave_rounds = 0;
}
