/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of the program: their structures, their birth and their end. */
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/sched.h>

#include "rt/budget/budget.h"
#include "rt/budget/region.h"
#include "rt/budget/suppress.h"
#include "rt/jit/jit.h"
#include "rt/native/breakpoints.h"
#include "rt/native/native_run.h"
#include "rt/native/syspatch.h"
#include "rt/os/held.h"
#include "rt/os/kernel_writes.h"
#include "rt/os/os.h"
#include "rt/os/process.h"
#include "rt/os/sampling.h"
#include "rt/os/waiting.h"
#include "rt/tool/callbacks.h"
#include "rt/tool/tool.h"

_Static_assert(offsetof(struct thread, slot_rdx) == 8 && offsetof(struct thread, exit_id) == 24 &&
                       offsetof(struct thread, rt_sp) == 32 &&
                       offsetof(struct thread, self) == 40 && offsetof(struct thread, next) == 48 &&
                       offsetof(struct thread, pending) == 56 &&
                       offsetof(struct thread, state) == 60 &&
                       offsetof(struct thread, regs) == 64 &&
                       offsetof(struct thread, guard) == 208 &&
                       offsetof(struct thread, action) == 248,
               "stubs.S addresses these fields");
_Static_assert(offsetof(struct thread, slot_spill) == THREAD_SLOT_SPILL,
               "emitted code addresses it");
_Static_assert(THREAD_RUNTIME == 0 && THREAD_CACHE == 1 && THREAD_SYSCALL == 2 &&
                       THREAD_NATIVE_RUN == 5,
               "stubs.S writes these states");
_Static_assert(offsetof(struct thread, state) == offsetof(struct st_thread_head, state) &&
                       offsetof(struct thread, regs) == offsetof(struct st_thread_head, regs) &&
                       offsetof(struct thread, leave_mask) ==
                               offsetof(struct st_thread_head, mask) &&
                       offsetof(struct thread, parked) == offsetof(struct st_thread_head, parked) &&
                       offsetof(struct thread, tid) == offsetof(struct st_thread_head, tid) &&
                       offsetof(struct thread, restart) ==
                               offsetof(struct st_thread_head, restart) &&
                       offsetof(struct thread, miss) == offsetof(struct st_thread_head, miss) &&
                       (int)THREAD_SYSCALL == (int)ST_HEAD_SYSCALL &&
                       (int)THREAD_NATIVE == (int)ST_HEAD_NATIVE,
               "the controller reads these fields");
_Static_assert(sizeof(struct thread) < ST_THREAD_PRIVATE, "a thread's private part");

enum {
	COUNTERS_BYTES = ST_MAX_BLOCKS * 8,
	AREA_BYTES = ST_THREAD_PRIVATE + COUNTERS_BYTES,
	E_INTR = 4,
	E_FAULT = 14,
	E_INVAL = 22,
};

/* A thread whose creation failed for lack of memory. Its memory is kept for the next one. */
static struct thread *unfinished;

static struct st_thread *
thread_record(const struct thread *t)
{
	return (struct st_thread *)((char *)rt.results + rt.results->layout.off_threads) +
	       t->record;
}

static uint64_t *
counters_of_slot(uint32_t slot)
{
	return (uint64_t *)((char *)rt.results + rt.results->layout.off_counters +
	                    slot * rt.results->layout.counters_stride);
}

/* Maps the counters of a slot after the thread's private part: the same memory as in the results.
 */
static bool
map_counters(uint64_t area, uint32_t slot)
{
	/* An old size of 0 makes mremap map shared memory a second time. */
	long p = SYS(__NR_mremap, counters_of_slot(slot), 0, COUNTERS_BYTES,
	             3 /* MAYMOVE | FIXED */, area + ST_THREAD_PRIVATE);
	return !sys_failed(p);
}

static bool
map_stacks(struct thread *t)
{
	char *p = rt_map_memory(THREAD_STACKS);
	if (!p)
		return false;
	SYS(__NR_mprotect, p, 4096, PROT_NONE);
	SYS(__NR_mprotect, p + 4096 + RT_SIG_STACK_BYTES, 4096, PROT_NONE);
	rt_count_memory(0, -8192); /* the guards */
	t->stacks.signal = (uint64_t)p + 4096;
	t->stacks.base = (uint64_t)p + 8192 + RT_SIG_STACK_BYTES;
	t->rt_sp = t->stacks.base + RT_STACK_BYTES;
	return true;
}

uint64_t
thread_stacks(const struct thread *t)
{
	return t->stacks.signal - 4096;
}

static void
new_record(struct thread *t)
{
	uint32_t i = __atomic_fetch_add(&rt.results->threads.n, 1, __ATOMIC_RELAXED);
	if (i >= ST_MAX_THREADS)
		i = ST_MAX_THREADS - 1;
	t->record = i;
	*thread_record(t) =
	        (struct st_thread){.state = ST_THREAD_LIVE, .slot = t->slot, .tsc_begin = rt_tsc()};
}

/* Runs on the thread itself. */
static void
thread_begin(struct thread *t)
{
	t->tid = (uint32_t)SYS(__NR_gettid);
	thread_record(t)->tid = t->tid;
	SYS(__NR_prctl, 16 /* PR_GET_NAME */, thread_record(t)->name);
	thread_choose(t);
	native_run_begin(t);
	budget_begin(t, t == rt.main && (uint32_t)SYS(__NR_getppid) == rt.boot->controller);
	sampling_reset(t);
	signals_set_stack(t);
	waiting_begin_thread(t);
}

static void
enlist(struct thread *t)
{
	rt_lock(&rt.thread_lock);
	t->next_thread = rt.threads;
	rt.threads = t;
	rt_unlock(&rt.thread_lock);
}

/* A thread that was running: where it was, and what it has given the kernel. */
static void
take_over(struct thread *t, const struct st_attached *from)
{
	for (int i = 0; i < 16; i++)
		t->regs.r[i] = from->regs[i];
	t->regs.rflags = from->rflags;
	t->regs.pc = from->pc;
	t->signals.queued_mask = from->mask;
	t->kernel.rseq = (struct rseq_area){from->rseq, from->rseq_bytes, from->rseq_signature};
	t->restart = from->restart;
}

/* The same, by the thread itself. */
static void
take_over_own(struct thread *t)
{
	SYS(__NR_sigaltstack, 0, &t->signals.altstack);
	SYS(__NR_prctl, 40 /* PR_GET_TID_ADDRESS */, &t->kernel.clear_tid);
	if (t->kernel.rseq.at)
		SYS(__NR_rseq, t->kernel.rseq.at, t->kernel.rseq.bytes,
		    1 /* RSEQ_FLAG_UNREGISTER */, t->kernel.rseq.signature);
}

void
thread_adopt_main(struct thread *t, const struct st_attached *from)
{
	t->self = t;
	t->miss = (uint64_t)rt_stub_miss;
	t->slot = 1;
	t->signals.table = &rt.sigtab;
	t->signals.altstack.flags = 2; /* SS_DISABLE */
	if (from) {
		take_over(t, from);
		take_over_own(t);
	}
	if (rt.results->threads.n_slots < 2)
		rt.results->threads.n_slots = 2;
	map_counters((uint64_t)t, 1);
	map_stacks(t);
	new_record(t);
	enlist(t);
	SYS(__NR_arch_prctl, 0x1001 /* ARCH_SET_GS */, t);
	thread_begin(t);
}

/* Threads whose structures may be used again: most often nobody has to look for one. */
static uint32_t n_ended;

void
thread_become_only(struct thread *t)
{
	n_ended = 0;
	t->slot = 1;
	rt.results->threads.n_slots = 2;
	if (unfinished)
		unfinished->slot = 0; /* it was one of the parent's results */
	map_counters((uint64_t)t, 1);
	new_record(t);
	t->next_thread = NULL;
	rt.threads = t;
	rt.thread_lock = rt.lock = t->signals.table->lock = 0;
	t->pending = 0;
	t->native.stop_sent = false;
	thread_begin(t);
	sampling_start(t);
}

static void
set_ended(struct thread *t)
{
	t->ended = true;
	__atomic_fetch_add(&n_ended, 1, __ATOMIC_RELAXED);
}

/* A thread that has ended cannot free the stack it ends on: the next one that is born takes its
 * place. */
static struct thread *
reuse_ended(void)
{
	long pid = SYS(__NR_getpid);
	if (!__atomic_load_n(&n_ended, __ATOMIC_RELAXED))
		return NULL;
	rt_lock(&rt.thread_lock);
	struct thread *found = NULL;
	for (struct thread **p = &rt.threads; *p; p = &(*p)->next_thread) {
		struct thread *t = *p;
		if (t == rt.main || t->state != THREAD_NATIVE || !t->ended ||
		    SYS(__NR_tgkill, pid, t->tid, 0) != -3 /* ESRCH */)
			continue;
		*p = t->next_thread;
		__atomic_fetch_sub(&n_ended, 1, __ATOMIC_RELAXED);
		found = t;
		break;
	}
	rt_unlock(&rt.thread_lock);
	return found;
}

static struct thread *
new_area(void)
{
	struct thread *t = rt_map_memory(AREA_BYTES);
	if (!t)
		return NULL;
	/* Its counters will be the results', which are not forked unless children are followed. */
	rt_count_memory(0, -COUNTERS_BYTES);
	if (!rt.follow)
		__atomic_fetch_add(&rt_memory.space_not_forked, COUNTERS_BYTES, __ATOMIC_RELAXED);
	return t;
}

static bool
finish_thread(struct thread *t)
{
	if (!t->slot) {
		uint32_t slot =
		        __atomic_fetch_add(&rt.results->threads.n_slots, 1, __ATOMIC_RELAXED);
		if (slot >= ST_MAX_SLOTS) {
			__atomic_fetch_sub(&rt.results->threads.n_slots, 1, __ATOMIC_RELAXED);
			return false;
		}
		t->slot = slot;
	}
	return (t->rt_sp || map_stacks(t)) && map_counters((uint64_t)t, t->slot);
}

static struct thread *
make_thread(void)
{
	struct thread *t = __atomic_exchange_n(&unfinished, NULL, __ATOMIC_SEQ_CST);
	if (!t)
		t = new_area();
	if (!t || finish_thread(t))
		return t;
	/* Two that fail at once: the first is lost. */
	__atomic_store_n(&unfinished, t, __ATOMIC_SEQ_CST);
	return NULL;
}

struct thread *
thread_new(void)
{
	struct thread *t = reuse_ended();
	if (t) {
		struct thread_stacks stacks = t->stacks;
		struct thread_streams streams = {0};
		uint32_t slot = t->slot;
		memcpy(streams.buffers, t->tools.streams.buffers, sizeof streams.buffers);
		memset(t, 0, sizeof *t);
		t->stacks = stacks;
		t->rt_sp = stacks.base + RT_STACK_BYTES;
		t->tools.streams = streams;
		t->slot = slot;
	} else {
		t = make_thread();
		if (!t)
			return NULL;
	}
	t->self = t;
	t->miss = (uint64_t)rt_stub_miss;
	t->signals.altstack.flags = 2;
	new_record(t);
	return t;
}

struct thread *
thread_adopt(const struct st_attached *from)
{
	struct thread *t = thread_new();
	if (!t)
		return NULL;
	take_over(t, from);
	t->tid = from->tid;
	t->signals.table = &rt.sigtab;
	enlist(t);
	return t;
}

/* A thread that is only to stay out of the cache may make a system call: it is asked again, if need
 * be, before it enters the cache. */
static long
call_beside_stop(struct thread *t)
{
	long ret;
	do {
		__atomic_fetch_and(&t->pending, ~(uint32_t)PENDING_STOP, __ATOMIC_SEQ_CST);
		ret = rt_app_syscall(t);
	} while (ret == -NOT_BEGUN && t->pending == PENDING_STOP);
	return ret;
}

/* A call that goes on by restart_syscall does so only until a signal handler returns: at once,
 * then, and not by way of the cache. */
void
thread_continue_call(struct thread *t)
{
	if (t->regs.r[RAX] != __NR_restart_syscall || !t->restart)
		return;
	t->call.may_sleep = true;
	long ret = call_beside_stop(t);
	t->call.may_sleep = false;
	if (ret == -NOT_BEGUN || ret == -E_INTR) { /* a handler came in between: the whole call */
		t->regs.r[RAX] = t->restart;
		t->restart = 0;
		return;
	}
	t->restart = 0;
	t->regs.pc += 2;
	t->regs.r[RAX] = (uint64_t)ret;
	t->regs.r[RCX] = t->regs.pc;
	t->regs.r[R11] = t->regs.rflags;
}

void rt_attached(struct thread *t);

/* Called from rt_attach_entry, every signal blocked. */
void
rt_attached(struct thread *t)
{
	clock_find();
	take_over_own(t);
	thread_begin(t);
	signals_block_all(); /* but those of faults, which tools may have */
	callback_thread_begin(t);
	gap_begin(t); /* what it has done before is a gap */
	sampling_start(t);
	if (rt.native.leaving)
		__atomic_fetch_or(&t->pending, PENDING_LEAVE, __ATOMIC_SEQ_CST);
	signals_begin(t, t->signals.queued_mask);
	thread_continue_call(t);
}

void
thread_note_end(struct thread *t)
{
	SYS(__NR_prctl, 16, thread_record(t)->name);
	thread_record(t)->tsc_end = rt_tsc();
	budget_end(t);
}

void
thread_retire(struct thread *t)
{
	uint64_t *own = thread_counter(t, 0), *sum = counters_of_slot(0);
	uint32_t n = rt.results->blocks.n;
	if (rt.code.counting) {
		for (uint32_t i = ST_FIRST_ID; i < n; i++) {
			if (!own[i])
				continue;
			__atomic_fetch_add(&sum[i], own[i], __ATOMIC_RELAXED);
			own[i] = 0;
		}
	}
	/* The next thread with these counters may get nodes that were this one's. */
	walk_forget_guesses(t);
	thread_note_end(t);
	thread_record(t)->state = ST_THREAD_ENDED;
	thread_record(t)->slot = 0;
	sampling_stop(t);
}

void
sys_exit(struct thread *t)
{
	uint64_t code = t->regs.r[RDI];
	kernel_ends_thread(t);
	if (t->own_process) {
		set_ended(t);
		t->state = THREAD_NATIVE;
		for (;;)
			SYS(__NR_exit, code);
	}
	signals_block_all();
	held_forget(t);
	callback_thread_end(t);
	forest_end(t);
	thread_retire(t);
	set_ended(t);
	__atomic_store_n(&t->state, THREAD_NATIVE, __ATOMIC_SEQ_CST);
	for (;;)
		SYS(__NR_exit, code);
}

/* First code of a new thread, on its own runtime stack, every signal blocked. */
static void
thread_main(struct thread *t)
{
	thread_begin(t);
	callback_thread_begin(t);
	sampling_start(t);
	if (rt.native.leaving)
		__atomic_fetch_or(&t->pending, PENDING_LEAVE, __ATOMIC_SEQ_CST);
	signals_set_mask(t->signals.queued_mask);
	((void (*)(void))rt_stub_resume)();
	__builtin_unreachable();
}

struct clone_request {
	uint64_t flags, stack; /* stack: rsp of the child, 0: the parent's */
	uint64_t parent_tid, child_tid, tls;
	struct clone_args args; /* clone3 only */
	bool is3;
};

static long
read_request(struct thread *t, long nr, struct clone_request *q)
{
	const uint64_t *r = t->regs.r;
	*q = (struct clone_request){0};
	if (nr == __NR_fork || nr == __NR_vfork) {
		q->flags = 17 /* SIGCHLD */ | (nr == __NR_vfork ? CLONE_VM | CLONE_VFORK : 0);
		return 0;
	}
	if (nr == __NR_clone) {
		*q = (struct clone_request){.flags = r[RDI],
		                            .stack = r[RSI],
		                            .parent_tid = r[RDX],
		                            .child_tid = r[R10],
		                            .tls = r[R8]};
		return 0;
	}
	uint64_t size = r[RSI];
	if (size < 64 || size > sizeof q->args)
		return -E_INVAL;
	if (rt_copy_guarded(&q->args, (void *)r[RDI], size))
		return -E_FAULT;
	q->is3 = true;
	q->flags = q->args.flags;
	q->stack = q->args.stack ? q->args.stack + q->args.stack_size : 0;
	q->parent_tid = q->args.parent_tid;
	q->child_tid = q->args.child_tid;
	return 0;
}

static long
do_clone(long nr, struct clone_request *q, struct thread *child, uint64_t kernel_stack,
         void (*start)(struct thread *))
{
	if (q->is3) {
		/* The kernel gets some stack of ours for the child; the child goes to its own at
		 * once. */
		if (child && q->args.stack) {
			q->args.stack = child->stacks.base;
			q->args.stack_size = child->rt_sp - child->stacks.base;
		} else if (!child && q->args.stack) {
			q->args.stack = q->args.stack_size = 0;
		}
		return rt_clone(__NR_clone3, (long)&q->args, sizeof q->args, 0, 0, 0, child, start);
	}
	(void)nr;
	return rt_clone(__NR_clone, (long)q->flags, (long)kernel_stack, (long)q->parent_tid,
	                (long)q->child_tid, (long)q->tls, child, start);
}

/* A thread for which there is no space here may still be created natively. */
static long
clone_natively(struct thread *t, uint64_t mask)
{
	SYS(__NR_rt_sigprocmask, 2, &mask, 0, 8);
	rt_note_fallback(t->regs.pc, ST_FALLBACK_RESOURCES);
	os_native_forever(t);
}

/* The signal mask that a child begins with; `mask`: that of the thread before the call. */
static uint64_t
mask_of_child(const struct thread *t, uint64_t mask)
{
	return t->pending & PENDING_SIGNAL ? t->signals.queued_mask : mask;
}

/* The registers of a child when the call returns. */
static void
begin_child(struct regs *r, const struct clone_request *q)
{
	r->r[RAX] = 0;
	r->pc += CALL_BYTES;
	r->r[RCX] = r->pc;
	r->r[R11] = r->rflags;
	if (q->stack)
		r->r[RSP] = q->stack;
}

/* A thread, or a process that shares all memory and runs beside its parent. */
static long
clone_thread(struct thread *t, long nr, struct clone_request *q)
{
	if (!rt.target.threaded) {
		rt_lock(&rt.lock);
		rt.target.threaded = true;
		os_flush(t);
		rt_unlock(&rt.lock);
	}
	uint64_t mask = signals_block_all();
	limits_adjust(2 * AREA_BYTES);
	struct thread *c = thread_new();
	limits_adjust(0);
	if (!c)
		return clone_natively(t, mask);
	c->regs = t->regs;
	begin_child(&c->regs, q);
	c->kernel.clear_tid = q->flags & CLONE_CHILD_CLEARTID ? q->child_tid : 0;
	c->signals.blocked = t->signals.blocked;
	c->signals.queued_mask = mask_of_child(t, mask);
	c->own_process = !(q->flags & CLONE_THREAD);
	c->signals.table = t->signals.table;
	if (!(q->flags & CLONE_SIGHAND)) {
		c->own_sigtab = *t->signals.table;
		c->own_sigtab.lock = 0;
		c->signals.table = &c->own_sigtab;
	}
	enlist(c);
	/* Only now: a filter that another thread puts on all of them reaches both or is in ours. */
	rt_lock(&rt.thread_lock);
	c->kernel.filters = t->kernel.filters;
	rt_unlock(&rt.thread_lock);
	long ret = do_clone(nr, q, c, c->rt_sp, thread_main);
	if (ret < 0) {
		set_ended(c);
		c->tid = 0x7fffffff;
		c->state = THREAD_NATIVE;
	}
	SYS(__NR_rt_sigprocmask, 2, &mask, 0, 8);
	return ret;
}

/* A copy of the process. The child of an unfollowed fork goes on natively; a followed one under its
 * own engine. */
static long
clone_process(struct thread *t, long nr, struct clone_request *q)
{
	uint64_t mask = signals_block_all();
	if (rt.follow)
		streams_consume(t); /* the child's tools begin where the parent's are */
	rt_lock(&rt.lock);
	if (rt.follow && t->budget.suppressed.sp) { /* the child has all that is under way */
		suppress_end(t);
		gap_follow(t);
	}
	breakpoints_fork(t);
	long ret = do_clone(nr, q, NULL, 0, NULL);
	if (ret != 0) {
		rt_stat(ST_STAT_children, ret > 0 && !rt.follow);
		rt_unlock(&rt.lock);
		SYS(__NR_rt_sigprocmask, 2, &mask, 0, 8);
		return ret;
	}
	rt.lock = 0;
	sampling_leave_parent(t, q->flags & CLONE_FILES);
	held_restart();
	if (q->stack)
		t->regs.r[RSP] = q->stack;
	mask = mask_of_child(t, mask);
	t->pending = 0;
	t->native.stop_sent = false;
	if (rt.follow && process_follow_fork(t)) {
		signals_set_mask(mask);
		return 0;
	}
	begin_child(&t->regs, q);
	pages_release();
	syspatches_remove();
	limits_leave_child();
	/* The controller waits until all have closed our end. */
	if (rt.boot->channel && !(q->flags & CLONE_FILES))
		SYS(__NR_close, rt.boot->channel);
	rseq_restore(t);
	signals_restore_native(t, mask);
	rt_go_native_forever(t);
}

/* First code of a vfork's child, on the lower half of its sleeping parent's runtime stack. */
static void
vfork_main(struct thread *t)
{
	t->tid = (uint32_t)SYS(__NR_gettid); /* whom to stop while the parent sleeps */
	signals_set_mask(t->signals.queued_mask);
	((void (*)(void))rt_stub_resume)();
	__builtin_unreachable();
}

/* Restores the state that a thread shared with the child of its vfork. */
struct vfork_parent {
	struct regs regs;
	struct thread_signals signals;
	struct thread_kernel kernel;
	struct thread_native native;
	struct thread_call call;
	struct thread_clock clock;
	uint64_t rt_sp;
	uint32_t pending, tid;
	bool own_process;
};

static struct vfork_parent
vfork_begin(struct thread *t, uint64_t mask, const struct clone_request *q, struct sigtab *table)
{
	struct vfork_parent parent = {.regs = t->regs,
	                              .signals = t->signals,
	                              .kernel = t->kernel,
	                              .native = t->native,
	                              .call = t->call,
	                              .clock = budget_vfork_begin(t),
	                              .rt_sp = t->rt_sp,
	                              .pending = t->pending,
	                              .tid = t->tid,
	                              .own_process = t->own_process};
	t->signals.queued_mask = mask_of_child(t, mask);
	t->signals.table = table;
	t->own_process = true;
	t->pending = 0;
	t->native.stop_sent = false;
	begin_child(&t->regs, q);
	t->rt_sp = (t->rt_sp - RT_STACK_BYTES / 2) & ~15ull;
	return parent;
}

static void
vfork_end(struct thread *t, const struct vfork_parent *parent)
{
	t->regs = parent->regs;
	t->signals = parent->signals;
	t->kernel = parent->kernel;
	t->native = parent->native;
	t->call = parent->call;
	t->rt_sp = parent->rt_sp;
	t->tid = parent->tid;
	t->own_process = parent->own_process;
	budget_vfork_end(t, parent->clock);
	t->resume.state = RESUME_NONE; /* where the child was stopped, if it was */
	t->state = THREAD_RUNTIME;
	/* Those who wait for the thread still do; requests to the child are dropped. */
	__atomic_fetch_and(&t->pending, PENDING_STOP, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&t->pending, parent->pending, __ATOMIC_SEQ_CST);
}

/* vfork: the child runs on its parent's thread structure while the parent sleeps, until it calls
 * execve or ends. */
static long
clone_vfork(struct thread *t, long nr, struct clone_request *q)
{
	uint64_t mask = signals_block_all();
	/* On the runtime's stack, which the child does not reach. */
	struct sigtab table = *t->signals.table;
	table.lock = 0;
	struct vfork_parent parent = vfork_begin(t, mask, q, &table);
	long ret = do_clone(nr, q, t, t->rt_sp, vfork_main);
	vfork_end(t, &parent);
	rt_lock(&rt.lock);
	rt_stat(ST_STAT_children, ret > 0 && !rt.follow);
	rt_unlock(&rt.lock);
	SYS(__NR_rt_sigprocmask, 2, &mask, 0, 8);
	return ret;
}

long
sys_clone(struct thread *t, long nr)
{
	struct clone_request q;
	long bad = read_request(t, nr, &q);
	if (bad)
		return bad;
	kernel_stores_ids(q.parent_tid, q.child_tid);
	if (!(q.flags & CLONE_VM))
		return clone_process(t, nr, &q);
	if (q.flags & CLONE_VFORK)
		return clone_vfork(t, nr, &q);
	return clone_thread(t, nr, &q);
}
