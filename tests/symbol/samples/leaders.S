/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code for test_leaders.c: where blocks may begin. A label is told of by its name. */
	.text

	.macro begin name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm

	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm

	begin straight
.globl straight_branch
straight_branch:
	test %edi, %edi
	je straight_taken
.globl straight_next
straight_next:
	call jumps
.globl straight_after
straight_after:
	jmp straight_taken
.globl straight_dead
straight_dead:
	nop
.globl straight_taken
straight_taken:
	ret
	end straight

	/* A prefix that is jumped over. */
	begin apart
	cmpl $0, (%rdi)
	je 1f
.globl apart_lock
apart_lock:
	lock
1:	cmpxchg %esi, (%rdx)
	ret
	end apart

	/* What is nearer may overlap, and is an entry anyway. */
	.skip 64, 0x90

	begin jumps
	jmp *%rdi
.globl jumps_one
jumps_one:
	test %esi, %esi
	jne jumps_two
.globl jumps_more
jumps_more:
	jmp straight_taken
.globl jumps_two
jumps_two:
	ret
	end jumps

	/* Data behind an indirect jump: the last instruction does not end where the frame does. */
	begin data
	jmp *%rdi
	.byte 0x48, 0xb8, 1, 2, 3
	end data

	begin never
	ret
	end never

	.section .note.GNU-stack, "", @progbits
