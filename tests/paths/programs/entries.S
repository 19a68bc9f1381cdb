/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks that have entries in their middle: a loop's head that is run into first, labels of a switch that run into one another, and
 * an instruction that is entered behind its prefix.
 */
#include "function.inc.S"

	.macro BLOCK function, offset
	.org \function+\offset, 0x90
	.endm
	.macro JUMP_OF function, offset, how, where
	.org \function+\offset-2, 0x90
	\how \where
	.endm

FUNCTION f_loop
	mov %edi, %ecx
BLOCK f_loop, 16
.Lturn:
	test $1, %ecx
JUMP_OF f_loop, 32, jz, .Leven
BLOCK f_loop, 48
.Leven:
	dec %ecx
JUMP_OF f_loop, 64, jnz, .Lturn
	ret
END f_loop

FUNCTION f_switch
	lea .Lcases(%rip), %rax
	jmp *(%rax,%rdi,8)
BLOCK f_switch, 16
.Lfirst:
BLOCK f_switch, 32
.Lsecond:
BLOCK f_switch, 48
.Lthird:
	ret
END f_switch

FUNCTION f_locks
	test %edi, %edi
JUMP_OF f_locks, 16, jz, .Lunlocked
	.byte 0xf0 /* lock */
.Lunlocked:
	incl .Lnumber(%rip)
	ret
END f_locks

FUNCTION main
	sub $8, %rsp
	mov $3, %edi
	call f_loop
	mov $1, %edi
	call f_switch
	mov $0, %edi
	call f_switch
	mov $2, %edi
	call f_switch
	mov $0, %edi
	call f_locks
	mov $1, %edi
	call f_locks
	xor %eax, %eax
	add $8, %rsp
	ret
END main

	.data
	.balign 8
.Lcases:
	.quad .Lfirst, .Lsecond, .Lthird
.Lnumber:
	.long 0
