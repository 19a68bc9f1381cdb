/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jumps that enter no function: into the middle of another one and back, and a loop whose head is
 * the function's first instruction. A call of the next instruction, by which code finds its own
 * address, enters none either.
 */
#include "function.inc.S"

FUNCTION f_called
	ret
END f_called

FUNCTION f_after
	ret
END f_after

FUNCTION f_visited
	xor %eax, %eax
	call f_called
.Lmiddle:
	nop
	test %eax, %eax
	jnz .Lback
	ret
END f_visited

FUNCTION f_visits
	mov $1, %eax
	jmp .Lmiddle
.Lback:
	call f_called
	ret
END f_visits

FUNCTION f_loops
	dec %edi
	jnz f_loops
	ret
END f_loops

FUNCTION f_where
	call 1f
1:	pop %rax
	call f_called
	ret
END f_where

FUNCTION main
	push %rbx
	mov $2, %ebx
1:	call f_visits
	call f_visited
	mov $10, %edi
	call f_loops
	call f_where
	dec %ebx
	jnz 1b
	call f_visits
	call f_after
	xor %eax, %eax
	pop %rbx
	ret
END main
