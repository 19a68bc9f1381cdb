/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that is put into a process which is prepared or left by system calls made from outside
 * (retreat.c). The tracer may be killed at any moment; the kernel then lets the process go on from
 * the registers it has. Wherever that is in here, it comes to `back`, which undoes what has been
 * done and goes on with the program. No stack is used but for eight bytes below the red zone.
 *
 * st_retreat_code to st_retreat_end is copied; the data at its end is filled in by the tracer.
 */
	.section .rodata
	.balign 8
	.globl st_retreat_code, st_retreat_table, st_retreat_told, st_retreat_call, st_retreat_back
	.globl st_retreat_data, st_retreat_end
	.hidden st_retreat_code, st_retreat_table, st_retreat_told, st_retreat_call, st_retreat_back
	.hidden st_retreat_data, st_retreat_end

	/* One system call, whose number is at (%rbx), with its arguments behind it. */
	.macro CALL_AT_RBX
	movq (%rbx), %rax
	movq 8(%rbx), %rdi
	movq 16(%rbx), %rsi
	movq 24(%rbx), %rdx
	movq 32(%rbx), %r10
	movq 40(%rbx), %r8
	movq 48(%rbx), %r9
	syscall
	.endm

	/* A limit that was lifted, if it was. */
	.macro PUT_LIMIT resource, at
	cmpq $0, \at(%rip)
	je 9f
	movl $302, %eax          /* prlimit64(0, resource, at, NULL) */
	xorl %edi, %edi
	movl $\resource, %esi
	leaq \at(%rip), %rdx
	xorl %r10d, %r10d
	syscall
9:
	.endm

st_retreat_code:
	/* Makes the calls of the table from rbx to rbp, up to the first that fails; each answer takes the place of its
	 * number. Then the tracer is told, by a signal that is ignored when there is none: SIGURG. */
st_retreat_table:
	CALL_AT_RBX
	movq %rax, (%rbx)
	cmpq $-4095, %rax
	jae 1f
	addq $56, %rbx
	cmpq %rbp, %rbx
	jb st_retreat_table
1:	movl $39, %eax           /* getpid */
	syscall
	movl %eax, %edi
	movl $23, %esi           /* SIGURG */
	movl $62, %eax           /* kill */
	syscall
st_retreat_told:
	jmp st_retreat_back

	/* One call, by registers. */
st_retreat_call:
	syscall

st_retreat_back:
	/* Descriptors that a call may have brought. */
	movq fds(%rip), %rbx
	movq fds_end(%rip), %rbp
2:	cmpq %rbp, %rbx
	jae 3f
	movl (%rbx), %edi
	movl $3, %eax            /* close */
	syscall
	addq $4, %rbx
	jmp 2b
	/* What undoes the rest; the last call may unmap the list itself. */
3:	movq undo(%rip), %rbx
	movq undo_end(%rip), %rbp
4:	cmpq %rbp, %rbx
	jae 5f
	CALL_AT_RBX
	addq $56, %rbx
	jmp 4b
5:	PUT_LIMIT 9, limits + 0  /* RLIMIT_AS */
	PUT_LIMIT 2, limits + 16 /* RLIMIT_DATA */
	movl $14, %eax           /* rt_sigprocmask(SIG_SETMASK, &mask, NULL, 8) */
	movl $2, %edi
	leaq mask(%rip), %rsi
	xorl %edx, %edx
	movl $8, %r10d
	syscall
	leaq -128(%rsp), %rsp
	pushq rflags(%rip)
	popfq
	leaq 128(%rsp), %rsp
	movq regs + 0(%rip), %rax
	movq regs + 8(%rip), %rcx
	movq regs + 16(%rip), %rdx
	movq regs + 24(%rip), %rbx
	movq regs + 40(%rip), %rbp
	movq regs + 48(%rip), %rsi
	movq regs + 56(%rip), %rdi
	movq regs + 64(%rip), %r8
	movq regs + 72(%rip), %r9
	movq regs + 80(%rip), %r10
	movq regs + 88(%rip), %r11
	movq regs + 96(%rip), %r12
	movq regs + 104(%rip), %r13
	movq regs + 112(%rip), %r14
	movq regs + 120(%rip), %r15
	jmp *pc(%rip)

	.balign 8
	/* struct st_retreat_data */
st_retreat_data:
fds:	.quad 0
fds_end: .quad 0
undo:	.quad 0
undo_end: .quad 0
mask:	.quad 0
rflags:	.quad 0
pc:	.quad 0
regs:	.skip 128
limits:	.skip 32
st_retreat_end:
	.section .note.GNU-stack, "", @progbits
