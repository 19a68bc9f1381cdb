/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A handler edits flags, registers, xmm and the stack pointer of the context it returns to; a
 * second one swaps whole contexts, so that sigreturn becomes a coroutine switch.
 */
/* strobe-test: */
#include "signal/ucontext.h"

uint64_t out[5], out_flags;
extern char edit_fault[], edit_after[];
void edit_run(void);

__asm__(".text\n.globl edit_run, edit_fault, edit_after\n"
        "edit_run: push %rbx; push %rbp\n"
        "xor %eax, %eax; mov $1, %ebx; mov $2, %ecx; mov $3, %edx; xorps %xmm5, %xmm5\n"
        "mov %rsp, %rbp\n"
        "edit_fault: ud2\n"
        "edit_after: pushfq; popq out_flags(%rip)\n"
        "mov %rax, out(%rip); mov %rbx, out+8(%rip); mov %rcx, out+16(%rip)\n"
        "mov %rdx, out+24(%rip); movq %xmm5, out+32(%rip)\n"
        "mov %rbp, %rsp; cld; pop %rbp; pop %rbx; ret\n");

static char other_stack[4096] __attribute__((aligned(16)));
static uint64_t new_flags;

static void
on_illegal(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig, (void)info;
	CHECK_EQ(get_reg(context, REG_RIP), (uintptr_t)edit_fault);
	set_reg(context, REG_RAX, 0x1111222233334444);
	set_reg(context, REG_RBX, 0x5555666677778888);
	set_reg(context, REG_RCX, (uint64_t)-1);
	set_reg(context, REG_RDX, 0);
	set_reg(context, REG_RSP, (uintptr_t)other_stack + 2048);
	set_reg(context, REG_EFL, new_flags);
	uc->uc_mcontext.fpregs->_xmm[5].element[0] = 0xcafe;
	set_reg(context, REG_RIP, (uintptr_t)edit_after);
}

static void
edit(void)
{
	handle(SIGILL, on_illegal, 0);
	for (unsigned i = 0; i < 64; i++) {
		new_flags = 0x202 | (i & 1) | (i & 2) << 1 | (i & 4) << 2 | (i & 8) << 3 |
		            (i & 16) << 3 | (i & 32) << 6 | (i & 1) << 10;
		edit_run();
		CHECK_EQ(out_flags & 0xcd5, new_flags & 0xcd5);
		CHECK_EQ(out[0], 0x1111222233334444);
		CHECK_EQ(out[1], 0x5555666677778888);
		CHECK_EQ(out[2], -1);
		CHECK_EQ(out[3], 0);
		CHECK_EQ(out[4], 0xcafe);
	}
}

/* Two loops; each signal swaps from one to the other through the contexts. */
static ucontext_t parked;
static struct _libc_fpstate parked_fp;
static volatile uint64_t steps[2];
static volatile int switches;

static void
on_switch(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	mcontext_t m = uc->uc_mcontext;

	(void)sig, (void)info;
	memcpy(uc->uc_mcontext.gregs, parked.uc_mcontext.gregs, sizeof m.gregs);
	memcpy(parked.uc_mcontext.gregs, m.gregs, sizeof m.gregs);
	memcpy(&parked_fp, m.fpregs, sizeof parked_fp);
	switches++;
}

static void
second(void)
{
	for (;;) {
		steps[1]++;
		raise_here(SIGUSR1);
	}
}

static void
swap(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	getcontext(&parked);
	parked.uc_mcontext.gregs[REG_RSP] = (long long)(uintptr_t)(stack + sizeof stack - 72);
	parked.uc_mcontext.gregs[REG_RIP] = (long long)(uintptr_t)second;
	parked.uc_mcontext.gregs[REG_EFL] = 0x202;
	parked.uc_mcontext.gregs[REG_CSGSFS] = 0x002b000000000033;
	handle(SIGUSR1, on_switch, SA_NODEFER);
	for (int i = 0; i < 2000; i++) {
		steps[0]++;
		raise_here(SIGUSR1);
	}
	CHECK_EQ(steps[1], 2000);
	CHECK_EQ(switches, 4000);
}

int
main(void)
{
	edit();
	swap();
	puts("edited contexts take effect");
	return 0;
}
