/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads and stores for caches: in strides, at random, over the ends of lines. tests/tools/truth.py
 * compares what dcache makes of them with cachegrind.
 */
/* strobe-test: */
#include "count/count.inc.S"

	.bss
	.balign 64
data:	.skip 1 << 21

	START
	lea data(%rip), %rbx
	/* Every 29th byte of 64 KiB, ten times: some over the end of a line. */
	mov $10, %edx
1:	xor %ecx, %ecx
2:	addq $1, (%rbx,%rcx)
	mov 3(%rbx,%rcx), %rax
	add $29, %ecx
	cmp $65536, %ecx
	jb 2b
	dec %edx
	jnz 1b
	/* At random in 2 MiB. */
	mov $100000, %edx
	mov $1, %eax
3:	imul $1664525, %eax, %eax
	add $1013904223, %eax
	mov %eax, %ecx
	shr $11, %ecx
	and $-8, %ecx
	mov (%rbx,%rcx), %rsi
	mov %eax, %ecx
	and $0x1fffff, %ecx
	movb $1, (%rbx,%rcx)
	dec %edx
	jnz 3b
	EXIT
	END
