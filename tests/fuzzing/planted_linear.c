/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sum over the bytes of the first argument. */
#include <stdio.h>

__attribute__((noinline)) static unsigned
add_byte(unsigned sum, char c)
{
	return c == ' ' ? sum ^ 5 : sum * 31 + (unsigned char)c;
}

int
main(int argc, char **argv)
{
	unsigned sum = 0;
	for (const char *c = argc > 1 ? argv[1] : ""; *c; c++)
		sum = add_byte(sum, *c);
	printf("%u\n", sum);
	return 0;
}
