/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each [ is appended to a list whose end is looked for from its beginning: quadratic. */
#include <stdio.h>
#include <stdlib.h>

struct item {
	struct item *next;
};

__attribute__((noinline)) static void
append_bracket(struct item **at)
{
	while (*at)
		at = &(*at)->next;
	*at = calloc(1, sizeof **at);
}

int
main(int argc, char **argv)
{
	struct item *list = NULL;
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
	for (int c; in && (c = getc(in)) != EOF;)
		if (c == '[')
			append_bracket(&list);
	return 0;
}
