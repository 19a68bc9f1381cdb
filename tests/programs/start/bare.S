/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program without libc: _start checks that every register is as the kernel leaves it at exec (all
 * zero, flags 0x202, stack aligned), writes a line and exits. Failure exits with the number of the
 * check.
 */
	.globl _start
_start:
	mov %rsp, entry_sp(%rip)
	mov %rax, regs(%rip)
	lea -128(%rsp), %rsp
	pushfq
	popq flags(%rip)
	or %rbx, %rax
	or %rcx, %rax
	or %rdx, %rax
	or %rsi, %rax
	or %rdi, %rax
	or %rbp, %rax
	or %r8, %rax
	or %r9, %rax
	or %r10, %rax
	or %r11, %rax
	or %r12, %rax
	or %r13, %rax
	or %r14, %rax
	or %r15, %rax
	mov $1, %edi
	jnz fail
	mov flags(%rip), %rax
	and $0xcff, %eax        /* what a debugger or tracer may add (TF, RF) excluded */
	cmp $0x202 & 0xcff, %eax
	mov $2, %edi
	jne fail
	mov entry_sp(%rip), %rsp
	mov $3, %edi
	test $15, %spl
	jnz fail
	mov $4, %edi
	cmpq $1, (%rsp)         /* argc */
	jne fail
	rdsspq %rax             /* a nop here: no shadow stack, rax stays what it was */
	stmxcsr control(%rip)
	mov $5, %edi
	cmpl $0x1f80, control(%rip)
	jne fail
	fnstcw control(%rip)
	mov $6, %edi
	cmpw $0x37f, control(%rip)
	jne fail
	mov $1, %eax
	mov $1, %edi
	lea text(%rip), %rsi
	mov $text_end - text, %edx
	syscall
	mov $7, %edi
	cmp $text_end - text, %rax
	jne fail
	lea after(%rip), %rbx
	mov $102, %eax          /* getuid: rcx must be the next address */
	syscall
after:
	mov $8, %edi
	cmp %rbx, %rcx
	jne fail
	xor %edi, %edi
fail:
	mov $231, %eax
	syscall
	hlt

	.section .rodata
text:	.ascii "bare: registers at entry are as the kernel leaves them\n"
text_end:
	.bss
entry_sp: .quad 0
regs:	.quad 0
flags:	.quad 0
control: .quad 0
	.section .note.GNU-stack, "", @progbits
