/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose points test_points.c judges. Nothing of it is executed. */
	.text
#include "function.inc"


	/* Points: the entry, before and after each call, a block behind the branch, and its target. */
	begin i_plain
	sub $8, %rsp
.Li_plain_call:
	call i_callee
.Li_plain_after:
	test %eax, %eax
	je .Li_plain_target
.Li_plain_through:
	mov $1, %eax
	call *%rax
.Li_plain_behind:
	lea 1(%rax), %rax
.Li_plain_target:
	add $8, %rsp
	ret
	finish i_plain

	begin i_callee
	mov $1, %eax
	ret
	finish i_callee

	/* The block has one byte, and the next one is jumped to. */
	begin i_narrow
	test %edi, %edi
	je .Li_narrow_target
.Li_narrow_block:
	nop
.Li_narrow_target:
	mov $2, %eax
	test %edi, %edi
	jne .Li_narrow_target
	ret
	finish i_narrow

	begin i_direction
	std
	lodsb
	cld
	ret
	finish i_direction

	/* A distance from the code itself. */
	begin i_computed
	lea i_computed(%rip), %rax
	lea (%rax, %rdi, 8), %rax
	jmp *%rax
	nopl 0(%rax)
	ret
	finish i_computed

	/* A table of distances, as compilers make it for a switch. */
	begin i_table
	lea table(%rip), %rax
	movslq (%rax, %rdi, 4), %rdx
	add %rdx, %rax
	jmp *%rax
.Li_table_first:
	mov $3, %eax
	ret
.Li_table_second:
	mov $4, %eax
	ret
	finish i_table

	/* Its last bytes are no instruction. */
	begin i_data
	mov $5, %eax
	ret
	.byte 0x06, 0x0e
	finish i_data

	/* A loop of one block, shorter than a jump: the branch of it is moved, too. */
	begin i_loop
	mov $9, %ecx
	nop
.Li_loop_block:
	dec %ecx
	jnz .Li_loop_block
	mov $1, %eax
	ret
	finish i_loop

	.section .rodata
	.p2align 2
table:	.long .Li_table_first - table, .Li_table_second - table
	.section .note.GNU-stack, "", @progbits
