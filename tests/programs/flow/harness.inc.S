/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Assembly side of the transfer tests. A test is a function that loads known values into all
 * registers, the flags and the red zone (BEGIN), makes one transfer of control, and stores
 * everything it then finds (END). The C side compares.
 */
#define RAX 0
#define RCX 1
#define RDX 2
#define RBX 3
#define RSP 4
#define RBP 5
#define RSI 6
#define RDI 7
#define ZONE 16 /* words below rsp that are compared, slot k is at -8(k+1) from rsp */

	.macro BEGIN name
	.globl \name
	.type \name, @function
\name:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	sub $2056, %rsp         /* room that the test may use above its rsp: want_rsp points into its middle */
	mov %rsp, saved_rsp(%rip)
	lea 1024(%rsp), %rsp
	mov %rsp, want+8*RSP(%rip)
	lea -256(%rsp), %rsp
	pushq want_flags(%rip)
	popfq
	lea 256(%rsp), %rsp
	.irp k, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	mov want_zone+8*\k(%rip), %rax
	mov %rax, -8-8*\k(%rsp)
	.endr
	mov want+8*RAX(%rip), %rax
	mov want+8*RCX(%rip), %rcx
	mov want+8*RDX(%rip), %rdx
	mov want+8*RBX(%rip), %rbx
	mov want+8*RBP(%rip), %rbp
	mov want+8*RSI(%rip), %rsi
	mov want+8*RDI(%rip), %rdi
	.irp k, 8,9,10,11,12,13,14,15
	mov want+8*\k(%rip), %r\k
	.endr
	.endm

	/* Stores what the test left. Nothing before the last store of a register changes flags or the red zone. */
	.macro CAPTURE
	mov %rax, got+8*RAX(%rip)
	mov %rcx, got+8*RCX(%rip)
	mov %rdx, got+8*RDX(%rip)
	mov %rbx, got+8*RBX(%rip)
	mov %rsp, got+8*RSP(%rip)
	mov %rbp, got+8*RBP(%rip)
	mov %rsi, got+8*RSI(%rip)
	mov %rdi, got+8*RDI(%rip)
	.irp k, 8,9,10,11,12,13,14,15
	mov %r\k, got+8*\k(%rip)
	.endr
	lea -256(%rsp), %rsp
	pushfq
	popq got_flags(%rip)
	lea 256(%rsp), %rsp
	.irp k, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	mov -8-8*\k(%rsp), %rax
	mov %rax, got_zone+8*\k(%rip)
	.endr
	.endm

	/* After CAPTURE: what this test changes on purpose. */
	.macro EXPECT where, index, address
	lea \address(%rip), %rax
	mov %rax, \where+8*\index(%rip)
	.endm

	.macro FINISH
	mov saved_rsp(%rip), %rsp
	add $2056, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.endm

	.macro END
	CAPTURE
	FINISH
	.endm

	/* Every test is listed in a section that the C side walks. */
	.macro LIST name
	.pushsection .rodata
77:	.asciz "\name"
	.popsection
	.pushsection test_table, "aw"
	.quad \name, 77b
	.popsection
	.endm

	.macro TEST name
	LIST \name
	BEGIN \name
	.endm
