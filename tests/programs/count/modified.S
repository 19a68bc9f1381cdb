/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that changes itself, within the block that runs: mov, add, mov into the next instruction's
 * immediate, that one, add, dec, jnz: 6 instructions 500 times. Around: mprotect (lea, and, mov,
 * mov, mov, syscall), mov, xor; cmp, jne and the exit.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=3013 blocks=503 */
#include "count/count.inc.S"

	START
	lea patched(%rip), %rdi
	and $-4096, %rdi
	mov $8192, %esi
	mov $7, %edx
	mov $10, %eax
	syscall
	mov $500, %ebx
	xor %r12d, %r12d
1:	lea (%rbx,%rbx,2), %ecx
	mov %ecx, patched+2(%rip)
patched:
	mov $0, %r13d           /* 41 bd imm32 */
	add %r13d, %r12d
	dec %ebx
	jnz 1b
	cmp $3*500*501/2, %r12d
	jne 2f
	EXIT
2:	EXIT 1
	END
