/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Direct calls and returns: 1000 calls of a leaf that another function calls twice. outer: 1 + 1000
 * * (call, dec, jnz) + 3; middle: call, call, ret; leaf: nop, ret, twice: 1000 * (3 + 3 + 4) + 4.
 * Blocks: per turn call, jnz, call, call, ret, ret, ret = 7; and the exit.
 */
/* strobe-test: stress=versions */
/* strobe-count: instructions=10004 blocks=7001 */
#include "count/count.inc.S"

	START
	mov $1000, %ebx
1:	call middle
	dec %ebx
	jnz 1b
	EXIT
middle:	call leaf
	call leaf
	ret
leaf:	nop
	ret
	END
