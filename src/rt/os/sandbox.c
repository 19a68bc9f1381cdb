/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seccomp. A filter of the program would also meet the runtime's own system calls. So it is given
 * to the kernel with a few instructions before it that let through what comes from the runtime's
 * text, except from the one place where the program's system calls are made unchanged. Calls that
 * the runtime makes in the program's stead, or emulates, are judged here first; when the filter
 * does not simply allow them they are made at that one place, and the kernel answers as it does
 * natively.
 */
#include <asm/unistd.h>
#include <linux/seccomp.h>

#include "rt/jit/jit.h"
#include "rt/lib/bpf.h"
#include "rt/os/os.h"
#include "rt/os/sandbox.h"

enum { X86_64 = 0xc000003e, PREFIX = 8, MOST = 4096, MODE_STRICT = 1, MODE_FILTER = 2 };

struct filter {
	struct filter *older; /* all of them are asked */
	uint32_t n;
	struct bpf_insn code[]; /* PREFIX, then the program's n */
};

struct program {
	uint16_t n;
	const struct bpf_insn *code;
};

/* The strictest answer of all filters. */
static uint32_t
judge_call(const struct thread *t, const struct seccomp_call *call)
{
	uint32_t worst = SECCOMP_RET_ALLOW;
	for (const struct filter *f = t->kernel.filters; f; f = f->older) {
		uint32_t said = bpf_run(f->code + PREFIX, f->n, call) & SECCOMP_RET_ACTION_FULL;
		if ((int32_t)said < (int32_t)worst)
			worst = said;
	}
	return worst;
}

enum sandbox_answer
sandbox_ask(const struct thread *t)
{
	const uint64_t *r = t->regs.r;
	const struct seccomp_call call = {(int32_t)r[RAX],
	                                  X86_64,
	                                  t->regs.pc + 2,
	                                  {r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]}};
	switch (judge_call(t, &call)) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return SANDBOX_ALLOWS;
	case SECCOMP_RET_TRACE:
	case SECCOMP_RET_USER_NOTIF:
		return SANDBOX_ASKS;
	default:
		return SANDBOX_FORBIDS;
	}
}

static bool
sandbox_allows(const struct thread *t, uint16_t number)
{
	const struct seccomp_call call = {.nr = number, .arch = X86_64};
	return judge_call(t, &call) == SECCOMP_RET_ALLOW;
}

bool
sandbox_bears_engine(const struct thread *t)
{
	static const uint16_t needed[] = {
	        __NR_read,         __NR_close,         __NR_lseek,        __NR_mmap,
	        __NR_mprotect,     __NR_munmap,        __NR_rt_sigaction, __NR_rt_sigprocmask,
	        __NR_rt_sigreturn, __NR_mremap,        __NR_madvise,      __NR_getpid,
	        __NR_sendmsg,      __NR_socketpair,    __NR_clone,        __NR_fcntl,
	        __NR_getppid,      __NR_sigaltstack,   __NR_prctl,        __NR_arch_prctl,
	        __NR_gettid,       __NR_futex,         __NR_sched_yield,  __NR_tgkill,
	        __NR_timer_create, __NR_timer_settime, __NR_timer_delete, __NR_openat,
	        __NR_prlimit64,    __NR_ftruncate,     __NR_memfd_create, __NR_rt_tgsigqueueinfo,
	        __NR_exit,         __NR_exit_group,    __NR_open,         __NR_readlink,
	        __NR_recvmsg,      __NR_clock_gettime, __NR_nanosleep,    __NR_newfstatat,
	        __NR_getxattr,     __NR_geteuid,       __NR_getegid,
	};
	for (unsigned i = 0; t->kernel.filters && i < sizeof needed / sizeof *needed; i++)
		if (!sandbox_allows(t, needed[i]))
			return false;
	return !rt.waiting.on || sandbox_allows(t, __NR_getrusage);
}

/* Before the program's filter: what the runtime does for itself is allowed. */
static void
write_prefix(struct bpf_insn *code)
{
	uint64_t start = rt.target.area + ST_AREA_RUNTIME; /* the image crosses no 4 GiB border */
	const struct bpf_insn prefix[PREFIX] = {
	        {0x20, 0, 0, 12}, /* the upper half of the address after the system call */
	        {0x15, 0, 5, (uint32_t)(start >> 32)},
	        {0x20, 0, 0, 8}, /* the lower half */
	        {0x35, 0, 3, (uint32_t)start},
	        {0x35, 2, 0, (uint32_t)rt.boot->runtime_end},
	        {0x15, 1, 0, (uint32_t)(uint64_t)rt_sys_done},
	        {0x06, 0, 0, SECCOMP_RET_ALLOW},
	        {0x00, 0, 0, 0}, /* A is 0 when a filter begins */
	};
	memcpy(code, prefix, sizeof prefix);
}

static uint64_t
filter_bytes(uint32_t n)
{
	return (sizeof(struct filter) + (n + PREFIX) * sizeof(struct bpf_insn) + 4095) & ~4095ull;
}

static void
discard(struct filter *f, uint32_t n)
{
	rt_unmap_memory(f, filter_bytes(n));
}

/* A copy of the program's filter, which it keeps at *from, or NULL. *refused: the kernel will not
 * take it either. */
static struct filter *
copy_filter(const struct thread *t, const struct program *from, bool *refused)
{
	*refused = !from->n || from->n > MOST;
	if (!from->n || from->n > MOST - PREFIX)
		return NULL;
	struct filter *f = rt_map_memory(filter_bytes(from->n));
	if (!f)
		return NULL;
	if (rt_copy_guarded(f->code + PREFIX, from->code, from->n * sizeof *from->code)) {
		discard(f, from->n);
		*refused = true;
		return NULL;
	}
	f->older = t->kernel.filters;
	f->n = from->n;
	write_prefix(f->code);
	return f;
}

static void
adopt(struct thread *t, struct filter *f, bool by_all)
{
	t->kernel.filters = f;
	if (!by_all)
		return;
	rt_lock(&rt.thread_lock);
	for (struct thread *o = rt.threads; o; o = o->next_thread)
		if (!o->own_process && !o->ended)
			o->kernel.filters = f;
	rt_unlock(&rt.thread_lock);
}

void
sandbox_leave(struct thread *t)
{
	rt_note_fallback(t->regs.pc, ST_FALLBACK_SECCOMP);
	os_native_forever(t);
}

/* Gives the kernel our copy in place of the program's filter. */
static long
install(struct thread *t, struct filter *f, uint64_t flags)
{
	uint64_t at = t->regs.r[RDX];
	struct program with_prefix = {(uint16_t)(f->n + PREFIX), f->code};
	t->regs.r[RDX] = (uint64_t)&with_prefix;
	long ret = rt_app_syscall(t);
	t->regs.r[RDX] = at;
	if (ret == 0 || (ret > 0 && (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER)))
		adopt(t, f, flags & SECCOMP_FILTER_FLAG_TSYNC);
	else
		discard(f, f->n);
	return ret;
}

static long
add_filter(struct thread *t, uint64_t flags)
{
	struct program from;
	bool refused;
	if (rt_copy_guarded(&from, (const void *)t->regs.r[RDX], sizeof from))
		return rt_app_syscall(t);
	struct filter *f = copy_filter(t, &from, &refused);
	if (f)
		return install(t, f, flags);
	if (refused)
		return rt_app_syscall(t);
	sandbox_leave(t); /* too long to be given our prefix, or no memory */
}

long
sys_seccomp(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	bool strict =
	        r[RAX] == __NR_seccomp ? r[RDI] == SECCOMP_SET_MODE_STRICT : r[RSI] == MODE_STRICT;
	bool filter =
	        r[RAX] == __NR_seccomp ? r[RDI] == SECCOMP_SET_MODE_FILTER : r[RSI] == MODE_FILTER;
	if (strict) /* lets through four system calls only */
		sandbox_leave(t);
	if (!filter)
		return rt_app_syscall(t);
	return add_filter(t, r[RAX] == __NR_seccomp ? r[RSI] : 0);
}
