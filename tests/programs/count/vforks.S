/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Three children by vfork, each waited for. They run in the parent's memory while it sleeps, and until
 * they call execve their counts are the parent's (docs/engine.md).
 * Parent: 1 + 3 * (mov, syscall, test, jz, mov, xor, xor, xor, mov, syscall, dec, jnz) + 3, blocks
 * 3 * 4 + 1. A child: test, jz, mov, 1000 turns of (dec, jnz) and the exit; blocks 1 + 1000 + 1.
 */
/* strobe-test: follow=1 stress=versions */
/* strobe-follow: instructions=6058 blocks=3019 children=0 child_instructions=0 child_blocks=0 */
#include "count/count.inc.S"

	START
	mov $3, %ebx
1:	mov $58, %eax
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
