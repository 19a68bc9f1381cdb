/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function whose first instruction is of a function of a header. */
#include "headed.h"

__attribute__((noinline)) int
headed(int x)
{
	return headed_square(x);
}

int
main(int argc, char **argv)
{
	(void)argv;
	return headed(argc) == 12345;
}
