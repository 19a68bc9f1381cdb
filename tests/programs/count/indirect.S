/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Indirect jumps and calls over tables of eight: 8000 turns of lea, mov, and, jmp *, then one of
 * eight times (inc, call *, jmp), one of eight times (lea, ret), and dec, jnz: 4 + 3 + 2 + 2
 * instructions, blocks jmp, call, ret, jmp, jnz. Around: 2 and the exit.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=88005 blocks=40001 */
#include "count/count.inc.S"

	START
	mov $8000, %ebx
	xor %r12d, %r12d
1:	lea jumps(%rip), %rsi
	mov %ebx, %eax
	and $7, %eax
	jmp *(%rsi,%rax,8)
	.irp k, 0,1,2,3,4,5,6,7
jump\k:	inc %r12d
	call *calls+8*((\k+3)&7)(%rip)
	jmp 2f
	.endr
2:	dec %ebx
	jnz 1b
	EXIT
	.irp k, 0,1,2,3,4,5,6,7
call\k:	lea \k(%r12), %r13
	ret
	.endr
	.section .rodata
jumps:	.quad jump0, jump1, jump2, jump3, jump4, jump5, jump6, jump7
calls:	.quad call0, call1, call2, call3, call4, call5, call6, call7
	END
