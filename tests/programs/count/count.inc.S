/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs without libc whose executed instructions and blocks are known by hand; the strobe-count
 * line of each says them. A block ends at every branch, call, return and system call; an
 * instruction with a rep prefix counts once.
 */
	.macro START
	.text
	.globl _start
_start:
	.endm

	/* Three instructions, one block. */
	.macro EXIT code=0
	mov $60, %eax
	mov $\code, %edi
	syscall
	.endm

	.macro END
	.section .note.GNU-stack, "", @progbits
	.endm
