/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three children by fork, each waited for, each with results of its own from its first block on.
 * Parent: 1 + 3 * (mov, syscall, test, jz, mov, xor, xor, xor, mov, syscall, dec, jnz) + 3, blocks
 * 3 * 4 + 1. A child: test, jz, mov, 1000 turns of (dec, jnz) and the exit; blocks 1 + 1000 + 1.
 */
/* strobe-test: follow=1 stress=versions */
/* strobe-follow: instructions=40 blocks=13 children=3 child_instructions=2006 child_blocks=1002 */
#include "count/count.inc.S"

	START
	mov $3, %ebx
1:	mov $57, %eax
	syscall
	test %eax, %eax
	jz 2f
	mov %eax, %edi
	xor %esi, %esi
	xor %edx, %edx
	xor %r10d, %r10d
	mov $61, %eax           /* wait4 */
	syscall
	dec %ebx
	jnz 1b
	EXIT
2:	mov $1000, %ecx
3:	dec %ecx
	jnz 3b
	EXIT
	END
