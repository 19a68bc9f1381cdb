/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of runtimes that walk stacks: one of them in each library that is made of this. */
#ifdef OCAML
	.globl caml_start_program
	.type caml_start_program, @function
caml_start_program:
	ret
	.size caml_start_program, . - caml_start_program
#endif
#ifdef V8
	.globl _ZN2v87Isolate3NewERKNS0_12CreateParamsE
	.type _ZN2v87Isolate3NewERKNS0_12CreateParamsE, @function
_ZN2v87Isolate3NewERKNS0_12CreateParamsE:
	ret
#endif
#ifdef GO
	.section .gopclntab, "a"
	.quad 1
	.text
#endif
#ifdef GOSTRIPPED
	.section .go.buildinfo, "a"
	.quad 1
	.text
#endif
	.globl plain
	.type plain, @function
plain:	.cfi_startproc
	push %rbx
	pop %rbx
	lea (%rdi, %rsi), %rax
	ret
	.cfi_endproc
	.size plain, . - plain
	.section .note.GNU-stack, "", @progbits
