/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known loops, calls and branches: lines N executes the loop of leaf N + N / 2 times. */
#include <stdio.h>
#include <stdlib.h>

#include "lines.h"

typedef unsigned leaf_fn(unsigned n);

__attribute__((noipa)) static unsigned
leaf(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++) {
		if (i % 3)
			s = mix(s + i);
		else
			s += 7;
	}
	return s;
}

__attribute__((noipa)) static unsigned
twice(unsigned n)
{
	unsigned s = leaf(n);
	return s + leaf(n / 2) + 1;
}

__attribute__((noipa)) static unsigned
pointed(leaf_fn *of, unsigned n)
{
	return of(n) + 1;
}

int
main(int argc, char **argv)
{
	const unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 300;
	printf("%u\n", pointed(twice, n));
	return 0;
}
