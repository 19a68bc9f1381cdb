/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stopping the other threads, and leaving for native execution. */
#include <asm/unistd.h>

#include "rt/budget/region.h"
#include "rt/jit/jit.h"
#include "rt/native/breakpoints.h"
#include "rt/native/native_run.h"
#include "rt/native/syspatch.h"
#include "rt/os/os.h"
#include "rt/os/process.h"
#include "rt/tool/callbacks.h"

/* False when the thread is gone. */
static bool
send_stop(struct thread *o)
{
	struct siginfo info = {.signo = SIGNAL_OWN, .code = -1 /* SI_QUEUE */, .value = OWN_STOP};
	uint32_t process = o->own_process ? o->tid : rt.pid;
	__atomic_store_n(&o->native.stop_sent, true, __ATOMIC_SEQ_CST);
	const long failed = SYS(__NR_rt_tgsigqueueinfo, process, o->tid, SIGNAL_OWN, &info);
	if (failed)
		__atomic_store_n(&o->native.stop_sent, false, __ATOMIC_SEQ_CST);
	return failed != -3 /* ESRCH */;
}

/* Returns whether the thread needs a signal. One is enough for all who stop a thread that is not on
 * a CPU: otherwise thousands of threads would fill the queue of the user's signals. It is sent
 * again if the queue was full, or if it does not arrive for long: it may have been lost. */
static bool
needs_stop(const struct thread *o, int tries)
{
	enum { OFTEN = 1024, SELDOM = 1 << 16 };
	if (tries % OFTEN)
		return false;
	return !__atomic_load_n(&o->native.stop_sent, __ATOMIC_SEQ_CST) ||
	       (tries && tries % SELDOM == 0);
}

/* Is the thread where it does not see the lock? */
static bool
is_away(const struct thread *o, bool native)
{
	uint32_t state = __atomic_load_n(&o->state, __ATOMIC_SEQ_CST);
	return state == THREAD_CACHE || (native && state == THREAD_NATIVE_RUN);
}

/* Waits until no other thread is in the cache, nor (native) in the program's own code. They come
 * out to the dispatcher and wait there for rt.lock, which the caller holds. */
static void
stop_world(struct thread *t, bool native)
{
	rt_lock(&rt.thread_lock);
	for (struct thread *o = rt.threads; o; o = o->next_thread)
		if (o != t && !o->ended)
			__atomic_fetch_or(&o->pending, PENDING_STOP, __ATOMIC_SEQ_CST);
	for (struct thread *o = rt.threads; o; o = o->next_thread) {
		if (o == t || o->ended)
			continue;
		for (int tries = 0; is_away(o, native); tries++) {
			if (o->ended || (needs_stop(o, tries) && !send_stop(o)))
				break;
			SYS(__NR_sched_yield);
		}
	}
	rt_unlock(&rt.thread_lock);
}

void
os_stop_world(struct thread *t)
{
	rt_lock(&rt.lock);
	stop_world(t, false);
}

void
os_make_wait(struct thread *t)
{
	if (rt.target.threaded)
		stop_world(t, false);
}

void
os_make_all_wait(struct thread *t)
{
	if (rt.target.threaded)
		stop_world(t, true);
}

void
os_flush(struct thread *t)
{
	os_make_wait(t);
	if (!pages_have_space())
		pages_release();
	jit_reset();
	rt_stat(ST_STAT_flushes, 1);
}

void
os_flush_and_open(struct thread *t)
{
	os_flush(t);
	pages_release();
}

void
os_show_threads(struct thread *t)
{
	enum { MOST_TRIES = 100 };
	struct siginfo info = {.signo = SIGNAL_OWN, .code = -1 /* SI_QUEUE */, .value = OWN_SHOW};
	int64_t pause[2] = {0, 1000000};
	bool all = false, any = false;
	/* Not for ever, and without the lock: its holder may be about to die as well. */
	for (int tries = 0; !all && tries < MOST_TRIES; tries++) {
		all = true;
		for (struct thread *o = rt.threads; o; o = o->next_thread) {
			if (o == t || o->ended || !o->tid || o->own_process || o->native.shown ||
			    o->state == THREAD_NATIVE)
				continue;
			if (tries == 0)
				SYS(__NR_rt_tgsigqueueinfo, rt.pid, o->tid, SIGNAL_OWN, &info);
			all = false;
			any = true;
		}
		if (any) /* once more when all have said so: they are on their way */
			SYS(__NR_nanosleep, pause, 0);
	}
}

void
os_native_probe(struct thread *t)
{
	rt_lock(&rt.lock);
	breakpoints_take(t->regs.pc);
	rt_unlock(&rt.lock);
	/* There may be code after all, which makes system calls: without /proc nobody knows. */
	native_run_end(t);
	t->state = THREAD_PROBE;
	rt_go_native(t);
}

void
os_step(struct thread *t)
{
	uint64_t trap = SIGNAL_BIT(SIGNAL_TRAP), before = 0;
	if (t->native.user_dispatch) /* it may make a system call */
		native_run_end(t);
	SYS(__NR_rt_sigprocmask, 1 /* SIG_UNBLOCK */, &trap, &before, 8);
	t->native.step_blocked = before & trap;
	t->native.stepping = true;
	t->next = (uint64_t)rt_go_step;
}

void
os_native_forever(struct thread *t)
{
	rt_stat(ST_STAT_native_threads, 1);
	native_run_end(t);
	process_leaves(t);
	if (!t->own_process)
		leave_for_good(t);
	/* Memory and perhaps dispositions are its parent's: a signal brings it back for its
	 * handler. */
	gap_begin(t);
	if (rt.budget.exists) {
		rt_lock(&rt.lock);
		os_make_all_wait(t);
		breakpoints_remove();
		rt_unlock(&rt.lock);
	}
	t->state = THREAD_NATIVE;
	rt_go_native(t);
}
