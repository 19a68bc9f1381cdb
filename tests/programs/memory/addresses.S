/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every way in which an instruction can name memory: tests/tools/truth.py compares what memtrace
 * records of it with what judge.c computes.
 */
/* strobe-test: */
#include "count/count.inc.S"

	.bss
	.balign 64
data:	.skip 4096
fsdata:	.skip 256

	START
	/* Bases, indices, scales, displacements; each register. */
	lea data+256(%rip), %rbx
	mov $3, %ecx
	mov %eax, (%rbx)
	mov %eax, 4(%rbx)
	mov %eax, -128(%rbx)
	mov %eax, 1024(%rbx,%rcx,8)
	mov %ax, (%rbx,%rcx)
	mov data(,%rcx,4), %al
	mov data, %edx
	mov data(%rip), %rdx
	mov %rbx, %rbp
	mov (%rbp), %al
	mov (%rbp,%rcx,2), %al
	mov %rbx, %r12
	mov %rbx, %r13
	mov $-2, %r14
	mov (%r12), %al
	mov (%r13), %al
	mov (%r12,%r14,8), %eax
	mov 8(%r13,%r14,4), %eax
	mov %rbx, %r8
	mov %rbx, %r9
	mov %rbx, %r10
	mov %rbx, %r11
	mov %rbx, %r15
	add (%r8), %rax
	add %eax, (%r9)
	adcb $1, (%r10)
	lock xadd %rax, (%r11)
	movzbl (%r15), %esi
	mov (%rsp), %rsi
	mov 8(%rsp,%rcx,8), %rsi
	/* 32-bit addresses. */
	movl %eax, (%ebx)
	movl -8(%ebx,%ecx,4), %eax
	mov $-16, %eax
	movb 32(%ebx,%eax), %dl
	addr32 mov data(%eip), %edx
	/* Pushes and pops. */
	push %rax
	push $5
	push 8(%rsp)
	push (%rbx)
	pop 8(%rsp)
	pop (%rsp)
	pop (%rbx,%rcx,8)
	pushw %ax
	popw %dx
	pushf
	popf
	pop %rsi
	push %rsp
	pop %rsp
	call 1f
	lea 2f(%rip), %rax
	call *%rax
	mov %rax, (%rbx)
	call *(%rbx)
	mov %rbx, %rax
	call *(%rax)
	push %rax
	call 3f
	push %rax
	lea 3f(%rip), %rcx
	mov %rcx, 8(%rbx)
	call *8(%rbx)
	jmp 4f
1:	ret
2:	rep ret
3:	ret $8
4:	enter $32, $0
	mov %rax, (%rsp)
	enter $16, $1
	enter $8, $3
	leave
	leave
	mov %rax, -8(%rbp)
	leave
	/* Bit strings. */
	mov $-70, %rax
	bt %rax, (%rbx)
	bts %eax, (%rbx)
	btr %ax, (%rbx)
	btc $77, (%rbx)
	mov $8, %ecx
	mov $1000, %r8d
	lock bts %r8, (%rbx,%rcx)
	lea data+256(%rip), %rbx
	mov $100, %eax
	xlat
	mov $1, %ecx
	/* Compare and exchange. */
	xor %eax, %eax
	cmpxchg %ecx, 64(%rbx)
	lock cmpxchg %cl, 65(%rbx)
	cmpxchg8b 64(%rbx)
	lock cmpxchg16b 64(%rbx)
	xchg %rcx, 80(%rbx)
	/* Strings. */
	lea data(%rip), %rsi
	lea data+2048(%rip), %rdi
	cld
	movsb
	movsq
	stosl
	lodsw
	cmpsb
	scasq
	mov $7, %ecx
	rep movsb
	mov $5, %ecx
	rep stosq
	mov $3, %ecx
	rep lodsl
	xor %ecx, %ecx
	rep movsq
	mov $4, %ecx
	addr32 rep stosb
	std
	mov $3, %ecx
	rep movsb
	movsl
	cld
	/* An end that comes early is not known before. */
	/* Segments. */
	mov $158, %eax
	mov $0x1002, %edi
	lea fsdata(%rip), %rsi
	syscall
	lea fsdata(%rip), %rax
	mov %rax, fsdata(%rip)
	mov $16, %ecx
	mov %fs:0, %rax
	mov %rax, %fs:8
	mov %fs:8(,%rcx,2), %edx
	mov %fs:(%rcx), %edx
	addl $1, %fs:32
	movabs data, %al
	movabs %eax, data+8
	movabs data+16, %rax
	/* Vectors and x87. */
	movdqu (%rbx), %xmm0
	movaps %xmm0, (%rbx)
	movq %xmm0, 8(%rbx)
	movss (%rbx), %xmm1
	pshufd $3, (%rbx), %xmm2
	movhps %xmm0, 3(%rbx)
	movntdq %xmm0, (%rbx)
	movnti %rax, (%rbx)
	fldt (%rbx)
	fstpt 16(%rbx)
	fildl (%rbx)
	fistpll (%rbx)
	fnstcw (%rbx)
	fldcw (%rbx)
	stmxcsr (%rbx)
	ldmxcsr (%rbx)
	lea data+1024(%rip), %rdi
	pcmpeqd %xmm3, %xmm3
	maskmovdqu %xmm3, %xmm0
	prefetcht0 (%rbx)
	nopw 8(%rbx)
	lea 8(%rbx), %rax
	/* Flags that live across accesses. */
	mov $100, %ecx
	xor %edx, %edx
5:	cmp $50, %ecx
	mov (%rbx), %eax
	mov %eax, 4(%rbx)
	adc $0, %edx
	sub $1, %ecx
	mov %ecx, (%rbx)
	jnz 5b
	mov $0x7fffffff, %eax
	add $1, %eax
	push %rax
	mov 8(%rbx), %rsi
	seto %dl
	pop %rax
	jno 6f
	/* loop and its kin. */
	mov $5, %ecx
7:	mov %ecx, (%rbx)
	loop 7b
	mov $5, %ecx
8:	cmpl $3, (%rbx)
	mov %ecx, (%rbx)
	loopne 8b
	mov $5, %ecx
9:	test $0, %al
	loope 9b
	jrcxz 1f
1:	jecxz 1f
1:	mov $1, %ecx
	jrcxz 6f
	jecxz 6f
	/* EVEX, with its compressed displacements. */
	mov $7, %eax
	xor %ecx, %ecx
	cpuid
	lea data+1024(%rip), %rsi
	mov $1, %edi
	test $0x10000, %ebx
	jz 6f
	vmovups 64(%rsi), %zmm0
	vmovups %zmm0, -128(%rsi)
	vmovups 32(%rsi,%rdi,8), %ymm16
	vaddps 4(%rsi){1to16}, %zmm0, %zmm1
	vaddpd -8(%rsi){1to8}, %zmm0, %zmm1
	vmovss 4(%rsi), %xmm17
	vmovups 128(%esi), %zmm0
	vpmovzxbd 16(%rsi), %zmm2
	vmovups 5(%rsi), %zmm0
	vzeroupper
6:	EXIT
	END
