/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program with every kind of symbol that a table may hold: aliases, weak, IFUNC, local, data,
 * unsized assembly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

int table_of_data[4] = {1, 2, 3, 4};

static __attribute__((noinline)) int
local_twice(int x)
{
	return inlined_square(x) + table_of_data[x & 3];
}

__attribute__((noinline)) int
__strong_alias_target(int x)
{
	return local_twice(x) * 3;
}

/* At one address: __strong_alias_target, strong_alias (both global), weak_alias. strong_alias gives
 * the name. */
int strong_alias(int x) __attribute__((alias("__strong_alias_target")));
int weak_alias(int x) __attribute__((weak, alias("__strong_alias_target")));

__attribute__((weak, noinline)) int
only_weak(int x)
{
	return x ^ 5;
}

static int
chosen_one(int x)
{
	return x + 7;
}

static void *
resolve_chosen(void)
{
	return (void *)chosen_one;
}

int chosen(int x) __attribute__((ifunc("resolve_chosen")));

/* noreturn and unlikely: gcc puts the call into main.cold or report.cold. */
__attribute__((noinline)) int
report(const char *what, int value)
{
	if (__builtin_expect(value == -12345, 0)) {
		fprintf(stderr, "%s is impossible\n", what);
		abort();
	}
	return printf("%s %d\n", what, value);
}

int
main(int argc, char **argv)
{
	char *copy = strdup(argv[0]);
	int sum = strong_alias(argc) + weak_alias(argc) + only_weak(argc) + chosen(argc);
	sum += asm_sized(argc) + asm_unsized(argc) + other_file(argc);
	report(copy ? "sum" : "none", sum);
	free(copy);
	return 0;
}
