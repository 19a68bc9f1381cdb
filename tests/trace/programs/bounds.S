/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions with and without code that shows that each call takes the same time. */
	.macro FUNCTION name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
	endbr64
	.endm
	.macro END name
	.size \name, . - \name
	.endm

	.text
FUNCTION b_straight
	leaq 1(%rdi), %rax
	imulq %rdi, %rax
	ret
END b_straight
FUNCTION b_branches
	xorl %eax, %eax
	testq %rdi, %rdi
	jz 1f
	jmp 2f
1:	incl %eax
2:	ret
END b_branches
FUNCTION b_loop
	movl $3, %eax
1:	decl %eax
	jnz 1b
	ret
END b_loop
FUNCTION b_counted_loop
	movl $3, %ecx
1:	loop 1b
	ret
END b_counted_loop
FUNCTION b_string
	xorl %ecx, %ecx
	movq %rdi, %rsi
	rep movsb
	ret
END b_string
FUNCTION b_calls
	subq $8, %rsp
	call b_straight
	addq $8, %rsp
	ret
END b_calls
FUNCTION b_calls_pointer
	subq $8, %rsp
	leaq b_straight(%rip), %rax
	call *%rax
	addq $8, %rsp
	ret
END b_calls_pointer
FUNCTION b_tail_call
	nopl (%rax)
	jmp b_straight
END b_tail_call
FUNCTION b_switch
	leaq 1f(%rip), %rax
	jmp *%rax
1:	ret
END b_switch
FUNCTION b_system
	movl $39, %eax /* getpid */
	syscall
	ret
END b_system
FUNCTION b_data
	xorl %eax, %eax
	ret
	.byte 0x06, 0x07, 0x06, 0x07
END b_data

FUNCTION main
	pushq %rbx
	movq %rsp, %rbx
	.irp name, b_straight, b_branches, b_loop, b_counted_loop, b_string, b_calls, b_calls_pointer, b_tail_call, b_switch, b_system, b_data
	movq %rbx, %rdi
	call \name
	.endr
	xorl %eax, %eax
	popq %rbx
	ret
END main
	.section .note.GNU-stack, "", @progbits
