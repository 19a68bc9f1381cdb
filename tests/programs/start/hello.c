/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Says hello and echoes its arguments: the first program an engine must carry, in every kind of
 * link.
 */
/* strobe-test: args="one 'two words' ''" stress=none */
#include "check.h"

int
main(int argc, char **argv)
{
	printf("hello, %d arguments\n", argc - 1);
	for (int i = 1; i < argc; i++)
		printf("[%s]\n", argv[i]);
	return 0;
}
