/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function with a part that stands before it, as compilers put what is seldom executed: its blocks are the function's. */
#include "function.inc.S"

FUNCTION f_hot.cold
	nop
	jmp .Lback
END f_hot.cold

FUNCTION f_hot
	test %edi, %edi
	.org f_hot+16-2, 0x90
	jnz f_hot.cold
.Lback:
	ret
END f_hot

FUNCTION main
	sub $8, %rsp
	xor %edi, %edi
	call f_hot
	mov $1, %edi
	call f_hot
	xor %eax, %eax
	add $8, %rsp
	ret
END main
