/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work that only paths of the call graph tell apart. Most of it is always the same. Each [ is
 * appended to a list whose end is found from its beginning, which is little in comparison. Each
 * x and each y lead to the same work by functions that do the same: the sum of the work, and that
 * of `common`, do not change when one letter replaces the other.
 */
#include <stdio.h>
#include <stdlib.h>

struct item {
	struct item *next;
};

static volatile unsigned sink;

__attribute__((noinline)) static void
constant_part(void)
{
	for (unsigned i = 0; i < 400000; i++)
		sink += i;
}

__attribute__((noinline)) static void
append_local(struct item **at)
{
	while (*at)
		at = &(*at)->next;
	*at = calloc(1, sizeof **at);
}

__attribute__((noinline)) static void
common(void)
{
	for (unsigned i = 0; i < 2000; i++)
		sink += i;
}

/* Different constants, so that the compiler does not make one function of both. */
__attribute__((noinline)) static void
first_way(void)
{
	common();
	sink += 1;
}

__attribute__((noinline)) static void
second_way(void)
{
	common();
	sink += 2;
}

int
main(int argc, char **argv)
{
	struct item *list = NULL;
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
	constant_part();
	for (int c; in && (c = getc(in)) != EOF;)
		switch (c) {
		case '[':
			append_local(&list);
			break;
		case 'x':
			first_way();
			break;
		case 'y':
			second_way();
			break;
		default:
			break;
		}
	return 0;
}
