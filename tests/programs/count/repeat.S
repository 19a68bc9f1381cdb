/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * String instructions with a rep prefix count once, whatever rcx is: 2 + 5 * (3 + 4 * 3 + 2) + 3,
 * blocks 5 + 1.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=90 blocks=6 */
#include "count/count.inc.S"

	START
	cld
	mov $5, %ebx
1:	lea buffer(%rip), %rdi
	lea buffer+4096(%rip), %rsi
	xor %eax, %eax
	mov $1000, %ecx
	rep stosb
	mov $0, %ecx
	rep movsq
	mov $1, %ecx
	repe cmpsb
	mov $70, %ecx
	repne scasb
	mov $5, %edx
	movsb
	lodsb
	stosb
	dec %ebx
	jnz 1b
	EXIT
	.bss
buffer: .skip 8192
	END
