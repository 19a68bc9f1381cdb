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
	.quad probe_alloc_entry - .
	.quad probe_read_entry - .
	.quad probe_point_entry - .
	.quad probe_clock - .
	.quad probe_deadline_entry - .

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

	/* The same for a function whose arguments are read: their registers, as an array. */
	.globl probe_read_entry
	.hidden probe_read_entry
	.p2align 4
probe_read_entry:
	SAVE
	pushq %r9
	pushq %r8
	pushq %rcx
	pushq %rdx
	pushq 40(%rsp) /* rsi */
	pushq 56(%rsp) /* rdi */
	movq 48 + SAVED + 8(%rsp), %rdi
	leaq 48 + SAVED + 16(%rsp), %rsi
	movq %rsp, %rdx
	call probe_read
	movq 16(%rsp), %rdx
	leaq 48(%rsp), %rsp
	RESTORE
	ret

	/* The same where one of these registers is changed. */
	.globl probe_deadline_entry
	.hidden probe_deadline_entry
	.p2align 4
probe_deadline_entry:
	SAVE
	pushq %r9
	pushq %r8
	pushq %rcx
	pushq %rdx
	pushq 40(%rsp) /* rsi */
	pushq 56(%rsp) /* rdi */
	movq 48 + SAVED + 8(%rsp), %rdi
	movq %rsp, %rsi
	call probe_deadline
	popq 56(%rsp) /* rdi, relative to what is left */
	popq 40(%rsp) /* rsi */
	popq %rdx
	popq %rcx
	popq %r8
	popq %r9
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

	/* From the stub of a point within a function. */
	.globl probe_point_entry
	.hidden probe_point_entry
	.p2align 4
probe_point_entry:
	SAVE
	movq SAVED + 8(%rsp), %rdi
	call probe_point
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

	/* From the stub of a function that allocates memory. It is called from here, so that what it
	   returns is seen, and its own return address stays as it is. Below that lie, as struct
	   probe_alloc_call has them: the function's number, the stub's return address, the registers,
	   and room for numbers. */
	.set ALLOC_NUMBERS, 48
	.set ALLOC_SAVED, ALLOC_NUMBERS + 72
	.macro ALLOC_STORE
	movq %r11, ALLOC_NUMBERS(%rsp)
	movq %r10, ALLOC_NUMBERS + 8(%rsp)
	movq %r9, ALLOC_NUMBERS + 16(%rsp)
	movq %r8, ALLOC_NUMBERS + 24(%rsp)
	movq %rcx, ALLOC_NUMBERS + 32(%rsp)
	movq %rdx, ALLOC_NUMBERS + 40(%rsp)
	movq %rsi, ALLOC_NUMBERS + 48(%rsp)
	movq %rdi, ALLOC_NUMBERS + 56(%rsp)
	movq %rax, ALLOC_NUMBERS + 64(%rsp)
	.endm

	.macro ALLOC_LOAD
	movq ALLOC_NUMBERS(%rsp), %r11
	movq ALLOC_NUMBERS + 8(%rsp), %r10
	movq ALLOC_NUMBERS + 16(%rsp), %r9
	movq ALLOC_NUMBERS + 24(%rsp), %r8
	movq ALLOC_NUMBERS + 32(%rsp), %rcx
	movq ALLOC_NUMBERS + 40(%rsp), %rdx
	movq ALLOC_NUMBERS + 48(%rsp), %rsi
	movq ALLOC_NUMBERS + 56(%rsp), %rdi
	movq ALLOC_NUMBERS + 64(%rsp), %rax
	.endm

	.globl probe_alloc_entry
	.hidden probe_alloc_entry
	.p2align 4
probe_alloc_entry:
	leaq -ALLOC_SAVED(%rsp), %rsp
	ALLOC_STORE
	movq %rsp, %rdi
	movq %rbp, %rsi
	call probe_alloc_begin
	testl %eax, %eax
	je 1f
	ALLOC_LOAD
	call 2f
	ALLOC_STORE
	movq %rsp, %rdi
	movq %rbp, %rsi
	call probe_alloc_end
	ALLOC_LOAD
	leaq ALLOC_SAVED + 16(%rsp), %rsp
	ret
1:
	ALLOC_LOAD
	leaq ALLOC_SAVED(%rsp), %rsp
	ret
2:
	/* The stub takes 8 bytes off the stack before the function begins. */
	leaq -8(%rsp), %rsp
	jmp *ALLOC_SAVED + 16(%rsp)

	.section .note.GNU-stack, "", @progbits
