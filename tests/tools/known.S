/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program of which everything is known: what tests/tools/test_examples.py expects of each of the examples is counted
 * from this text. Without a C library: all that runs is here.
 */
	.text
	.globl _start, divide, outer, inner, calls
	.type _start, @function
	.type divide, @function
	.type outer, @function
	.type inner, @function
	.type calls, @function

_start:
	call outer
	mov $1000, %r12d
1:	mov %r12, %rdi
	call divide
	test $3, %r12d           /* every fourth time */
	jz 2f
	nop
2:	dec %r12d
	jnz 1b
	call calls
	mov $231, %eax           /* exit_group */
	xor %edi, %edi
	syscall
	.size _start, . - _start

/* Its argument is 1000, 999, ... 1. */
divide:
	mov place(%rip), %rax
	mov place+1(%rip), %ecx  /* misaligned */
	movw %ax, place+2(%rip)
	movb %al, place+8(%rip)
	mov $100, %eax
	xor %edx, %edx
	mov $7, %ecx
	div %ecx
	ret
	.size divide, . - divide

/* 1008 bytes below the first call. */
outer:
	sub $1000, %rsp
	call inner
	add $1000, %rsp
	ret
	.size outer, . - outer

inner:
	ret
	.size inner, . - inner

/* Ten calls of getpid, three of close that fail. */
calls:
	mov $10, %ebx
1:	mov $39, %eax
	syscall
	dec %ebx
	jnz 1b
	mov $3, %ebx
2:	mov $3, %eax
	mov $-1, %edi
	syscall
	dec %ebx
	jnz 2b
	ret
	.size calls, . - calls

	.data
	.balign 64
place:
	.quad 0, 0
	.section .note.GNU-stack, "", @progbits
