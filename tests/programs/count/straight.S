/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ten instructions in a row and the exit.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=13 blocks=1 */
#include "count/count.inc.S"

	START
	mov $1, %eax
	mov $2, %ebx
	add %ebx, %eax
	lea 5(%rax,%rbx,2), %rcx
	imul %rcx, %rax
	push %rax
	pop %rdx
	xor %edx, %ecx
	nop
	xchg %rax, %rcx
	EXIT
	END
