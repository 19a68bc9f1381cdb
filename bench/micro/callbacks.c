/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indirect calls to a function that the caller does not know: qsort and bsearch. usage: callbacks
 * ELEMENTS ROUNDS */
#include <stdio.h>
#include <stdlib.h>

static int
by_value(const void *a, const void *b)
{
	const int *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int
by_low_digits(const void *a, const void *b)
{
	int x = *(const int *)a % 1000, y = *(const int *)b % 1000;
	return x == y ? by_value(a, b) : x < y ? -1 : 1;
}

int
main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 100000;
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	int *v = malloc(n * sizeof *v);
	unsigned seed = 1;
	unsigned long sum = 0;
	if (!v)
		return 1;
	for (int r = 0; r < rounds; r++) {
		for (size_t i = 0; i < n; i++)
			v[i] = (int)((seed = seed * 1103515245u + 12345u) >> 8);
		qsort(v, n, sizeof *v, by_low_digits);
		sum += (unsigned)v[n / 3];
		qsort(v, n, sizeof *v, by_value);
		for (int key = 0; key < 20000; key++)
			sum += bsearch(&key, v, n, sizeof *v, by_value) != NULL;
		sum += (unsigned)v[n / 2];
	}
	printf("%lu\n", sum);
	free(v);
	return 0;
}
