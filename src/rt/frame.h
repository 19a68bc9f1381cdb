/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel's signal frame on x86-64, as it lies on the stack when a handler starts. */
#ifndef STROBE_RT_FRAME_H
#define STROBE_RT_FRAME_H

#include "rt/rt.h"

struct sigcontext64 {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
	        rflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
};

struct ucontext64 {
	uint64_t flags, link;
	struct kstack stack;
	struct sigcontext64 mc;
	uint64_t sigmask;
};

struct sigframe {
	uint64_t restorer;
	struct ucontext64 uc;
	struct siginfo info;
};
_Static_assert(sizeof(struct siginfo) == 128, "siginfo");
_Static_assert(sizeof(struct ucontext64) == 304, "ucontext");
_Static_assert(sizeof(struct sigframe) == 440, "frame");

static inline void
regs_from_context(struct regs *r, const struct sigcontext64 *c)
{
	*r = (struct regs){.r = {c->rax, c->rcx, c->rdx, c->rbx, c->rsp, c->rbp, c->rsi, c->rdi,
	                         c->r8, c->r9, c->r10, c->r11, c->r12, c->r13, c->r14, c->r15},
	                   .rflags = c->rflags,
	                   .pc = c->rip};
}

static inline void
regs_to_context(const struct regs *r, struct sigcontext64 *c)
{
	c->rax = r->r[RAX];
	c->rcx = r->r[RCX];
	c->rdx = r->r[RDX];
	c->rbx = r->r[RBX];
	c->rsp = r->r[RSP];
	c->rbp = r->r[RBP];
	c->rsi = r->r[RSI];
	c->rdi = r->r[RDI];
	c->r8 = r->r[R8];
	c->r9 = r->r[R9];
	c->r10 = r->r[R10];
	c->r11 = r->r[R11];
	c->r12 = r->r[R12];
	c->r13 = r->r[R13];
	c->r14 = r->r[R14];
	c->r15 = r->r[R15];
	c->rflags = r->rflags;
	c->rip = r->pc;
}

/*
 * The place inside a basic block at which the program was stopped is kept in two words of its
 * signal frame that the kernel leaves alone. It is used only if the program returns to the same
 * address.
 */
static inline uint64_t
resume_seal(uint64_t packed, uint64_t pc)
{
	return (packed ^ pc * 0x9e3779b97f4a7c15ull) | 1;
}
static inline void
frame_keep_resume(struct sigcontext64 *c, const struct resume *r)
{
	bool kept = r->state == RESUME_SUSPENDED && r->pc == c->rip;
	uint64_t packed = (uint64_t)r->id << 32 | (uint64_t)r->insns << 16 |
	                  (uint64_t)r->actions << 8 | r->back;
	c->reserved[6] = kept ? packed : 0;
	c->reserved[7] = kept ? resume_seal(packed, r->pc) : 0;
}
static inline void
frame_find_resume(const struct sigcontext64 *c, struct resume *r)
{
	uint64_t packed = c->reserved[6];
	r->state = RESUME_NONE;
	if (!packed || c->reserved[7] != resume_seal(packed, c->rip))
		return;
	*r = (struct resume){.pc = c->rip,
	                     .id = (uint32_t)(packed >> 32),
	                     .insns = (uint16_t)(packed >> 16),
	                     .actions = (uint8_t)(packed >> 8),
	                     .back = (uint8_t)packed,
	                     .state = RESUME_SUSPENDED};
}

/* Bytes of the extended state that fpstate points to, trailing magic included; 512 for the bare
 * legacy form. */
static inline uint32_t
fpstate_size(const void *fpstate)
{
	uint32_t magic, size;
	memcpy(&magic, (const uint8_t *)fpstate + 464, 4);
	memcpy(&size, (const uint8_t *)fpstate + 468, 4);
	return magic == 0x46505853u && size >= 512 && size <= 16384 ? size : 512;
}

#endif
