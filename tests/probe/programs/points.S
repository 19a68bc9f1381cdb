/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * void p_state(struct state *s) (points.c): passes the begins of several basic blocks, and calls,
 * with all registers, the flags and the red zone as s says, and writes what they are then to s[1].
 */
	.text
	.set FLAGS, 128
	.set VECTORS, 136
	.set RED, 136 + 256
	.set SIZE, 136 + 256 + 128

	.macro each_register insn
	\insn 0, %rax
	\insn 8, %rcx
	\insn 16, %rdx
	\insn 24, %rbx
	\insn 40, %rbp
	\insn 48, %rsi
	\insn 64, %r8
	\insn 72, %r9
	\insn 80, %r10
	\insn 88, %r11
	\insn 96, %r12
	\insn 104, %r13
	\insn 112, %r14
	\insn 120, %r15
	.endm
	.macro load at, register
	mov \at(%rdi), \register
	.endm
	.macro store at, register
	mov \register, SIZE + \at(%rdi)
	.endm

	.globl p_state
	.type p_state, @function
	.p2align 4
p_state:
	.cfi_startproc
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rdi, kept(%rip)
	push FLAGS(%rdi)
	popfq
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov RED + 8 * \i(%rdi), %rax
	mov %rax, -8 - 8 * \i(%rsp)
	movdqu VECTORS + 16 * \i(%rdi), %xmm\i
	.endr
	each_register load
	mov 56(%rdi), %rdi
	jmp 1f
	.p2align 4
1:	lea 1(%rdi), %rdi
	jc 2f
	lea 2(%rdi), %rdi
2:	jo 3f
	lea -2(%rdi), %rdi
	jmp 4f
	.p2align 4
3:	mov %rdi, %rdi
	mov %rax, %rax
4:	js 5f
	nop /* too short for anything but an island */
5:	jmp 6f
	.p2align 4
6:	jz 7f
	lea (%rdi), %rdi
7:	jp 8f
	xchg %rdx, %rdx
	xchg %rsi, %rsi
8:	mov %rdi, passed(%rip)
	mov kept(%rip), %rdi
	each_register store
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	mov -8 - 8 * \i(%rsp), %rax
	mov %rax, SIZE + RED + 8 * \i(%rdi)
	movdqu %xmm\i, SIZE + VECTORS + 16 * \i(%rdi)
	.endr
	pushfq
	pop SIZE + FLAGS(%rdi)
	mov passed(%rip), %rax
	mov %rax, SIZE + 56(%rdi)
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.cfi_endproc
	.size p_state, . - p_state

	.local kept, passed
	.comm kept, 8, 8
	.comm passed, 8, 8
	.section .note.GNU-stack, "", @progbits
