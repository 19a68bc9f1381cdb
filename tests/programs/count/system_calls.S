/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thousand system calls in a loop: 1 + 1000 * (mov, syscall, dec, jnz) + 3; a system call ends
 * its block.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=4004 blocks=2001 */
#include "count/count.inc.S"

	START
	mov $1000, %ebx
1:	mov $39, %eax
	syscall
	dec %ebx
	jnz 1b
	EXIT
	END
