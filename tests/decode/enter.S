/* SPDX-License-Identifier: GPL-3.0-or-later */
/* enter_at(const struct state *s, const void *code): sets every register and jumps to code, which ends in a trap. */
	.text
	.globl enter_at
	.type enter_at, @function
enter_at:
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu64 64 * \n(%rdi), %zmm\n
	.endr
	fninit
	movq %rsi, target(%rip)
	lea 1024(%rdi), %rdi
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq 128 + 8 * \n(%rdi), %k\n
	.endr
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	movq 8 * \n(%rdi), %r\n
	.endr
	pushq 192(%rdi)
	popfq
	movq (%rdi), %rax
	movq 8(%rdi), %rcx
	movq 16(%rdi), %rdx
	movq 24(%rdi), %rbx
	movq 32(%rdi), %rsp
	movq 40(%rdi), %rbp
	movq 48(%rdi), %rsi
	movq 56(%rdi), %rdi
	jmp *target(%rip)
	.size enter_at, . - enter_at

	.local target
	.comm target, 8, 8
	.section .note.GNU-stack, "", @progbits
