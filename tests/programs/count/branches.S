/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Branches that are not taken end a block too, and a label that is only fallen into begins none.
 * Per turn: test, jz (not taken), jrcxz (not taken), nop, loopne (not taken, rcx 1), cmp, je
 * (taken), jmp, dec, jnz: 10 instructions and 6 blocks, and mov for rcx: 11.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=1104 blocks=601 */
#include "count/count.inc.S"

	START
	mov $100, %ebx
1:	mov $1, %ecx
	test %ebx, %ebx
	jz 9f
	jrcxz 9f
2:	nop
	loopne 2b
	cmp %ebx, %ebx
	je 3f
	ud2
3:	jmp 4f
	ud2
4:	dec %ebx
	jnz 1b
	EXIT
9:	EXIT 1
	END
