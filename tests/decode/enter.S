/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * enter_at(const struct state *s, const void *code): sets every register and jumps to code, which
 * ends in a trap. All vectors are ones, but for the index of gathers; so are all masks.
 */
	.text
	.globl enter_at
	.type enter_at, @function
enter_at:
	vpternlogd $0xff, %zmm0, %zmm0, %zmm0
	.irp n, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqa64 %zmm0, %zmm\n
	.endr
	vmovdqu64 (%rdi), %zmm6
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	kxnorq %k0, %k0, %k\n
	.endr
	fninit
	movq %rsi, target(%rip)
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	movq 64 + 8 * \n(%rdi), %r\n
	.endr
	movq 64(%rdi), %rax
	movq 72(%rdi), %rcx
	movq 80(%rdi), %rdx
	movq 88(%rdi), %rbx
	movq 96(%rdi), %rsp
	movq 104(%rdi), %rbp
	movq 112(%rdi), %rsi
	movq 120(%rdi), %rdi
	cld
	jmp *target(%rip)
	.size enter_at, . - enter_at

	.local target
	.comm target, 8, 8
	.section .note.GNU-stack, "", @progbits
