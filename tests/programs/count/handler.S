/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A signal sent to itself a hundred times; each runs a handler and returns by its restorer. Set-up:
 * 6 + 4; per turn mov, mov, mov, syscall; handler incl, ret; restorer mov, syscall; dec, jnz; then
 * cmp, jne and the exit. Blocks: 2, per turn kill, ret, sigreturn and jnz, then 2.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=1015 blocks=404 */
#include "count/count.inc.S"

	START
	mov $13, %eax           /* rt_sigaction(SIGUSR1, &action, 0, 8) */
	mov $10, %edi
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	syscall
	mov $39, %eax           /* getpid */
	syscall
	mov %eax, %r12d
	mov $100, %ebx
1:	mov $62, %eax           /* kill */
	mov %r12d, %edi
	mov $10, %esi
	syscall
	dec %ebx
	jnz 1b
	cmpl $100, taken(%rip)
	jne 2f
	EXIT
2:	EXIT 1
handler:
	incl taken(%rip)
	ret
restorer:
	mov $15, %eax
	syscall
	.data
action:	.quad handler, 0x04000000, restorer, 0
taken:	.long 0
	END
