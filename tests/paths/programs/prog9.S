/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that are entered by jumps, and left by a jump into the middle of main. IHPP's
 * prog9 (listing 5.26).
 */
	.section .rodata
hello_main:
	.asciz "hello from main()\n"
rfoo_called:
	.asciz "real_foo() called\n"
foo_base:
	.asciz "foo() base called\n"

	.macro FUNCTION name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro PRINT text
	lea \text(%rip), %rdi
	xor %eax, %eax
	call printf@PLT
	.endm

	.text
FUNCTION real_foo
	PRINT rfoo_called
	jmp .Lafter_foo
	.size real_foo, .-real_foo

FUNCTION foo
	PRINT foo_base
	jmp real_foo
	.size foo, .-foo

FUNCTION bar
	push %rbp
	mov %rsp, %rbp
	leave
	ret
	.size bar, .-bar

FUNCTION main
	push %rbp
	mov %rsp, %rbp
	jmp foo
.Lafter_foo:
	PRINT hello_main
	call bar
	xor %eax, %eax
	leave
	ret
	.size main, .-main
	.section .note.GNU-stack, "", @progbits
