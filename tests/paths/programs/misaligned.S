/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls with a stack pointer that is no multiple of 8, nor of 4. */
#include "function.inc.S"

FUNCTION f_leaf
	ret
END f_leaf

FUNCTION f_next
	ret
END f_next

FUNCTION f_calls
	call f_leaf
	ret
END f_calls

FUNCTION f_jumps
	jmp f_calls
END f_jumps

FUNCTION f_work
	push %ax
	call f_leaf
	call f_next
	call f_calls
	call f_jumps
	call f_next
	pop %ax
	call f_jumps
	call f_next
	ret
END f_work

FUNCTION main
	push %rbx
	mov $100, %ebx
1:	call f_work
	dec %ebx
	jnz 1b
	xor %eax, %eax
	pop %rbx
	ret
END main
