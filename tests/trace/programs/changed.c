/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two builds of a program, one with NEW, for `strobe trace --changed-since`. */
#include <stdio.h>
#include <stdlib.h>

#define APART static __attribute__((noipa))

static int (*volatile c_chosen)(int);

#ifdef NEW
/* Moves all that follows, and its text the texts. */
void c_new(void);
void
c_new(void)
{
	puts("a text that the other build does not have");
	puts("and one more");
}
#endif

APART int
c_stays(int n)
{
	return n > 2 ? abs(n) * 7 : n - 5;
}

/* Calls, jumps, a text, a variable: all of them lie elsewhere in the other build. */
APART int
c_moves(int n)
{
	printf("%d %s\n", c_stays(n), "text");
	for (int i = 0; i < n; i++)
		n -= c_stays(i);
	c_chosen = c_stays;
	return n + c_chosen(n);
}

#ifdef NEW
enum { DIFFERENCE = 3 };
#define CALLED c_moves
#else
enum { DIFFERENCE = 2 };
#define CALLED c_stays
#endif

APART int
c_differs(int n)
{
	return n + DIFFERENCE;
}

APART int
c_calls(int n)
{
	return CALLED(n) + 1;
}

int
main(int argc, char **argv)
{
	(void)argv;
	return (c_moves(argc) + c_differs(argc) + c_calls(argc)) & 0;
}
