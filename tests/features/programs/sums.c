/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function that is part of a program, of a library, or of a library that is loaded with dlopen.
 */
#include "sums.h"

__attribute__((noinline, visibility("default"))) long
sums(const struct numbers *v, int times)
{
	long sum = 0;
	for (int i = 0; i < times; i++)
		for (int k = 0; k < v->n; k++)
			sum += v->v[k] ^ i;
	return sum;
}
