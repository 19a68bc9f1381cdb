/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A library whose every address and line is known. The lengths of the instructions stand beside them: the tests count
 * on them. Source lines are given by hand, with the little DWARF that they need.
 */
	.file 1 "/strobe/fixture.c"
	.text
.Ltext:
	.globl spin
	.type spin, @function
	.p2align 4
spin:					/* a loop inside; never jumps to its entry */
	.loc 1 10
	xorl %eax, %eax			/* +0  2 */
	.loc 1 11
1:	addl $1, %eax			/* +2  3 */
	cmpl $9, %eax			/* +5  3 */
	.loc 1 12
	jne 1b				/* +8  2 */
	.loc 1 13
	ret				/* +10 1 */
	.size spin, .-spin

	.globl restart
	.type restart, @function
	.p2align 4
restart:				/* jumps back to its entry, without and with a condition */
	.loc 1 20
	decl %edi			/* +0  2 */
	.loc 1 21
	js 2f				/* +2  2 */
	.loc 1 22
	testl $1, %edi			/* +4  6 */
	jz restart			/* +10 2 */
	.loc 1 23
	incl %eax			/* +12 2 */
	jmp restart			/* +14 2 */
	.loc 1 24
2:	ret				/* +16 1 */
	.size restart, .-restart

	.globl vague
	.type vague, @function
	.p2align 4
vague:					/* a jump back that cannot be counted: an indirect jump may lead past it */
	.loc 1 30
	decl %edi			/* +0  2 */
	jnz vague			/* +2  2 */
	.loc 1 31
	jmp *%rax			/* +4  2 */
	.size vague, .-vague

	.globl caller
	.type caller, @function
	.p2align 4
caller:
	.loc 1 40
	call spin			/* +0  5 */
	.loc 1 41
	xorl %eax, %eax			/* +5  2 */
	ret				/* +7  1 */
	.size caller, .-caller
.Letext:

	.section .debug_abbrev, "", @progbits
.Labbrev:
	.uleb128 1, 0x11		/* compile unit */
	.byte 0
	.uleb128 0x03, 0x08		/* name, string */
	.uleb128 0x1b, 0x08		/* comp_dir, string */
	.uleb128 0x10, 0x17		/* stmt_list, sec_offset */
	.uleb128 0x11, 0x01		/* low_pc, addr */
	.uleb128 0x12, 0x07		/* high_pc, data8 */
	.uleb128 0, 0, 0

	.section .debug_info, "", @progbits
	.long 2f-1f
1:	.short 4
	.long .Labbrev
	.byte 8
	.uleb128 1
	.string "fixture.c"
	.string "/strobe"
	.long .Lline
	.quad .Ltext
	.quad .Letext-.Ltext
2:
	.section .debug_line, "", @progbits
.Lline:
	.section .note.GNU-stack, "", @progbits
