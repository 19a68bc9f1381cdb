/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code in 9,000 mappings, a page each, as every second page may be executed. mmap: 8 instructions;
 * for each: 8 with its mprotect, and 4; then for each: a call, mov and ret there, and 5. Around: mov,
 * mov, xor; mov, xor, xor; cmp, jne and the exit.
 */
/* strobe-test: stress=blocks */
/* strobe-count: instructions=180019 blocks=45003 */
#include "count/count.inc.S"

#define MAPPINGS 9000

	START
	mov $9, %eax
	xor %edi, %edi
	mov $MAPPINGS*8192, %esi
	mov $3, %edx
	mov $0x22, %r10d
	mov $-1, %r8
	xor %r9d, %r9d
	syscall
	mov %rax, %r12
	mov %rax, %rbx
	xor %ebp, %ebp
1:	movb $0xb8, (%rbx)      /* mov $number, %eax; ret */
	mov %ebp, 1(%rbx)
	movb $0xc3, 5(%rbx)
	mov %rbx, %rdi
	mov $4096, %esi
	mov $5, %edx
	mov $10, %eax
	syscall
	add $8192, %rbx
	inc %ebp
	cmp $MAPPINGS, %ebp
	jne 1b
	mov %r12, %rbx
	xor %ebp, %ebp
	xor %r13d, %r13d
2:	call *%rbx
	add %eax, %r13d
	add $8192, %rbx
	inc %ebp
	cmp $MAPPINGS, %ebp
	jne 2b
	cmp $MAPPINGS*(MAPPINGS-1)/2, %r13d
	jne 3f
	EXIT
3:	EXIT 1
	END
