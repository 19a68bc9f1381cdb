/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of which it is plain what must be executed. Labels are where blocks begin. */
	.text

.macro begin name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
.endm

.macro end name
	.cfi_endproc
	.size \name, . - \name
.endm

/* One way, with a choice in the middle. */
begin choice
	test %edi, %edi
	jz 1f
	nop
	jmp 2f
1:	xor %eax, %eax
	jmp 2f
2:	inc %eax
	jmp 3f
3:	ret
end choice

/* A loop that is passed at least once, and two ways out. */
begin loop
1:	dec %edi
	jz 2f
	jmp 1b
2:	test %esi, %esi
	jz 3f
	ret
3:	ud2
end loop

/* A call before the end. */
begin caller
	push %rbx
	.cfi_adjust_cfa_offset 8
	mov %edi, %ebx
	call choice
	test %ebx, %ebx
	jz 1f
	call choice
1:	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
end caller

/* A jump of which the code does not say where it goes. */
begin table
	test %edi, %edi
	jz 1f
	jmp *%rax
1:	nop
	jmp 2f
2:	ret
end table

/* Its middle is an entry, too: the next function jumps there. */
begin shared
	nop
	jmp 1f
1:	jmp 2f
2:	ret
end shared

begin sharer
	jmp 1b
end sharer

/* Never ends. */
begin forever
1:	test %edi, %edi
	jz 2f
	jmp 3f
2:	nop
	jmp 3f
3:	jmp 1b
end forever

/* Calls code that has no name, which calls the first one. */
begin outer
	call .Lnameless
	nop
	jmp 1f
1:	ret
end outer

.Lnameless:
	.cfi_startproc
	call choice
	ret
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
