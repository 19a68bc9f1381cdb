/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door into and out of random code. fz_enter loads a whole machine state and jumps; random code leaves through
 * fz_exit, which saves a whole machine state before it touches anything; a signal handler that gives up resumes at
 * fz_abort. No register is free on the way, so all state is addressed relative to rip.
 */
	.bss
	.balign 64
	.globl fz_xin, fz_xout, fz_in, fz_out, fz_host_fs, fz_code_fs, fz_rfbm
fz_xin:		.skip 8192
fz_xout:	.skip 8192
fz_in:		.skip 144	/* 16 registers in encoding order, flags, rip */
fz_out:		.skip 144
fz_host_rsp:	.skip 8
fz_host_fs:	.skip 8
fz_code_fs:	.skip 8		/* 0: leave FS alone */
fz_rfbm:	.skip 8

/* By a system call: wrfsbase is an invalid instruction where the kernel has not enabled it. rax, rcx, rdi, rsi and r11
 * are lost. */
	.macro set_fs from
	mov \from(%rip), %rsi
	mov $0x1002, %edi	/* ARCH_SET_FS */
	mov $158, %eax		/* arch_prctl */
	syscall
	.endm

	.text
	.globl fz_enter, fz_exit, fz_abort
	.type fz_enter, @function
fz_enter:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, fz_host_rsp(%rip)
	mov fz_rfbm(%rip), %eax
	xor %edx, %edx
	xrstor64 fz_xin(%rip)
	cmpq $0, fz_code_fs(%rip)
	je 1f
	set_fs fz_code_fs
1:	pushq 128+fz_in(%rip)
	popfq
	mov 0+fz_in(%rip), %rax
	mov 8+fz_in(%rip), %rcx
	mov 16+fz_in(%rip), %rdx
	mov 24+fz_in(%rip), %rbx
	mov 32+fz_in(%rip), %rsp
	mov 40+fz_in(%rip), %rbp
	mov 48+fz_in(%rip), %rsi
	mov 56+fz_in(%rip), %rdi
	mov 64+fz_in(%rip), %r8
	mov 72+fz_in(%rip), %r9
	mov 80+fz_in(%rip), %r10
	mov 88+fz_in(%rip), %r11
	mov 96+fz_in(%rip), %r12
	mov 104+fz_in(%rip), %r13
	mov 112+fz_in(%rip), %r14
	mov 120+fz_in(%rip), %r15
	jmp *136+fz_in(%rip)

fz_exit:
	mov %rax, 0+fz_out(%rip)
	mov %rcx, 8+fz_out(%rip)
	mov %rdx, 16+fz_out(%rip)
	mov %rbx, 24+fz_out(%rip)
	mov %rsp, 32+fz_out(%rip)
	mov %rbp, 40+fz_out(%rip)
	mov %rsi, 48+fz_out(%rip)
	mov %rdi, 56+fz_out(%rip)
	mov %r8, 64+fz_out(%rip)
	mov %r9, 72+fz_out(%rip)
	mov %r10, 80+fz_out(%rip)
	mov %r11, 88+fz_out(%rip)
	mov %r12, 96+fz_out(%rip)
	mov %r13, 104+fz_out(%rip)
	mov %r14, 112+fz_out(%rip)
	mov %r15, 120+fz_out(%rip)
	mov fz_host_rsp(%rip), %rsp
	pushfq
	popq 128+fz_out(%rip)
	mov fz_rfbm(%rip), %eax
	xor %edx, %edx
	xsave64 fz_xout(%rip)
fz_abort:
	mov fz_host_rsp(%rip), %rsp
	pushq $2
	popfq
	cmpq $0, fz_code_fs(%rip)
	je 1f
	set_fs fz_host_fs
1:	vzeroupper
	fninit
	pushq $0x1f80
	ldmxcsr (%rsp)
	add $8, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.size fz_enter, . - fz_enter
	.section .note.GNU-stack,"",@progbits
