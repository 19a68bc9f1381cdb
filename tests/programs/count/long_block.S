/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ten thousand instructions without a branch: one block, however the engine cuts it.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=10003 blocks=1 */
#include "count/count.inc.S"

	START
	.rept 5000
	add $1, %eax
	.endr
	.rept 5000
	lea 1(%rbx), %rbx
	.endr
	EXIT
	END
