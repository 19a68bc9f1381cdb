/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls of the program. Most pass straight through; the few that matter to the engine are
 * seen first. */
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/prctl.h>

#include "rt/budget/budget.h"
#include "rt/budget/region.h"
#include "rt/budget/share.h"
#include "rt/jit/jit.h"
#include "rt/native/native_run.h"
#include "rt/native/syspatch.h"
#include "rt/os/held.h"
#include "rt/os/kernel_writes.h"
#include "rt/os/os.h"
#include "rt/os/process.h"
#include "rt/os/sandbox.h"
#include "rt/os/traced.h"
#include "rt/os/waiting.h"
#include "rt/tool/callbacks.h"
#include "rt/tool/tool.h"

enum { E_BADF = 9, E_NOMEM = 12, E_FAULT = 14, E_INVAL = 22, NR_MSEAL = 462 };

long
syscall_plain(struct thread *t)
{
	uint64_t nr = t->regs.r[RAX];
	kernel_will_write(t);
	t->call.has_end |= nr == __NR_io_uring_setup || nr == __NR_set_tid_address;
	t->call.may_sleep = true;
	long ret = rt_app_syscall(t);
	t->call.may_sleep = false;
	if (ret == -E_FAULT && pages_used()) { /* see code_written */
		rt_lock(&rt.lock);
		pages_open(0, ~0ull);
		rt_unlock(&rt.lock);
		t->call.may_sleep = true;
		ret = rt_app_syscall(t);
		t->call.may_sleep = false;
	}
	kernel_has_answered(t, ret);
	return ret;
}

/* ENOMEM, because there are as many mappings as there may be, and some of them are made by write
 * protection? Then they are taken back, and the call can be made again. rt.lock held. */
static bool
mappings_given_back(struct thread *t, long ret)
{
	if (ret != -E_NOMEM || !pages_any_splits() || !maps_are_full())
		return false;
	os_flush_and_open(t);
	return true;
}

/* Calls that may wait for a signal descriptor, or read from it. */
static bool
may_see_signals(uint64_t nr)
{
	switch (nr) {
	case __NR_read:
	case __NR_readv:
	case __NR_poll:
	case __NR_select:
	case __NR_epoll_wait:
		return true;
	default:
		return false;
	}
}

static long
plain(struct thread *t)
{
	uint64_t open = may_see_signals(t->regs.r[RAX]) ? held_wanted(t) : 0;
	held_give_kernel(t, open);
	long ret = syscall_plain(t);
	held_take_from_kernel(t, open);
	return ret;
}

/* Memory maps: the kernel first, then what we know. The lock is held across both, so that no thread
 * translates code that is on its way out. */

static long
pass_once(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	return sys6((long)r[RAX], (long)r[RDI], (long)r[RSI], (long)r[RDX], (long)r[R10],
	            (long)r[R8], (long)r[R9]);
}

/* rt.lock held. */
static long
pass(struct thread *t)
{
	long ret = pass_once(t);
	return mappings_given_back(t, ret) ? pass_once(t) : ret;
}

static long
pass_unlocked(struct thread *t)
{
	long ret = pass_once(t);
	if (ret != -E_NOMEM || !pages_any_splits())
		return ret;
	rt_lock(&rt.lock);
	if (mappings_given_back(t, ret))
		ret = pass_once(t);
	rt_unlock(&rt.lock);
	return ret;
}

static long
mapped(struct thread *t, long ret)
{
	kernel_has_answered(t, ret);
	return ret;
}

static long
map_memory(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	uint64_t len = r[RSI];
	int prot = (int)r[RDX], flags = (int)r[R10];
	if ((flags & MAP_FIXED) && maps_own(r[RDI], len))
		return -E_INVAL;
	/* Only a fixed mapping can take code away, and only an executable one brings code. */
	if (!(flags & (MAP_FIXED | 0x100000 /* MAP_FIXED_NOREPLACE */)) && !(prot & PROT_EXEC))
		return mapped(t, pass_unlocked(t));
	rt_lock(&rt.lock);
	if (flags & MAP_FIXED)
		syspatches_forget(t, r[RDI], r[RDI] + len);
	long ret = pass(t);
	if (!sys_failed(ret))
		maps_mapped((uint64_t)ret, len, prot, flags, (int)r[R8], r[R9]);
	if (prot & PROT_EXEC)
		entries_ask();
	rt_unlock(&rt.lock);
	return mapped(t, ret);
}

/* After mlockall(MCL_FUTURE), of which the kernel does not know: it would lock the engine's memory,
 * too, which is large and mostly not there. */
static long
sys_mmap(struct thread *t)
{
	enum { E_AGAIN = 11 };
	uint64_t *r = t->regs.r, flags = r[R10];
	if (rt.locks_future == LOCK_WHOLE)
		r[R10] |= MAP_LOCKED;
	long ret = map_memory(t);
	r[R10] = flags;
	if (sys_failed(ret) || rt.locks_future != LOCK_ON_FAULT ||
	    SYS(__NR_mlock2, ret, r[RSI], 1 /* MLOCK_ONFAULT */) == 0)
		return ret;
	rt_lock(&rt.lock);
	if (SYS(__NR_munmap, ret, r[RSI]) == 0)
		maps_unmapped((uint64_t)ret, r[RSI]);
	rt_unlock(&rt.lock);
	return -E_AGAIN;
}

static long
sys_brk(struct thread *t)
{
	uint64_t want = t->regs.r[RDI], old = (uint64_t)SYS(__NR_brk, 0);
	long ret = pass_once(t);
	if ((uint64_t)ret < want && pages_any_splits()) {
		rt_lock(&rt.lock);
		if (mappings_given_back(t, -E_NOMEM))
			ret = pass_once(t);
		rt_unlock(&rt.lock);
	}
	uint64_t from = (old + 4095) & ~4095ull;
	if (!rt.locks_future || (uint64_t)ret <= from)
		return ret;
	bool on_fault = rt.locks_future == LOCK_ON_FAULT;
	if (SYS(__NR_mlock2, from, (uint64_t)ret - from, on_fault) != 0)
		ret = SYS(__NR_brk, old);
	return ret;
}

/*
 * Memory that the program does not know is the engine's, perhaps: some unmap, or protect, all that
 * they do not know. That succeeds, and is done for everything else.
 */
static long
around_own(struct thread *t, long (*make)(struct thread *t))
{
	uint64_t *r = t->regs.r, start = r[RDI], len = r[RSI];
	uint64_t end = (start + len + 4095) & ~4095ull, from, to;
	long ret = 0;
	if (!maps_own(start, len) || start & 4095 || end >> 47)
		return make(t);
	for (uint64_t at = start; at < end && ret == 0; at = to) {
		if (!maps_own_piece(at, end, &from, &to))
			from = to = end;
		r[RDI] = at;
		r[RSI] = from - at;
		if (from > at)
			ret = make(t);
	}
	r[RDI] = start;
	r[RSI] = len;
	return ret;
}

static long
sys_munmap(struct thread *t)
{
	uint64_t start = t->regs.r[RDI], len = t->regs.r[RSI];
	rt_lock(&rt.lock);
	syspatches_forget(t, start, start + len);
	long ret = pass(t);
	if (ret == 0)
		maps_unmapped(start, len);
	rt_unlock(&rt.lock);
	return ret;
}

static long
sys_mprotect(struct thread *t)
{
	uint64_t start = t->regs.r[RDI], len = t->regs.r[RSI];
	rt_lock(&rt.lock);
	if (t->regs.r[RDX] != (PROT_READ | PROT_EXEC))
		syspatches_forget(t, start, start + len);
	long ret = pass(t);
	if (ret == 0)
		maps_protected(start, len, (int)t->regs.r[RDX]);
	else if (ret == -12 /* ENOMEM: perhaps a part was changed */)
		maps_changed(start, len);
	rt_unlock(&rt.lock);
	return ret;
}

static long
sys_mremap(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	if (maps_own(r[RDI], r[RSI]) || ((r[R10] & MREMAP_FIXED) && maps_own(r[R8], r[RDX])))
		return -E_INVAL;
	rt_lock(&rt.lock);
	syspatches_forget(t, r[RDI], r[RDI] + r[RSI]);
	if (r[R10] & MREMAP_FIXED)
		syspatches_forget(t, r[R8], r[R8] + r[RDX]);
	pages_open(r[RDI], r[RDI] + r[RSI]); /* it must be one mapping */
	long ret = pass(t);
	if (!sys_failed(ret) && ((uint64_t)ret != r[RDI] || r[RDX] < r[RSI]))
		maps_moved(r[RDI], r[RSI], (uint64_t)ret, r[RDX]);
	rt_unlock(&rt.lock);
	return ret;
}

static long
sys_shmat(struct thread *t)
{
	long ret = pass_unlocked(t);
	if (!sys_failed(ret) && (t->regs.r[RDX] & 0x8000 /* SHM_EXEC */)) {
		rt_lock(&rt.lock);
		maps_refresh();
		rt_unlock(&rt.lock);
	}
	return ret;
}

/* Sealed pages stay open. */
static long
sys_mseal(struct thread *t)
{
	uint64_t start = t->regs.r[RDI], len = t->regs.r[RSI];
	rt_lock(&rt.lock);
	syspatches_forget(t, start, start + len);
	pages_open(start, start + len);
	long ret = pass(t);
	rt_unlock(&rt.lock);
	return ret;
}

/* The program's memory has other contents now, which no write has brought. */
static long
sys_madvise(struct thread *t)
{
	uint64_t start = t->regs.r[RDI], len = t->regs.r[RSI];
	bool changes = false;
	switch ((int)t->regs.r[RDX]) {
	case MADV_DONTNEED:
	case MADV_FREE:
	case MADV_REMOVE:
	case 24 /* MADV_DONTNEED_LOCKED */:
	case 102 /* MADV_GUARD_INSTALL */:
	case 23 /* MADV_POPULATE_WRITE: as if it were written */:
		changes = start + len > start && maps_overlap(start, start + len);
	}
	if (!changes)
		return pass_unlocked(t);
	rt_lock(&rt.lock);
	syspatches_forget(t, start, start + len);
	pages_open(start, start + len);
	long ret = pass(t);
	if (jit_has_code(start - 4096, start + len))
		jit_invalidate(start, start + len);
	rt_unlock(&rt.lock);
	return ret;
}

/* The engine's own tables are sparse: they must not be locked with the program's memory. */
static long
sys_mlockall(struct thread *t)
{
	enum { CURRENT = 1, FUTURE = 2, ON_FAULT = 4 };
	uint64_t flags = t->regs.r[RDI];
	if (!flags || flags & ~7ull || flags == ON_FAULT)
		return -E_INVAL;
	long ret = SYS(__NR_mlock, 0, 0); /* may it lock any memory? */
	if (ret != 0)
		return ret;
	rt_lock(&rt.lock);
	if (flags & CURRENT)
		ret = maps_lock_all(flags & ON_FAULT);
	if (ret == 0)
		rt.locks_future = !(flags & FUTURE)  ? LOCK_NOT
		                  : flags & ON_FAULT ? LOCK_ON_FAULT
		                                     : LOCK_WHOLE;
	rt_unlock(&rt.lock);
	return ret;
}

static long
sys_munlockall(struct thread *t)
{
	rt.locks_future = LOCK_NOT;
	return pass_once(t);
}

static long
sys_prctl(struct thread *t)
{
	enum {
		SET_NAME = 15,
		SET_SECCOMP = 22,
		SET_TSC = 26,
		TSC_SIGSEGV = 2,
		SET_USER_DISPATCH = 59
	};
	if (t->regs.r[RDI] == SET_USER_DISPATCH) /* the engine needs it itself: as an old kernel */
		return -E_INVAL;
	if (t->regs.r[RDI] == SET_SECCOMP)
		return sys_seccomp(t);
	if (t->regs.r[RDI] == SET_NAME && rt.results->plan.threads) {
		long ret = pass(t);
		thread_choose(t);
		return ret;
	}
	if (t->regs.r[RDI] != SET_TSC)
		return plain(t);
	bool before = rt_tsc_forbidden;
	rt_tsc_forbidden = true; /* between the two lines, too */
	t->call.has_end = true;
	long ret = plain(t);
	/* Each thread has its own setting: with several threads it stays forbidden. */
	rt_tsc_forbidden =
	        (ret == 0 && t->regs.r[RSI] == TSC_SIGSEGV) || (before && rt.target.threaded);
	if (rt_tsc_forbidden && !before) {
		rt_lock(&rt.lock);
		os_flush(t); /* code that reads the clock */
		rt_unlock(&rt.lock);
	}
	return ret;
}

static long
sys_arch_prctl(struct thread *t)
{
	enum { SET_GS = 0x1001, GET_GS = 0x1004 };
	if (t->regs.r[RDI] == SET_GS) {
		rt_note_fallback(t->regs.pc, ST_FALLBACK_GS);
		os_native_forever(t);
	}
	if (t->regs.r[RDI] == GET_GS) {
		uint64_t zero = 0;
		return rt_copy_guarded((void *)t->regs.r[RSI], &zero, 8) ? -E_FAULT : 0;
	}
	return pass_once(t);
}

/* Does the path end in "/mem", as that of a process's memory does? */
static bool
names_memory(uint64_t path)
{
	char buffer[64];
	if (rt_copy_guarded(buffer, (const void *)path, 6) || memcmp(buffer, "/proc/", 6) != 0)
		return false;
	for (size_t i = 6; i < sizeof buffer; i++) {
		if (rt_copy_guarded(buffer + i, (const void *)(path + i), 1))
			return false;
		if (!buffer[i])
			return i > 10 && memcmp(buffer + i - 4, "/mem", 4) == 0;
	}
	return false;
}

static long
sys_open(struct thread *t)
{
	if (!rt.writes_memory_file)
		rt.writes_memory_file =
		        names_memory(t->regs.r[RAX] == __NR_open ? t->regs.r[RDI] : t->regs.r[RSI]);
	if (rt.writes_memory_file && (rt.native.syspatches || rt.native.breakpoints)) {
		rt_lock(&rt.lock);
		syspatches_forget(t, 0, ~0ull);
		rt_unlock(&rt.lock);
	}
	return plain(t);
}

/* Writing to /proc/self/mem changes code whatever its protection. */
static long
sys_write(struct thread *t)
{
	t->call.has_end |= rt.writes_memory_file;
	long ret = plain(t);
	if (rt.writes_memory_file && ret > 0) {
		rt_lock(&rt.lock);
		jit_check_all();
		rt_unlock(&rt.lock);
	}
	return ret;
}

static long
system_call(struct thread *t)
{
	if (names_own_descriptor(t))
		return -E_BADF;
	switch (t->regs.r[RAX]) {
	case __NR_mmap:
		return sys_mmap(t);
	case __NR_open:
	case __NR_openat:
		return sys_open(t);
	case __NR_write:
	case __NR_pwrite64:
	case __NR_writev:
	case __NR_pwritev:
		return sys_write(t);
	case __NR_munmap:
		return around_own(t, sys_munmap);
	case __NR_mprotect:
	case __NR_pkey_mprotect:
		return around_own(t, sys_mprotect);
	case __NR_mremap:
		return sys_mremap(t);
	case NR_MSEAL:
		return sys_mseal(t);
	case __NR_madvise:
		return around_own(t, sys_madvise);
	case __NR_shmat:
		return sys_shmat(t);
	case __NR_rt_sigaction:
		return sys_sigaction(t);
	case __NR_rt_sigprocmask:
		return sys_sigprocmask(t);
	case __NR_rt_sigpending:
		return sys_sigpending(t);
	case __NR_rt_sigtimedwait:
		return sys_sigtimedwait(t);
	case __NR_rt_sigsuspend:
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return sys_masked(t);
	case __NR_signalfd:
	case __NR_signalfd4:
		return sys_signalfd(t);
	case __NR_rt_tgsigqueueinfo:
		return sys_tgsigqueueinfo(t);
	case __NR_ptrace:
		return sys_ptrace(t);
	case __NR_sigaltstack:
		return sys_sigaltstack(t);
	case __NR_rt_sigreturn:
		sys_sigreturn(t);
	case __NR_brk:
		return sys_brk(t);
	case __NR_mlockall:
		return sys_mlockall(t);
	case __NR_munlockall:
		return sys_munlockall(t);
	case __NR_prctl:
		return sys_prctl(t);
	case __NR_seccomp:
		return sys_seccomp(t);
	case __NR_arch_prctl:
		return sys_arch_prctl(t);
	case __NR_rseq:
		return sys_rseq(t);
	case __NR_clone:
	case __NR_clone3:
	case __NR_fork:
	case __NR_vfork:
		return sys_clone(t, (long)t->regs.r[RAX]);
	case __NR_execve:
	case __NR_execveat:
		return sys_exec(t);
	case __NR_exit:
		sys_exit(t);
	case __NR_exit_group:
		sys_exit_group(t);
	case __NR_close:
	case __NR_close_range:
	case __NR_dup:
	case __NR_fcntl:
	case __NR_getdents64:
	case __NR_dup2:
	case __NR_dup3:
		return sys_descriptor(t);
	case __NR_setrlimit:
	case __NR_getrlimit:
	case __NR_prlimit64:
		return sys_rlimit(t);
	default:
		return plain(t);
	}
}

/* As system_call, for a program that is under a seccomp filter. */
static long
sandboxed_call(struct thread *t)
{
	switch (sandbox_ask(t)) {
	case SANDBOX_ALLOWS:
		return system_call(t);
	case SANDBOX_ASKS:
		sandbox_leave(t);
	default:
		return plain(t);
	}
}

/* A thread that runs natively goes on there at once, unless the dispatcher has to see it. */
static void
go_on_after(struct thread *t)
{
	if (!t->native.in_call || rt.results->control.region_asked || !native_run_return(t))
		rt_dispatch_pc(t);
}

/* Calls in which servers and their helpers wait for each other. */
static bool
may_sleep(uint64_t nr)
{
	switch (nr) {
	case __NR_read:
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_accept:
	case __NR_accept4:
	case __NR_poll:
	case __NR_ppoll:
	case __NR_select:
	case __NR_pselect6:
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
	case __NR_futex:
	case __NR_semop:
	case __NR_semtimedop:
	case __NR_msgrcv:
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
	case __NR_pause:
	case __NR_wait4:
	case __NR_waitid:
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait:
		return true;
	default:
		return false;
	}
}

/* Tools are told of an execve by who makes it: sys_exec. */
static bool
begin_seeing(struct thread *t, strobe_syscall *seen)
{
	t->call.in_exec = t->regs.r[RAX] == __NR_execve || t->regs.r[RAX] == __NR_execveat;
	return !t->call.in_exec && callback_syscall_before(t, seen);
}

/* Tells them of the end. One that has not begun they are not told of again:
 * it will be made again, with what it was told. */
static void
end_seeing(struct thread *t, strobe_syscall *seen, bool wanted, long ret)
{
	if (ret == -NOT_BEGUN)
		return;
	if (t->call.in_exec) {
		wanted = t->call.exec_reported || callback_syscall_before(t, &t->call.exec);
		seen = &t->call.exec;
		t->call.exec_reported = false;
	}
	if (wanted)
		callback_syscall_after(t, seen, ret);
}

/* The program is about to make the system call before `after`. */
static void
make_syscall(struct thread *t, uint64_t after)
{
	rt_stat(ST_STAT_syscalls, 1);
	t->budget.audit.calls++;
	strobe_syscall seen;
	budget_work_begin(t);
	bool wanted = begin_seeing(t, &seen);
	budget_work_end(t);
	budget_call_begin(t, may_sleep(t->regs.r[RAX]));
	t->call.has_end = wanted || t->call.in_exec;
	t->signals.call_masked = false;
	t->signals.waits = 0;
	waiting_begin(t);
	long ret = t->kernel.filters ? sandboxed_call(t) : system_call(t);
	waiting_end(t);
	budget_call_end(t);
	budget_work_begin(t);
	end_seeing(t, &seen, wanted, ret);
	if (ret == -NOT_BEGUN) {
		rt_dispatch_pc(t); /* a signal waits: it comes first, then the call is made again */
		budget_work_end(t);
		return;
	}
	t->regs.r[RAX] = (uint64_t)ret;
	t->regs.r[RCX] = after;
	t->regs.r[R11] = SEEDED(18) ? 0x202 : t->regs.rflags;
	t->regs.pc = after;
	go_on_after(t);
	budget_work_end(t);
}

void
rt_dispatch_syscall(struct thread *t)
{
	uint64_t after = jit_exit_target(&jit.exits[(uint32_t)t->exit_id]);
	t->regs.pc = after - CALL_BYTES;
	t->resume.state = RESUME_NONE;
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	native_run_note_call(t, false);
	t->native.in_call = false;
	make_syscall(t, after);
}

void
rt_dispatch_trapped(struct thread *t)
{
	t->native.call_reported = false;
	t->resume.state = RESUME_NONE;
	native_run_note_call(t, true);
	t->native.in_call = true;
	make_syscall(t, t->regs.pc + CALL_BYTES);
}

void
rt_dispatch_syspatch(struct thread *t)
{
	uint64_t after = t->regs.r[RCX];
	t->native.in_call = true;
	t->regs.pc = after - CALL_BYTES;
	t->resume.state = RESUME_NONE;
	__atomic_store_n(&t->state, THREAD_RUNTIME, __ATOMIC_SEQ_CST);
	make_syscall(t, after);
}
