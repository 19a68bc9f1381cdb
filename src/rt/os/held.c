/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/os/held.h"

#include <asm/unistd.h>

#include "rt/frame.h"
#include "rt/jit/jit.h"
#include "rt/os/os.h"
#include "rt/os/sampling.h"

enum {
	E_INTR = 4,
	FIRST_REAL_TIME = 32,
	FIRST_BYTES = 16384,
	CODE_TKILL = -6,
	CODE_QUEUE = -1,
	SIG_BLOCK = 0,
	SIG_UNBLOCK = 1,
};

/* In the order of their arrival. */
struct held {
	struct siginfo info;
	const struct thread *thread; /* whose it is; NULL: the process's */
};

static struct {
	struct held *all;
	uint32_t n, bytes;
	uint32_t lock; /* inside of rt.thread_lock */
} held;

static bool
held_is_of(const struct held *h, const struct thread *t)
{
	return h->thread == t || (!h->thread && !t->own_process);
}

static bool
make_held_space(void)
{
	if ((held.n + 1) * sizeof *held.all <= held.bytes)
		return true;
	uint32_t bytes = held.bytes ? 2 * held.bytes : FIRST_BYTES;
	struct held *all = rt_map_memory(bytes);
	if (!all)
		return false;
	if (held.bytes) {
		memcpy(all, held.all, held.n * sizeof *all);
		rt_unmap_memory(held.all, held.bytes);
	}
	held.all = all;
	held.bytes = bytes;
	return true;
}

/* One of a standard signal is enough. */
static bool
is_double(int signo, const struct thread *owner)
{
	for (uint32_t i = 0; signo < FIRST_REAL_TIME && i < held.n; i++)
		if (held.all[i].info.signo == signo && held.all[i].thread == owner)
			return true;
	return false;
}

static void
keep_held(const struct siginfo *info, const struct thread *owner)
{
	if (!is_double(info->signo, owner) && make_held_space())
		held.all[held.n++] = (struct held){*info, owner};
}

static void
take_away(uint32_t at)
{
	held.n--;
	for (uint32_t i = at; i < held.n; i++)
		held.all[i] = held.all[i + 1];
}

static bool
send(const struct thread *to, const struct siginfo *info)
{
	uint32_t process = to->own_process ? to->tid : rt.pid;
	return SYS(__NR_rt_tgsigqueueinfo, process, to->tid, info->signo, info) == 0;
}

/* Another thread that takes a signal of the process at once; it may block it by the time that it
 * gets it, and then it comes here again. */
static const struct thread *
find_taker(const struct thread *t, int signo)
{
	uint64_t bit = SIGNAL_BIT(signo);
	const struct thread *waits = NULL;
	for (const struct thread *o = rt.threads; o; o = o->next_thread) {
		if (o == t || o->ended || o->own_process || !o->tid || o->parked ||
		    o->state == THREAD_NATIVE)
			continue;
		if (!(__atomic_load_n(&o->signals.blocked, __ATOMIC_RELAXED) & bit))
			return o;
		if (o->signals.waits & bit)
			waits = o;
	}
	return waits;
}

void
held_add(struct thread *t, const struct siginfo *info)
{
	bool of_thread = t->own_process || info->code == CODE_TKILL;
	rt_lock(&rt.thread_lock);
	rt_lock(&held.lock);
	const struct thread *taker = of_thread ? NULL : find_taker(t, info->signo);
	if (!taker || !send(taker, info))
		keep_held(info, of_thread ? t : NULL);
	rt_unlock(&held.lock);
	rt_unlock(&rt.thread_lock);
}

static uint64_t
pending_of(const struct thread *t)
{
	uint64_t set = 0;
	for (uint32_t i = 0; i < held.n; i++)
		if (held_is_of(&held.all[i], t))
			set |= SIGNAL_BIT(held.all[i].info.signo);
	return set;
}

uint64_t
held_pending(const struct thread *t)
{
	if (!__atomic_load_n(&held.n, __ATOMIC_RELAXED))
		return 0;
	rt_lock(&held.lock);
	uint64_t set = pending_of(t);
	rt_unlock(&held.lock);
	return set;
}

/* Sends the thread those of the set that are its own, then those of the process. What the kernel
 * does not take stays here. */
static void
send_set(struct thread *t, uint64_t set)
{
	for (int own = 1; own >= 0; own--)
		for (uint32_t i = 0; i < held.n;) {
			const struct held *h = &held.all[i];
			bool wanted = held_is_of(h, t) && (h->thread == t) == own &&
			              (set & SIGNAL_BIT(h->info.signo));
			if (wanted && send(t, &h->info))
				take_away(i);
			else
				i++;
		}
}

void
held_release(struct thread *t)
{
	uint64_t set = held_pending(t) & ~t->signals.blocked;
	if (!set)
		return;
	uint64_t all = ~0ull, mask; /* nothing interrupts who holds the lock */
	SYS(__NR_rt_sigprocmask, SIG_BLOCK, &all, &mask, 8);
	rt_lock(&held.lock);
	send_set(t, set);
	rt_unlock(&held.lock);
	SYS(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, 0, 8);
}

static void
remove_if(int signo, const struct thread *owner, bool whatever)
{
	rt_lock(&held.lock);
	for (uint32_t i = 0; i < held.n;) {
		const struct held *h = &held.all[i];
		if ((!signo || h->info.signo == signo) && (whatever || h->thread == owner))
			take_away(i);
		else
			i++;
	}
	rt_unlock(&held.lock);
}

void
held_drop(int signo)
{
	static const uint64_t now[2], trap = SIGNAL_BIT(SIGNAL_TRAP);
	remove_if(signo, NULL, true);
	/* The kernel does not know that it is ignored, but may block it. */
	while (signo == SIGNAL_TRAP && SYS(__NR_rt_sigtimedwait, &trap, 0, now, 8) > 0)
		;
}

void
held_forget(const struct thread *t)
{
	if (held.n)
		remove_if(0, t, false);
}

void
held_restart(void)
{
	held.n = held.lock = 0;
}

void
held_hand_over(struct thread *t)
{
	rt_lock(&held.lock);
	for (uint32_t i = 0; i < held.n;) {
		struct siginfo *info = &held.all[i].info;
		if (!held_is_of(&held.all[i], t)) {
			i++;
			continue;
		}
		if (held.all[i].thread)
			send(t, info);
		else
			SYS(__NR_rt_sigqueueinfo, rt.pid, info->signo, info);
		take_away(i);
	}
	rt_unlock(&held.lock);
}

/* A call whose mask is its own: the kernel's has been put back by then, unless a signal has
 * interrupted it. */
bool
held_blocks(const struct thread *t, int signo, const struct ucontext64 *uc)
{
	bool by_call = t->signals.call_masked && uc->mc.rip == (uint64_t)rt_sys_done &&
	               uc->mc.rax == (uint64_t)-E_INTR;
	return (by_call ? t->signals.call_blocked : t->signals.blocked) & SIGNAL_BIT(signo);
}

uint64_t
held_wanted(const struct thread *t)
{
	return t->signals.blocked ? (held_pending(t) | rt.signal_files) & t->signals.blocked : 0;
}

/* Takes those of the set that are pending in the kernel, whose mask blocks them. */
static void
take_pending(struct thread *t, uint64_t set)
{
	static const uint64_t now[2];
	struct siginfo info;
	while (SYS(__NR_rt_sigtimedwait, &set, &info, now, 8) > 0)
		if (!signals_take_own(t, &info))
			held_add(t, &info);
}

void
held_give_kernel(struct thread *t, uint64_t open)
{
	if (!open)
		return;
	SYS(__NR_rt_sigprocmask, SIG_BLOCK, &open, 0, 8);
	if (open & SIGNAL_BIT(SIGNAL_OWN)) {
		sampling_suspend(t);
		take_pending(t, SIGNAL_BIT(SIGNAL_OWN)); /* samples that came before that */
	}
	rt_lock(&held.lock);
	t->signals.waits = open;
	send_set(t, open);
	rt_unlock(&held.lock);
}

void
held_take_from_kernel(struct thread *t, uint64_t open)
{
	if (!open)
		return;
	rt_lock(&held.lock);
	t->signals.waits = 0;
	rt_unlock(&held.lock);
	take_pending(t, open);
	if (open & SIGNAL_BIT(SIGNAL_OWN))
		sampling_resume(t);
	if (t->pending & PENDING_SIGNAL) /* until it is delivered only faults may come */
		open &= SIGNAL_BIT(SIGNAL_SEGV) | SIGNAL_BIT(SIGNAL_BUS);
	SYS(__NR_rt_sigprocmask, SIG_UNBLOCK, &open, 0, 8);
}

/* ---- system calls ---- */

long
sys_sigpending(struct thread *t)
{
	uint64_t set = 0, size = t->regs.r[RSI], held_now = held_pending(t) & t->signals.blocked;
	if (!held_now || size > 8)
		return syscall_plain(t);
	long ret = SYS(__NR_rt_sigpending, &set, 8);
	set |= held_now;
	if (ret == 0 && rt_copy_guarded((void *)t->regs.r[RDI], &set, size))
		return -14 /* EFAULT */;
	return ret;
}

static uint64_t
clock_now(void)
{
	uint64_t now[2] = {0, 0};
	SYS(__NR_clock_gettime, 1 /* CLOCK_MONOTONIC */, now);
	return now[0] * 1000000000u + now[1];
}

/* The number that the runtime uses itself is among those waited for: what is its own is none of the
 * program's, and the wait goes on. */
static long
wait_beside_own(struct thread *t, uint64_t set)
{
	struct siginfo info;
	uint64_t rest[2] = {0, 0}, timeout = t->regs.r[RDX], to = t->regs.r[RSI], since = 0, ns = 0;
	if (timeout) {
		if (rt_copy_guarded(rest, (void *)timeout, sizeof rest) || rest[1] >= 1000000000u)
			return syscall_plain(t); /* the kernel says what is wrong with it */
		since = clock_now();
		ns = rest[0] > (1ull << 33) ? 1ull << 62 : rest[0] * 1000000000u + rest[1];
	}
	for (;;) {
		t->call.may_sleep = true;
		long ret = rt_app_wait(__NR_rt_sigtimedwait, &set, &info, timeout ? rest : NULL, 8);
		t->call.may_sleep = false;
		if (ret == SIGNAL_OWN && signals_take_own(t, &info)) {
			uint64_t used = timeout ? clock_now() - since : 0;
			rest[0] = used < ns ? (ns - used) / 1000000000u : 0;
			rest[1] = used < ns ? (ns - used) % 1000000000u : 0;
			continue;
		}
		if (ret > 0 && to && rt_copy_guarded((void *)to, &info, sizeof info))
			return -14 /* EFAULT */;
		return ret;
	}
}

long
sys_sigtimedwait(struct thread *t)
{
	uint64_t set;
	if (t->regs.r[R10] != 8 || rt_copy_guarded(&set, (void *)t->regs.r[RDI], 8))
		return syscall_plain(t);
	/* The kernel finds what comes of the engine's signal by the set; blocked, it would not
	 * reach a thread that is to leave. */
	uint64_t own = SIGNAL_BIT(SIGNAL_OWN);
	uint64_t open = t->signals.blocked & (~own | held_pending(t));
	held_give_kernel(t, open);
	if (t->signals.blocked & set & own) {
		rt_lock(&held.lock);
		t->signals.waits |= own;
		rt_unlock(&held.lock);
	}
	long ret = set & own ? wait_beside_own(t, set) : syscall_plain(t);
	t->signals.waits = 0;
	held_take_from_kernel(t, open);
	return ret;
}

/* The mask that the call has for the program; false: none. */
static bool
mask_of_call(const struct thread *t, uint64_t *mask)
{
	const uint64_t *r = t->regs.r;
	uint64_t at, size, pair[2];
	switch (r[RAX]) {
	case __NR_rt_sigsuspend:
		at = r[RDI];
		size = r[RSI];
		break;
	case __NR_ppoll:
		at = r[R10];
		size = r[R8];
		break;
	case __NR_pselect6:
		if (!r[R9] || rt_copy_guarded(pair, (void *)r[R9], sizeof pair))
			return false;
		at = pair[0];
		size = pair[1];
		break;
	default: /* epoll_pwait, epoll_pwait2 */
		at = r[R8];
		size = r[R9];
		break;
	}
	return at && size == 8 && rt_copy_guarded(mask, (void *)at, 8) == 0;
}

long
sys_masked(struct thread *t)
{
	uint64_t mask = 0, open = held_wanted(t);
	bool masked = mask_of_call(t, &mask);
	if (masked)
		open |= t->signals.blocked & ~mask; /* they come as soon as it lasts */
	held_give_kernel(t, open);
	t->signals.call_blocked = mask & NEVER_BLOCKED;
	t->signals.call_masked = masked;
	long ret = syscall_plain(t);
	t->signals.call_masked = false;
	held_take_from_kernel(t, open);
	return ret;
}

long
sys_signalfd(struct thread *t)
{
	uint64_t set;
	if (t->regs.r[RDX] == 8 && rt_copy_guarded(&set, (void *)t->regs.r[RSI], 8) == 0)
		__atomic_fetch_or(&rt.signal_files, set & NEVER_BLOCKED, __ATOMIC_RELAXED);
	return syscall_plain(t);
}

static struct thread *
find_thread(uint32_t tid)
{
	for (struct thread *o = rt.threads; o; o = o->next_thread)
		if (o->tid == tid && !o->ended && !o->own_process)
			return o;
	return NULL;
}

/* A signal sent to one thread cannot be told from one sent to the process when it arrives. */
long
sys_tgsigqueueinfo(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	struct siginfo info;
	uint64_t signo = r[RDX];
	bool kept = false;
	if ((uint32_t)r[RDI] != rt.pid || t->own_process || signo - 1 >= N_SIGNALS ||
	    !(NEVER_BLOCKED & SIGNAL_BIT(signo)) ||
	    rt_copy_guarded(&info, (void *)r[R10], sizeof info) || info.code != CODE_QUEUE)
		return syscall_plain(t);
	info.signo = (int)signo;
	uint64_t all = ~0ull, mask;
	SYS(__NR_rt_sigprocmask, SIG_BLOCK, &all, &mask, 8);
	rt_lock(&rt.thread_lock);
	rt_lock(&held.lock);
	const struct thread *to = find_thread((uint32_t)r[RSI]);
	kept = to && (to->signals.blocked & SIGNAL_BIT(signo)) &&
	       !(to->signals.waits & SIGNAL_BIT(signo));
	if (kept)
		keep_held(&info, to);
	rt_unlock(&held.lock);
	rt_unlock(&rt.thread_lock);
	SYS(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, 0, 8);
	return kept ? 0 : syscall_plain(t);
}
