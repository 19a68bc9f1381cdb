/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A long jump. IHPP's prog7 (listing 5.15). IHPP takes the second call for a recursion: main has
 * called testJmp twice.
 */
#include "hazard.h"

#include <setjmp.h>
#include <stdio.h>

static jmp_buf jump_buffer;

NOIPA static void
testJmp(int par)
{
	if (par)
		longjmp(jump_buffer, 1);
	printf("par is zero!\n");
	DONE;
}

int
main(void)
{
	if (!setjmp(jump_buffer)) {
		testJmp(1);
		printf("this message will not be printed!\n");
	} else {
		testJmp(0);
	}
	return 0;
}
