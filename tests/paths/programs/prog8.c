/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Long jumps with any number of arguments: before and after them the stack pointer is higher,
 * lower or the same. IHPP's prog8 (listing 5.18) and more.
 */
#include "hazard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

static jmp_buf jump_buffer;

NOIPA static void
testJmp(int par, ...)
{
	va_list ap;

	if (par)
		longjmp(jump_buffer, 1);
	printf("par is zero!\n");
	va_start(ap, par);
	while (par != -1) {
		par = va_arg(ap, int);
		printf("arg: %i\n", par);
	}
	va_end(ap);
}

int
main(void)
{
	if (!setjmp(jump_buffer))
		testJmp(1);
	else
		testJmp(0, 25, 100, 386, -1);
	if (!setjmp(jump_buffer))
		testJmp(1);
	else
		testJmp(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -1);
	if (!setjmp(jump_buffer))
		testJmp(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -1);
	else
		testJmp(0, -1);
	return 0;
}
