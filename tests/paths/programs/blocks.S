/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * IHPP's prog4 (listing 4.13) with its blocks at known addresses: jumps lead to multiples of 16, and calls end there.
 */
#include "function.inc.S"

	.macro BLOCK function, offset
	.org \function+\offset, 0x90
	.endm
	.macro CALL_OF function, offset, callee
	.org \function+\offset-5, 0x90
	call \callee
	.endm

FUNCTION p
	ret
END p

FUNCTION foo
	push %rbx
	test %edi, %edi
	jz .Lelse
BLOCK foo, 16
CALL_OF foo, 32, p
	mov $3, %ebx
	jmp .Lloop
BLOCK foo, 48
.Lloop:
CALL_OF foo, 64, p
	dec %ebx
	jnz .Lloop
BLOCK foo, 80
	xor %edi, %edi
CALL_OF foo, 96, foo
	jmp .Lend
BLOCK foo, 112
.Lelse:
CALL_OF foo, 128, p
.Lend:
	pop %rbx
	ret
END foo

FUNCTION main
	sub $8, %rsp
	mov $1, %edi
	call foo
	xor %eax, %eax
	add $8, %rsp
	ret
END main
