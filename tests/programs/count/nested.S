/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops in a loop: 1 + 100 * (1 + 2 * 25 + 2) + 3, and 100 * 26 + 1 blocks; the inner one uses the
 * loop instruction.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=5304 blocks=2601 */
#include "count/count.inc.S"

	START
	mov $100, %ebx
1:	mov $25, %ecx
2:	nop
	loop 2b
	dec %ebx
	jnz 1b
	EXIT
	END
