/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Returns that are none and calls that are none: `ret n`; a retpoline written by hand, whose
 * callee stands under its caller; an address that is pushed and returned to, which is a jump; a
 * return address that is dropped, so that the caller's caller goes on; one that is changed.
 */
#include "function.inc.S"

FUNCTION f_called
	ret
END f_called

FUNCTION f_after
	ret
END f_after

FUNCTION f_pops
	call f_called
	ret $16
END f_pops

FUNCTION f_thunks
	sub $8, %rsp
	lea f_called(%rip), %rax
	call .Lthunk
	add $8, %rsp
	ret
.Lthunk:
	call 2f
1:	pause
	lfence
	jmp 1b
2:	mov %rax, (%rsp)
	ret
END f_thunks

FUNCTION f_target
	call f_called
	ret
END f_target

FUNCTION f_pushes
	lea f_target(%rip), %rax
	push %rax
	ret
END f_pushes

FUNCTION f_drops
	call f_called
	add $8, %rsp
	ret
END f_drops

FUNCTION f_outer
	call f_drops
	ud2
END f_outer

FUNCTION f_changes
	lea .Lelsewhere(%rip), %rax
	mov %rax, (%rsp)
	call f_called
	ret
END f_changes

FUNCTION main
	push %rbx
	mov $3, %ebx
1:	push %rax
	push %rax
	call f_pops
	call f_thunks
	call f_pushes
	call f_outer
	call f_changes
	ud2
.Lelsewhere:
	call f_after
	dec %ebx
	jnz 1b
	xor %eax, %eax
	pop %rbx
	ret
END main
