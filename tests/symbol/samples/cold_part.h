/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A local function with a cold part, of one name in two files. */
#include "cold.h"

static __attribute__((noinline)) int
same_name(int x)
{
	if (__builtin_expect(x > 30, 0)) {
		seldom("more than", x);
		seldom("or", x + NUMBER);
		return x * 5;
	}
	return x + NUMBER;
}
