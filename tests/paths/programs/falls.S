/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function that is entered by falling into it stands under the one that fell, as one that is
 * jumped to; and by a call under its caller.
 */
#include "function.inc.S"

FUNCTION f_called
	ret
END f_called

FUNCTION f_after
	ret
END f_after

	.p2align 4
	.globl f_upper
	.type f_upper, @function
f_upper:
	nop
END f_upper
	.globl f_lower
	.type f_lower, @function
f_lower:
	sub $8, %rsp
	call f_called
	add $8, %rsp
	ret
END f_lower

FUNCTION main
	push %rbx
	call f_upper
	call f_lower
	call f_upper
	call f_lower
	call f_upper
	call f_after
	xor %eax, %eax
	pop %rbx
	ret
END main
