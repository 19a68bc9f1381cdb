/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rt/os/traced.h"

#include <asm/unistd.h>

#include "rt/jit/jit.h"
#include "rt/os/os.h"

enum {
	TRACEME = 0,
	GETREGS = 12,
	GETREGSET = 0x4204,
	NT_PRSTATUS = 1,
};

/* The kernel's user_regs_struct. */
struct user_regs {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax,
	        rip, cs, rflags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};

/* Without the lock: one that is stopped may hold it. */
static struct thread *
find_thread_unlocked(uint32_t tid)
{
	struct thread *o = rt.threads;
	while (o && (o->tid != tid || o->ended))
		o = o->next_thread;
	return o;
}

static void
machine_of(const struct user_regs *u, struct regs *r)
{
	*r = (struct regs){.r = {u->rax, u->rcx, u->rdx, u->rbx, u->rsp, u->rbp, u->rsi, u->rdi,
	                         u->r8, u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15},
	                   .rflags = u->rflags,
	                   .pc = u->rip};
}

static void
show_to_parent(struct user_regs *u, const struct regs *r)
{
	u->rax = r->r[RAX];
	u->rcx = r->r[RCX];
	u->rdx = r->r[RDX];
	u->rbx = r->r[RBX];
	u->rsp = r->r[RSP];
	u->rbp = r->r[RBP];
	u->rsi = r->r[RSI];
	u->rdi = r->r[RDI];
	u->r8 = r->r[R8];
	u->r9 = r->r[R9];
	u->r10 = r->r[R10];
	u->r11 = r->r[R11];
	u->r12 = r->r[R12];
	u->r13 = r->r[R13];
	u->r14 = r->r[R14];
	u->r15 = r->r[R15];
	u->rflags = r->rflags;
	u->rip = r->pc;
	u->gs_base = 0;
}

/* A stopped thread of this memory: where the program is, in place of where the engine is. */
static void
translate(struct thread *o, struct user_regs *u)
{
	struct regs machine;
	struct recovered at;
	machine_of(u, &machine);
	if (in_cache(u->rip)) {
		if (jit_recover(o, u->rip, &machine, &at) == 0)
			show_to_parent(u, &at.regs);
	} else if (signals_in_runtime(u->rip)) {
		if (o->state ==
		    THREAD_SYSCALL) { /* the kernel shows what is after the instruction */
			at.regs = o->regs;
			at.regs.pc += CALL_BYTES;
			at.regs.r[RAX] = u->rax;
			at.regs.r[RCX] = at.regs.pc;
			at.regs.r[R11] = at.regs.rflags;
			show_to_parent(u, &at.regs);
		} else {
			show_to_parent(u, &o->regs);
		}
	} else {
		u->gs_base = 0;
	}
}

static void
translate_at(struct thread *o, uint64_t address, uint64_t bytes)
{
	struct user_regs u;
	if (bytes < sizeof u || rt_copy_guarded(&u, (const void *)address, sizeof u))
		return;
	translate(o, &u);
	rt_copy_guarded((void *)address, &u, sizeof u);
}

/* From now on the kernel shows each signal of the process to its parent, which may swallow it, and
 * the parent sees and changes registers and code: none of that may be the engine's. */
static _Noreturn void
leave_to_parent(struct thread *t)
{
	rt_note_fallback(t->regs.pc, ST_FALLBACK_TRACED);
	os_native_forever(t);
}

long
sys_ptrace(struct thread *t)
{
	const uint64_t *r = t->regs.r;
	uint64_t request = r[RDI], address = r[R10], area[2] = {0, sizeof(struct user_regs)};
	if (request == TRACEME && !t->own_process)
		leave_to_parent(t);
	long ret = syscall_plain(t);
	bool set = request == GETREGSET && r[RDX] == NT_PRSTATUS;
	struct thread *o = NULL;
	if (ret == 0 && (request == GETREGS || set))
		o = find_thread_unlocked((uint32_t)r[RSI]);
	if (!o)
		return ret;
	if (!set)
		area[0] = address;
	else if (rt_copy_guarded(area, (const void *)address, sizeof area))
		return ret;
	translate_at(o, area[0], area[1]);
	return ret;
}
