/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions for which there is no debug information. Their buffers lie one after the other and
 * grow, so that an address grows with the size. */
#include <stddef.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa))

static char memory[1 << 20];

/* The address is null in every fourth call. */
NOINLINE size_t
fills(char *to, size_t n)
{
	size_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (to)
			((volatile char *)to)[i] = 1;
		sum++;
	}
	return sum;
}

/* Sizes around 4 MiB, where the code of a program lies that is not position-independent. */
NOINLINE size_t
reserves(size_t bytes, void *unused)
{
	(void)unused;
	return bytes / 4096;
}

/* An address that is a number in one call. */
NOINLINE size_t
mixes(void *at)
{
	return (size_t)at % 8;
}

int
main(void)
{
	char *at = memory;
	size_t sum = 0;
	for (size_t n = 1; n <= 40; n++) {
		sum += fills(n % 4 ? at : NULL, 100 * n);
		at += 100 * n;
		sum += reserves(n << 18, malloc(n));
		sum += mixes(n == 7 ? (void *)7 : &at);
	}
	return sum == 0;
}
