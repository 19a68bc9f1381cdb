/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Eight threads by the bare clone system call, each with a loop of its own length, (i + 1) * 10000
 * turns of (lock inc, dec, jnz); every thread, the first too, leaves by exit, so that the sums
 * depend on no order. First: 1 + 8 * (lea, mov, mov, imul, add, mov, mov, xor, xor, xor, syscall,
 * test, jz, inc, cmp, jne) + 3. A thread: test, jz, lea, imul, the loop, exit. Turns: 10000 * (1 +
 * ... + 8) = 360000. Instructions 1 + 8 * 16 + 3 + 8 * (4 + 3) + 3 * 360000; blocks 8 * 3 + 1 + 8 *
 * (1 + 1) + 360000.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=1080188 blocks=360041 */
#include "count/count.inc.S"

	START
	xor %ebx, %ebx
1:	lea stacks(%rip), %rsi
	mov $4096, %eax
	mov %rbx, %rcx
	imul %rcx, %rax
	add %rax, %rsi
	mov $56, %eax           /* clone */
	mov $0x50f00, %edi      /* VM FS FILES SIGHAND THREAD SYSVSEM */
	xor %edx, %edx
	xor %r10d, %r10d
	xor %r8d, %r8d
	syscall
	test %eax, %eax
	jz 2f
	inc %ebx
	cmp $8, %ebx
	jne 1b
	EXIT
2:	lea 1(%rbx), %ecx
	imul $10000, %ecx, %ecx
3:	lock incq shared(%rip)
	dec %ecx
	jnz 3b
	EXIT
	.bss
	.balign 16
shared: .quad 0
	.skip 4096
stacks: .skip 8*4096
	END
