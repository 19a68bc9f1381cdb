/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ways from the program into the probe runtime. Every register and the arithmetic flags are the program's: code that calls functions of its own
 * file may rely on what they leave alone.
 */
	/* The functions in C give back every register but the result's; the flags are up to us. */
	.macro SAVE
	pushq %rax
	pushq %rdi
	pushq %rsi
	lahf
	seto %al
	pushq %rax
	.endm

	.macro RESTORE
	popq %rax
	addb $127, %al /* overflows when there was an overflow */
	sahf
	popq %rsi
	popq %rdi
	popq %rax
	.endm
	.set SAVED, 32

	.section .text.first, "ax"
	/* The first words of the image say where these are. */
	.quad probe_entry - .
	.quad probe_trampoline - .
	.quad probe_exit_entry - .

	.text
	/* From a stub: the stub's return address, the function's number, the function's return address. */
	.globl probe_entry
	.hidden probe_entry
	.p2align 4
probe_entry:
	SAVE
	movq SAVED + 8(%rsp), %rdi
	leaq SAVED + 16(%rsp), %rsi
	call probe_enter
	RESTORE
	ret

	/* The same where a function is left. */
	.globl probe_exit_entry
	.hidden probe_exit_entry
	.p2align 4
probe_exit_entry:
	SAVE
	movq SAVED + 8(%rsp), %rdi
	leaq SAVED + 16(%rsp), %rsi
	call probe_exit
	RESTORE
	ret

	/* What a function returns to whose return address was replaced. A jump, not a return, leads on: the processor pairs returns with calls,
	   and the function's own return has taken the pair's place already. */
	.globl probe_trampoline
	.hidden probe_trampoline
	.p2align 4
probe_trampoline:
	leaq -8(%rsp), %rsp
	SAVE
	leaq SAVED(%rsp), %rdi
	call probe_return
	movq %rax, SAVED(%rsp)
	RESTORE
	leaq 8(%rsp), %rsp
	jmp *-8(%rsp)

	.section .note.GNU-stack, "", @progbits
