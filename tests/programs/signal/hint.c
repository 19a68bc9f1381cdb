/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * 0f 0d with a register is a nop on some processors and raises SIGILL on others. Where it does, the
 * handler must see the flags from before it, though nothing behind it reads them: the same natively
 * and when blocks are counted where flags are dead.
 */
/* strobe-test: */
#include "signal/ucontext.h"

static void
on_illegal(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	printf("flags %#lx\n", get_reg(context, REG_EFL) & 0xcd5);
	set_reg(context, REG_RIP, get_reg(context, REG_RIP) + 3);
}

int
main(void)
{
	handle(SIGILL, on_illegal, 0);
	for (int i = 0; i < 3; i++)
		__asm__ volatile("pushq $0xad7; popfq\n"
		                 "jmp 1f\n"
		                 "1: .byte 0x0f, 0x0d, 0xda\n" /* prefetch edx, as it were */
		                 "xor %%eax, %%eax\n"
		                 "pushq $0x202; popfq\n" ::
		                         : "rax", "cc", "memory");
	puts("done");
	return 0;
}
