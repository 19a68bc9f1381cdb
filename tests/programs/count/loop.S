/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hundred thousand turns of a loop of two instructions: 1 + 2 * 100000 + 3.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=200004 blocks=100001 */
#include "count/count.inc.S"

	START
	mov $100000, %ecx
1:	dec %ecx
	jnz 1b
	EXIT
	END
