/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that change the stack by hand, to one that lies lower and to one that lies higher, and
 * back: what they call there is theirs.
 */
#include "function.inc.S"

	.lcomm area, 65536

FUNCTION f_inner
	ret
END f_inner

FUNCTION f_called
	call f_inner
	ret
END f_called

FUNCTION f_after
	ret
END f_after

/* The program's own data lie below its stack. */
FUNCTION f_low
	push %rbx
	mov %rsp, %rbx
	lea area+32768(%rip), %rsp
	call f_called
	mov %rbx, %rsp
	pop %rbx
	ret
END f_low

/* From a low one on to a higher one. */
FUNCTION f_high
	push %rbx
	mov %rsp, %rbx
	lea area+16384(%rip), %rsp
	lea area+65536(%rip), %rsp
	call f_called
	mov %rbx, %rsp
	pop %rbx
	ret
END f_high

FUNCTION main
	push %rbx
	mov $2, %ebx
1:	call f_low
	call f_high
	call f_after
	dec %ebx
	jnz 1b
	xor %eax, %eax
	pop %rbx
	ret
END main
