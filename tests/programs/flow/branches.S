/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditional branches of every kind; rbx tells which way each went. branches.c knows what is right. */
#include "harness.inc.S"

	.text
	.macro RESULT
	mov $0, %ebx
	jmp 2f
1:	mov $1, %ebx
2:	END
	.endm

	.macro CONDITION cc
	TEST short_\cc
	j\cc 1f
	RESULT
	TEST near_\cc
	j\cc 1f
	mov $0, %ebx
	jmp 2f
	.skip 200, 0xcc
1:	mov $1, %ebx
2:	END
	TEST back_\cc
	jmp 3f
1:	mov $1, %ebx
	jmp 2f
3:	j\cc 1b
	mov $0, %ebx
2:	END
	TEST set_\cc
	mov $0, %ebx
	set\cc %bl
	END
	TEST move_\cc
	mov $1, %ecx
	mov $0, %ebx
	cmov\cc %rcx, %rbx
	mov want+8*RCX(%rip), %rcx
	END
	.endm
	.irp cc, o,no,b,ae,e,ne,be,a,s,ns,p,np,l,ge,le,g
	CONDITION \cc
	.endr

	/* rcx is loaded with \count, so it is one less behind a loop instruction. */
	.macro COUNT name, instruction, count
	TEST \name
	mov $\count, %rcx
	\instruction 1f
	RESULT
	.endm
	COUNT loop_2, loop, 2
	COUNT loop_1, loop, 1
	COUNT loop_0, loop, 0
	COUNT loop_h, loop, 0x100000000
	COUNT loope_2, loope, 2
	COUNT loope_1, loope, 1
	COUNT loopne_2, loopne, 2
	COUNT loopne_1, loopne, 1
	COUNT jrcxz_0, jrcxz, 0
	COUNT jrcxz_1, jrcxz, 1
	COUNT jrcxz_h, jrcxz, 0x100000000
	COUNT jecxz_0, jecxz, 0
	COUNT jecxz_1, jecxz, 1
	COUNT jecxz_h, jecxz, 0x700000000
	COUNT loopl_1, "addr32 loop", 1
	COUNT loopl_h, "addr32 loop", 0x500000002

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
	.section .note.GNU-stack, "", @progbits
