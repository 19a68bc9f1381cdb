/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <asm/unistd.h>

#include "rt/os/os.h"

/* 0 free, 1 held, 2 held and waited for. Waiters of other processes that share the memory (vfork)
 * sleep too, so the futex is not private. */
void
rt_lock(uint32_t *lock)
{
	for (int spin = 0; spin < 200; spin++) {
		uint32_t free = 0;
		if (__atomic_compare_exchange_n(lock, &free, 1, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED))
			return;
		__asm__ volatile("pause");
	}
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0)
		SYS(__NR_futex, lock, 0 /* FUTEX_WAIT */, 2, 0);
}

/* The kernel would continue an interrupted nanosleep by restart_syscall, in place of the call in
 * which a process was attached. The filter of another process may not know ppoll. */
void
rt_pause(int64_t ns)
{
	int64_t pause[2] = {0, ns};
	if (rt.boot->attached)
		SYS(__NR_ppoll, 0, 0, pause, 0, 8);
	else
		SYS(__NR_nanosleep, pause, 0);
}

void
rt_must(bool holds, const char *what, uint64_t where)
{
	if (holds || !rt.stress)
		return;
	rt_complain(what, where);
	SYS(__NR_kill, SYS(__NR_getpid), SIGNAL_KILL);
}

void
rt_must_hold(const uint32_t *lock)
{
	rt_must(__atomic_load_n(lock, __ATOMIC_RELAXED), "a lock is not held at", (uint64_t)lock);
}

void
rt_unlock(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		SYS(__NR_futex, lock, 1 /* FUTEX_WAKE */, 1);
}
