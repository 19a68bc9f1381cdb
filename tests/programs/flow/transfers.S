/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every way to transfer control, see harness.inc.S and transfers.c. */
#include "harness.inc.S"

	.text
/* A landing that must not be reached. */
wrong:
	ud2

	TEST fall_through
	END

	TEST jump_short
	jmp 1f
	ud2
1:	END

	TEST jump_near
	jmp 1f
	.skip 300, 0xcc
1:	END

	TEST jump_back
	jmp 2f
1:	jmp 3f
	ud2
2:	jmp 1b
	ud2
3:	END

	/* Indirect jumps through each register: the register holds the target then. */
	.macro JUMP_REGISTER reg, index
	TEST jump_\reg
	lea 1f(%rip), %\reg
	jmp *%\reg
	ud2
1:	CAPTURE
	EXPECT want, \index, 1b
	FINISH
	TEST notrack_jump_\reg
	lea 1f(%rip), %\reg
	notrack jmp *%\reg
	ud2
1:	CAPTURE
	EXPECT want, \index, 1b
	FINISH
	TEST call_\reg
	lea 1f(%rip), %\reg
	call *%\reg
2:	ud2
1:	lea 8(%rsp), %rsp
	CAPTURE
	EXPECT want, \index, 1b
	EXPECT want_zone, 0, 2b
	FINISH
	TEST call_and_return_\reg
	lea 1f(%rip), %\reg
	call *%\reg
2:	jmp 3f
1:	ret
3:	CAPTURE
	EXPECT want, \index, 1b
	EXPECT want_zone, 0, 2b
	FINISH
	TEST jump_through_\reg
	lea 1f(%rip), %\reg
	mov %\reg, slot+16(%rip)
	lea slot(%rip), %\reg
	jmp *16(%\reg)
	ud2
1:	CAPTURE
	EXPECT want, \index, slot
	FINISH
	TEST call_through_\reg
	lea 1f(%rip), %\reg
	mov %\reg, slot+16(%rip)
	lea slot(%rip), %\reg
	call *16(%\reg)
2:	jmp 3f
1:	ret
3:	CAPTURE
	EXPECT want, \index, slot
	EXPECT want_zone, 0, 2b
	FINISH
	.endm
	JUMP_REGISTER rax, 0
	JUMP_REGISTER rcx, 1
	JUMP_REGISTER rdx, 2
	JUMP_REGISTER rbx, 3
	JUMP_REGISTER rbp, 5
	JUMP_REGISTER rsi, 6
	JUMP_REGISTER rdi, 7
	.irp k, 8,9,10,11,12,13,14,15
	JUMP_REGISTER r\k, \k
	.endr

	/* Base and index of every kind: table[index] with scale 8, absolute index without base. */
	.macro JUMP_INDEXED base, bindex, index, iindex
	TEST jump_\base\()_\index
	lea 1f(%rip), %\base
	mov %\base, slot+48(%rip)
	lea slot(%rip), %\base
	mov $5, %\index
	jmp *8(%\base,%\index,8)
	ud2
1:	CAPTURE
	EXPECT want, \bindex, slot
	movq $5, want+8*\iindex(%rip)
	FINISH
	TEST call_\base\()_\index
	lea 1f(%rip), %\base
	mov %\base, slot+48(%rip)
	lea slot(%rip), %\base
	mov $5, %\index
	call *8(%\base,%\index,8)
2:	jmp 3f
1:	ret
3:	CAPTURE
	EXPECT want, \bindex, slot
	movq $5, want+8*\iindex(%rip)
	EXPECT want_zone, 0, 2b
	FINISH
	.endm
	JUMP_INDEXED rax, 0, rcx, 1
	JUMP_INDEXED rcx, 1, rdx, 2
	JUMP_INDEXED rdx, 2, rax, 0
	JUMP_INDEXED rbx, 3, r12, 12
	JUMP_INDEXED rbp, 5, rdi, 7
	JUMP_INDEXED r13, 13, rbp, 5
	JUMP_INDEXED r12, 12, r13, 13
	JUMP_INDEXED rsi, 6, r15, 15
	JUMP_INDEXED r11, 11, rcx, 1

	TEST jump_memory
	lea 1f(%rip), %rax
	mov %rax, slot(%rip)
	mov want+8*RAX(%rip), %rax
	jmp *slot(%rip)
	ud2
1:	END

	TEST call_memory
	lea 1f(%rip), %rax
	mov %rax, slot(%rip)
	mov want+8*RAX(%rip), %rax
	call *slot(%rip)
2:	jmp 3f
1:	ret
3:	CAPTURE
	EXPECT want_zone, 0, 2b
	FINISH

	TEST call_direct
	call 1f
2:	jmp 3f
1:	ret
3:	CAPTURE
	EXPECT want_zone, 0, 2b
	FINISH

	/* The classic way to find one's address. */
	TEST call_pop
	call 1f
1:	pop %rax
	CAPTURE
	EXPECT want, RAX, 1b
	EXPECT want_zone, 0, 1b
	FINISH

	TEST call_pop_away
	call 1f
2:	ud2
1:	pop %r9
	CAPTURE
	EXPECT want, 9, 2b
	EXPECT want_zone, 0, 2b
	FINISH

	TEST nested_calls
	call 1f
2:	jmp 5f
1:	call 3f
4:	ret
3:	ret
5:	CAPTURE
	EXPECT want_zone, 0, 2b
	EXPECT want_zone, 1, 4b
	FINISH

	/* Operands relative to rsp. */
	.macro RSP_RELATIVE name, operand, adjust
	TEST jump_\name
	lea 1f(%rip), %rax
	\adjust
	mov %rax, \operand
	mov want+8*RAX(%rip), %rax
	jmp *\operand
	ud2
1:	CAPTURE
	.endm
	RSP_RELATIVE at_rsp, (%rsp),
	FINISH
	RSP_RELATIVE above_rsp, 40(%rsp),
	FINISH
	RSP_RELATIVE below_rsp, -8(%rsp),
	EXPECT want_zone, 0, 1b
	FINISH
	RSP_RELATIVE red_zone_end, -128(%rsp),
	EXPECT want_zone, 15, 1b
	FINISH
	RSP_RELATIVE indexed_rsp, "8(%rsp,%rcx,8)", "mov $7, %ecx"
	movq $7, want+8*RCX(%rip)
	FINISH

	.macro CALL_RSP_RELATIVE name, operand, adjust
	TEST call_\name
	lea 1f(%rip), %rax
	\adjust
	mov %rax, \operand
	mov want+8*RAX(%rip), %rax
	call *\operand
2:	jmp 3f
1:	ret
3:	CAPTURE
	EXPECT want_zone, 0, 2b
	.endm
	CALL_RSP_RELATIVE at_rsp, (%rsp),
	FINISH
	CALL_RSP_RELATIVE above_rsp, 8(%rsp),
	FINISH
	CALL_RSP_RELATIVE below_rsp, -8(%rsp),
	FINISH
	CALL_RSP_RELATIVE deep_red_zone, -64(%rsp),
	EXPECT want_zone, 7, 1b
	FINISH
	CALL_RSP_RELATIVE rcx_index, "8(%rsp,%rcx,8)", "mov $7, %ecx"
	movq $7, want+8*RCX(%rip)
	FINISH
	CALL_RSP_RELATIVE rdx_index, "-16(%rsp,%rdx,4)", "mov $8, %edx"
	movq $8, want+8*RDX(%rip)
	FINISH
	CALL_RSP_RELATIVE rdx_byte_index, "(%rsp,%rdx,1)", "mov $24, %edx"
	movq $24, want+8*RDX(%rip)
	FINISH

	/* Return in unusual ways. */
	TEST push_and_return
	lea 1f(%rip), %rax
	push %rax
	mov want+8*RAX(%rip), %rax
	ret
	ud2
1:	CAPTURE
	EXPECT want_zone, 0, 1b
	FINISH

	TEST push_memory_and_return
	lea 1f(%rip), %rax
	mov %rax, 8(%rsp)
	mov want+8*RAX(%rip), %rax
	push 8(%rsp)
	ret
	ud2
1:	CAPTURE
	EXPECT want_zone, 0, 1b
	FINISH

	TEST push_rip_relative_and_return
	lea 1f(%rip), %rax
	mov %rax, slot(%rip)
	mov want+8*RAX(%rip), %rax
	pushq slot(%rip)
	ret
	ud2
1:	CAPTURE
	EXPECT want_zone, 0, 1b
	FINISH

	TEST pop_and_jump
	call 1f
2:	jmp 3f
1:	pop %rdx
	jmp *%rdx
	ud2
3:	CAPTURE
	EXPECT want, RDX, 2b
	EXPECT want_zone, 0, 2b
	FINISH

	TEST edited_return
	call 1f
	ud2
2:	jmp 3f
1:	lea 2b(%rip), %rcx
	mov %rcx, (%rsp)
	mov want+8*RCX(%rip), %rcx
	ret
3:	CAPTURE
	EXPECT want_zone, 0, 2b
	FINISH

	/* The return address is moved over inline data behind the call. */
	TEST inline_data
	call 1f
	.ascii "data!"
2:	jmp 3f
1:	mov (%rsp), %rax
	lea 5(%rax), %rax
	mov %rax, (%rsp)
	mov want+8*RAX(%rip), %rax
	ret
3:	CAPTURE
	EXPECT want_zone, 0, 2b
	FINISH

	TEST return_immediate
	lea -64(%rsp), %rsp
	call 1f
2:	jmp 3f
1:	ret $64
3:	CAPTURE
	lea 2b(%rip), %rax
	mov %rax, want_zone+8*8(%rip)
	FINISH

	TEST return_immediate_zero
	call 1f
2:	jmp 3f
1:	ret $0
3:	CAPTURE
	EXPECT want_zone, 0, 2b
	FINISH

	TEST repz_return
	call 1f
2:	jmp 3f
1:	repz ret
3:	CAPTURE
	EXPECT want_zone, 0, 2b
	FINISH

	TEST bound_prefixes
	bnd call 1f
2:	bnd jmp 3f
	ud2
1:	bnd ret
3:	lea 4f(%rip), %rsi
	bnd jmp *%rsi
	ud2
4:	CAPTURE
	EXPECT want, RSI, 4b
	EXPECT want_zone, 0, 2b
	FINISH

	/* A chain of returns without a call: what exploits and some runtimes do. */
	TEST return_chain
	lea 3f(%rip), %rax
	push %rax
	lea 2f(%rip), %rax
	push %rax
	lea 1f(%rip), %rax
	push %rax
	mov want+8*RAX(%rip), %rax
	ret
	ud2
2:	ret
	ud2
1:	ret
	ud2
3:	CAPTURE
	EXPECT want_zone, 0, 3b
	EXPECT want_zone, 1, 2b
	EXPECT want_zone, 2, 1b
	FINISH

	TEST tail_call
	call 1f
2:	jmp 3f
1:	jmp 4f
4:	ret
3:	CAPTURE
	EXPECT want_zone, 0, 2b
	FINISH

	/* Stack arithmetic whose addresses follow the pointer's change. */
	TEST pop_memory
	push %rax
	pop slot(%rip)
	mov slot(%rip), %rax
	CAPTURE
	mov want+8*RAX(%rip), %rax
	mov %rax, want_zone(%rip)
	FINISH

	TEST pop_rsp_relative
	push %rbx
	pop 16(%rsp)            /* the address counts from the popped pointer */
	mov 16(%rsp), %rbx
	CAPTURE
	mov want+8*RBX(%rip), %rax
	mov %rax, want_zone(%rip)
	FINISH

	TEST push_rsp
	push %rsp
	pop %rcx
	CAPTURE
	mov want+8*RSP(%rip), %rax
	mov %rax, want+8*RCX(%rip)
	mov %rax, want_zone(%rip)
	FINISH

	TEST pop_rsp
	lea -80(%rsp), %rsp
	lea 80(%rsp), %rax
	push %rax
	pop %rsp
	CAPTURE
	mov want+8*RSP(%rip), %rax
	mov %rax, want+8*RAX(%rip)
	mov %rax, want_zone+8*10(%rip)
	FINISH

	TEST push_rsp_memory
	pushq -128(%rsp)
	pop %r8
	CAPTURE
	mov want_zone+8*15(%rip), %rax
	mov %rax, want+8*8(%rip)
	mov %rax, want_zone(%rip)
	FINISH

	TEST enter_leave
	enter $32, $0
	leave
	CAPTURE
	mov want+8*RBP(%rip), %rax
	mov %rax, want_zone(%rip)
	FINISH

	TEST exchange_rsp
	lea -64(%rsp), %rdx
	xchg %rsp, %rdx
	call 1f
	xchg %rsp, %rdx
	jmp 3f
1:	ret
3:	CAPTURE
	mov want+8*RSP(%rip), %rax
	lea -64(%rax), %rax
	mov %rax, want+8*RDX(%rip)
	mov got_zone+8*8(%rip), %rax
	mov %rax, want_zone+8*8(%rip)
	FINISH

	/* Far apart and overlapping code. */
	TEST overlapping
	jmp 1f+1
1:	mov $0x909004eb, %eax   /* from its second byte: jmp over the ud2 */
	ud2
	nop
	END

	TEST prefix_skipped
	jmp 1f+1
1:	.byte 0x64              /* an fs: prefix that the jump leaves out */
	mov (%rsp), %rax
	mov want+8*RAX(%rip), %rax
	END

	/* The same bytes entered twice, first whole, then in the middle of the first instruction. */
	TEST two_entries
	lea 3f(%rip), %rsi
1:	.byte 0xb8              /* mov $0x909007b3, %eax; from its second byte: mov $7, %bl; nop; nop */
2:	.byte 0xb3, 0x07, 0x90, 0x90
	jmp *%rsi
	ud2
3:	lea 4f(%rip), %rsi
	jmp 2b
	ud2
4:	CAPTURE
	mov $0x909007b3, %eax
	mov %rax, want+8*RAX(%rip)
	EXPECT want, RSI, 4b
	movb $7, want+8*RBX(%rip)
	FINISH

	.bss
	.balign 16
	.globl want, got, want_flags, got_flags, want_zone, got_zone
want:	.skip 16*8
got:	.skip 16*8
want_zone: .skip 16*8
got_zone: .skip 16*8
want_flags: .quad 0
got_flags: .quad 0
saved_rsp: .quad 0
slot:	.skip 128
	.section .note.GNU-stack, "", @progbits
