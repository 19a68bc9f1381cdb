/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults in the middle of a block, skipped by the handler: what ran before the fault counts, the
 * faulting load does not, nor what the handler skips. Set-up 7; per turn nop, nop, (load), nop,
 * nop, dec, jnz; handler mov, addq, ret; restorer mov, syscall; then the exit. The signal cuts the
 * block; only instructions are compared.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=1110 */
#include "count/count.inc.S"

	START
	mov $13, %eax           /* rt_sigaction(SIGSEGV, &action, 0, 8) */
	mov $11, %edi
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	syscall
	mov $100, %ebx
1:	nop
	nop
	mov 8, %eax             /* 7 bytes */
	nop
	nop
	dec %ebx
	jnz 1b
	EXIT
handler:
	mov $7, %eax
	addq %rax, 168(%rdx)    /* uc_mcontext.gregs[REG_RIP] */
	ret
restorer:
	mov $15, %eax
	syscall
	.data
action:	.quad handler, 0x04000004, restorer, 0
	END
