/* SPDX-License-Identifier: GPL-3.0-or-later */
	.macro FUNCTION name
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.endm
	.macro END name
	.size \name, .-\name
	.endm
	.section .note.GNU-stack, "", @progbits
	.text
