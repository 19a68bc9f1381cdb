/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that begin in every way that a probe has to cope with, for test_entries.c, and what
 * calls them with given registers. The comment of each says which site it must be.
 */
	.text

#include "function.inc"

/*
 * void call_with(struct machine *m, void *function): r[0..15] by the numbers of their encoding
 * (rsp apart), then the flags. The stack has the words of m->stack above the return address. What
 * the function leaves of all that is written back, with the distance that rsp has moved in r[4].
 */
	.globl call_with
	.type call_with, @function
call_with:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rdi, machine(%rip)
	mov %rsi, target(%rip)
	mov %rsp, kept(%rip)
	sub $(32 * 8), %rsp
	mov $31, %ecx
1:	mov 136(%rdi, %rcx, 8), %rax
	mov %rax, (%rsp, %rcx, 8)
	dec %ecx
	jns 1b
	mov %rsp, before(%rip)
	push 128(%rdi)
	popfq
	mov 0(%rdi), %rax
	mov 8(%rdi), %rcx
	mov 16(%rdi), %rdx
	mov 24(%rdi), %rbx
	mov 40(%rdi), %rbp
	mov 48(%rdi), %rsi
	mov 64(%rdi), %r8
	mov 72(%rdi), %r9
	mov 80(%rdi), %r10
	mov 88(%rdi), %r11
	mov 96(%rdi), %r12
	mov 104(%rdi), %r13
	mov 112(%rdi), %r14
	mov 120(%rdi), %r15
	mov 56(%rdi), %rdi
	call *target(%rip)
	mov %rsp, after(%rip)
	mov kept(%rip), %rsp
	lea -(34 * 8)(%rsp), %rsp
	pushfq
	push %rdi
	mov machine(%rip), %rdi
	mov %rax, 0(%rdi)
	mov %rcx, 8(%rdi)
	mov %rdx, 16(%rdi)
	mov %rbx, 24(%rdi)
	mov %rbp, 40(%rdi)
	mov %rsi, 48(%rdi)
	mov %r8, 64(%rdi)
	mov %r9, 72(%rdi)
	mov %r10, 80(%rdi)
	mov %r11, 88(%rdi)
	mov %r12, 96(%rdi)
	mov %r13, 104(%rdi)
	mov %r14, 112(%rdi)
	mov %r15, 120(%rdi)
	pop 56(%rdi)
	pop 128(%rdi)
	mov after(%rip), %rax
	sub before(%rip), %rax
	mov %rax, 32(%rdi)
	lea (2 * 8)(%rsp), %rsp
	mov $31, %ecx
2:	mov (%rsp, %rcx, 8), %rax
	mov %rax, 136(%rdi, %rcx, 8)
	dec %ecx
	jns 2b
	mov kept(%rip), %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.size call_with, . - call_with

/* The handlers of the probes: count the index, change nothing. At an exit the return address must
 * lie where it lay at the entry. */
	.globl count_entry
	.type count_entry, @function
count_entry:
	pushfq
	push %rax
	push %rcx
	mov 32(%rsp), %rax
	lea entries(%rip), %rcx
	incl (%rcx, %rax, 4)
	lea 40(%rsp), %rax
	mov %rax, entered_at(%rip)
	pop %rcx
	pop %rax
	popfq
	ret
	.size count_entry, . - count_entry

	.globl count_exit
	.type count_exit, @function
count_exit:
	pushfq
	push %rax
	push %rcx
	mov 32(%rsp), %rax
	lea exits(%rip), %rcx
	incl (%rcx, %rax, 4)
	lea 40(%rsp), %rax
	cmp %rax, entered_at(%rip)
	je 1f
	incl misplaced(%rip)
1:	pop %rcx
	pop %rax
	popfq
	ret
	.size count_exit, . - count_exit

/* Called by others: notes where it returns to. */
	.type callee, @function
callee:
	.cfi_startproc
	push %rax
	mov 8(%rsp), %rax
	mov %rax, noted(%rip)
	pop %rax
	stc
	ret
	.cfi_endproc
	.size callee, . - callee

	begin e_pushes
	push %rbx
	push %r12
	push %r13
	mov %rsi, %rbx
	lea (%rdi, %rsi, 2), %rax
	pop %r13
	pop %r12
	pop %rbx
	ret
	finish e_pushes

	begin e_frame
	push %rbp
	mov %rsp, %rbp
	sub $64, %rsp
	mov %rdi, -8(%rbp)
	mov -8(%rbp), %rax
	leave
	ret
	finish e_frame

	begin e_long
	movabs $0x1122334455667788, %rax
	add %rdi, %rax
	ret
	finish e_long

	begin e_lea
	lea words(%rip), %rax
	mov (%rax), %rax
	ret
	finish e_lea

	begin e_load
	mov words + 8(%rip), %rax
	ret
	finish e_load

	begin e_compare /* an immediate follows the displacement */
	cmpl $0x12345, words(%rip)
	setg %al
	ret
	finish e_compare

	begin e_compare_byte
	cmpb $7, words + 3(%rip)
	setg %al
	ret
	finish e_compare_byte

	begin e_vector
	movdqa words(%rip), %xmm0
	movq %xmm0, %rax
	ret
	finish e_vector

	begin e_store
	mov %rdi, %rax
	mov %rax, noted(%rip)
	ret
	finish e_store

	begin e_near_branch
	test %edi, %edi
	je 1f
	lea 1(%rsi), %eax
	ret
1:	mov %edx, %eax
	ret
	finish e_near_branch

	begin e_two_branches
	jo 1f
	jc 2f
	mov $3, %eax
	ret
1:	mov $1, %eax
	ret
2:	mov $2, %eax
	ret
	finish e_two_branches

	begin e_far_branch
	test %dil, %dil
	jns 1f
	mov %esi, %eax
	ret
	.skip 200, 0x90
1:	mov %edx, %eax
	ret
	finish e_far_branch

	begin e_loop
	loop 1f
	inc %eax
	dec %edx
	ret
1:	inc %edx
	ret
	finish e_loop

	begin e_loopne
	loopne 1f
	inc %eax
	dec %edx
	ret
1:	inc %edx
	ret
	finish e_loopne

	begin e_loope
	cmp %esi, %esi
	loope 1f
	inc %eax
	dec %edx
	ret
1:	inc %edx
	ret
	finish e_loope

	begin e_jrcxz
	jrcxz 1f
	jecxz 1f
	inc %edx
	ret
1:	inc %eax
	dec %edx
	ret
	finish e_jrcxz

	begin e_call
	call callee
	ret
	finish e_call

	begin e_late_call
	inc %eax
	nop
	call callee
	adc $0, %rdx
	ret
	finish e_late_call

	begin e_call_next /* asks where it is */
	call 1f
1:	pop %rax
	ret
	finish e_call_next

	begin e_call_register /* an island: it returns into the first five bytes */
	call *%r11
	mov %rax, %rdx
	ret
	finish e_call_register

	begin e_call_memory
	call *callee_address(%rip)
	adc $0, %rdx
	ret
	finish e_call_memory

	begin e_call_rsp /* the return address changes what rsp means */
	nop
	call *16(%rsp)
	mov $1, %eax
	ret
	finish e_call_rsp

	begin e_call_rsp_far /* 8 more are no byte */
	nop
	call *0x78(%rsp)
	mov $1, %eax
	ret
	finish e_call_rsp_far

	begin e_call_rsp_index
	call *0xe0(%rsp, %r10, 8)
	mov $1, %eax
	ret
	finish e_call_rsp_index

	begin e_call_r12
	nop
	call *8(%r12)
	mov $1, %eax
	ret
	finish e_call_r12

	begin e_tail
	inc %eax
	jmp callee
	finish e_tail

	begin e_tail_register
	mov %r11, %rax
	jmp *%rax
	finish e_tail_register

	begin e_tail_memory
	jmp *callee_address(%rip)
	finish e_tail_memory

	begin e_tail_near
	jmp 1f
	inc %eax
	ret
1:	inc %edx
	ret
	finish e_tail_near

	begin e_return /* padding follows */
	ret
	finish e_return
	.p2align 4

	begin e_return_zero
	xor %eax, %eax
	ret
	finish e_return_zero
	.p2align 4

	begin e_return_some
	ret $16
	finish e_return_some
	.p2align 4

	begin e_repeat /* its loop leads to its entry */
	inc %eax
	dec %cl
	jnz e_repeat
	ret
	finish e_repeat

	begin e_repeat_late
	inc %eax
	inc %edx
	inc %esi
	inc %edx
	dec %cl
	jnz e_repeat_late
	ret
	finish e_repeat_late

	begin e_spin /* the displaced branch leads to the entry */
	dec %cl
	jnz e_spin
	ret
	finish e_spin

	begin e_four_first /* an island: a loop leads behind endbr64 */
	endbr64
1:	inc %eax
	dec %cl
	jnz 1b
	ret
	finish e_four_first

	begin e_table /* an island: a jump table leads behind endbr64 */
	endbr64
	and $3, %edi
	lea table(%rip), %rdx
	movslq (%rdx, %rdi, 4), %rax
	add %rdx, %rax
	mov $1, %edi
	jmp *%rax
1:	mov $11, %eax
	mov $0, %edx
	ret
2:	mov $22, %eax
	mov $0, %edx
	ret
	finish e_table
	.section .rodata
	.p2align 2
table:	.long 1b - table, 2b - table, 2b - table, e_table + 4 - table
	.text

	begin e_thread
	mov %fs:0, %rax
	xor %eax, %eax
	ret
	finish e_thread

	begin e_system_call
	mov $39, %eax
	syscall
	xor %ecx, %ecx
	xor %r11d, %r11d
	ret
	finish e_system_call

	begin e_string
	cld
	mov %rsp, %rdi
	sub $64, %rdi
	mov $4, %ecx
	rep stosq
	xor %edi, %edi
	ret
	finish e_string

/* Those of interest for their exits. */
	begin x_red_zone /* what is below the stack pointer is still needed */
	mov %rdi, -8(%rsp)
	mov %rsi, -16(%rsp)
	test %edx, %edx
	js 1f
	xor %edx, %edx
1:	mov -8(%rsp), %rax
	mov -16(%rsp), %rcx
	ret
	finish x_red_zone

	begin x_conditional /* a jump to another function, under a condition */
	add %rsi, %rax
	add %rdi, %rdx
	test %esi, %esi
	js callee
	mov %esi, %eax
	lea (%rax, %rdi), %rax
	ret
	finish x_conditional

	begin x_island /* three bytes between two places where jumps lead */
	mov %rdi, %rax
	add %rsi, %rax
	js 1f
	jz 2f
	sub %rdx, %rax
	mov $3, %ecx
1:	inc %eax
	ret
2:	xor %edx, %edx
	mov $2, %ecx
	ret
	finish x_island

	begin x_padding /* the return is alone, and nobody needs what aligns the next block */
	mov %rdi, %rax
	add %rsi, %rax
	js 1f
	jz 2f
	sub %rdx, %rax
	mov $3, %ecx
1:	ret
	.p2align 4
2:	xor %edx, %edx
	mov $2, %ecx
	ret
	finish x_padding

	begin x_loaded /* a function from a table of functions */
	mov %rdi, %rax
	add %rsi, %rax
	mov 8(%r12), %r11
	jmp *%r11
	finish x_loaded

	begin x_tail_memory
	mov %rdi, %rax
	add %rsi, %rax
	jmp *8(%r12)
	finish x_tail_memory

	begin x_frame
	push %rbp
	.cfi_def_cfa_offset 16
	mov %rsp, %rbp
	.cfi_def_cfa_register 6
	sub $32, %rsp
	mov %rdi, -8(%rbp)
	test %edi, %edi
	js 1f
	mov $7, %esi
1:	mov -8(%rbp), %rax
	leave
	.cfi_def_cfa 7, 8
	ret $8
	finish x_frame

/* Those whose exits cannot be patched. */
	begin o_unknown /* a switch, or a table of functions */
	mov %rdi, %rax
	add %rsi, %rax
	jmp *8(%r12, %r10, 8)
	finish o_unknown

	begin o_pushed /* jumps by a return */
	mov %rdi, %rax
	add %rsi, %rax
	push %r11
	.cfi_def_cfa_offset 16
	ret
	finish o_pushed

	begin o_narrow
	mov %rdi, %rax
	add %rsi, %rax
	js 1f
	jz 2f
	sub %rdx, %rax
	mov $3, %ecx
1:	ret
2:	xor %edx, %edx
	mov $2, %ecx
	ret
	finish o_narrow

	begin o_part /* jumps into another function */
	mov %rdi, %rax
	add %rsi, %rax
	jmp e_pushes + 5
	finish o_part

/* Those that take no probe. */
	begin n_one_first /* a loop leads behind the first byte */
	push %rbx
1:	inc %eax
	dec %cl
	jnz 1b
	pop %rbx
	ret
	finish n_one_first

	begin n_system_call
	syscall
	ret
	finish n_system_call

	begin n_invalid
	ud2
	finish n_invalid

	begin n_call_rsp
	call *%rsp
	ret
	finish n_call_rsp

	begin n_call_below
	call *-8(%rsp)
	ret
	finish n_call_below

	begin n_narrow
	data16 ret
	finish n_narrow
	.p2align 4

	.type n_inner, @function
n_inner: /* goes on in the frame of another function */
	.cfi_startproc
	.cfi_def_cfa_offset 32
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size n_inner, . - n_inner

	.type n_frameless, @function
n_frameless:
	lea (%rdi, %rsi), %rax
	add %rax, %rax
	ret
	.size n_frameless, . - n_frameless

n_data: /* no function, though it is in code */
	.quad 0x9090909090909090, 0x9090909090909090

	.type n_signal, @function
	.cfi_startproc
	.cfi_signal_frame
n_signal:
	mov $15, %rax
	syscall
	.cfi_endproc
	.size n_signal, . - n_signal

	.globl n_chooses
	.type n_chooses, @gnu_indirect_function
n_chooses:
	.cfi_startproc
	lea callee(%rip), %rax
	ret
	.cfi_endproc
	.size n_chooses, . - n_chooses

	.data
	.p2align 4
words:	.quad 0x123456789abcdef0, 0x0fedcba987654321
callee_address: .quad callee
	.globl callee_address
	.local machine, target, kept, before, after
	.comm machine, 8, 8
	.comm target, 8, 8
	.comm kept, 8, 8
	.comm before, 8, 8
	.comm after, 8, 8
	.globl noted
	.comm noted, 8, 8
	.globl entries
	.comm entries, 1024, 8
	.globl exits
	.comm exits, 1024, 8
	.globl misplaced
	.comm misplaced, 4, 4
	.local entered_at
	.comm entered_at, 8, 8
	.section .note.GNU-stack, "", @progbits
