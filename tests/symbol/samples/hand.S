/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What assemblers leave in symbol tables: a function with a size, one without that holds a local label, a global label
 * without a type, an inner entry, and a mapping symbol. The section holds nothing else, so that the test knows it all.
 */
	.section .text.hand, "ax", @progbits
	.p2align 4
	.globl asm_sized
	.type asm_sized, @function
asm_sized:
	.cfi_startproc
	lea 1(%rdi), %eax
	ret
	.cfi_endproc
	.size asm_sized, . - asm_sized

	.p2align 4
	.globl asm_unsized
	.type asm_unsized, @function
asm_unsized:
	mov %edi, %eax
plain_local_label:
	dec %eax
	jns plain_local_label
	ret

	.p2align 4
	.globl asm_label
asm_label:
	ud2

	.p2align 4
	.globl asm_outer
	.type asm_outer, @function
asm_outer:
	nop
	nop
	.globl asm_inner
	.type asm_inner, @function
asm_inner:
	nop
	nop
	.size asm_inner, . - asm_inner
	nop
	nop
	ret
	.size asm_outer, . - asm_outer

	.section .note.GNU-stack, "", @progbits
