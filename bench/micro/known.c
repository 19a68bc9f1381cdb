/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that mostly does the same, in calls below few contexts: each round calls a tree of
 * 1,023 activations in 10 contexts, then one of 4,096 rare contexts, another one in each round.
 * What `strobe paths --unique-log` saves when it does not follow what it knows is most here.
 *
 * usage: known [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 10, FUNCTIONS = 16, RARE = FUNCTIONS * FUNCTIONS * FUNCTIONS };

static volatile unsigned sink;

#define TREE(n, below)                                                                             \
	__attribute__((noipa)) static void tree_##n(unsigned value)                                \
	{                                                                                          \
		for (unsigned i = 0; i < 20; i++)                                                  \
			sink += value ^ i;                                                         \
		below(2 * value);                                                                  \
		below(2 * value + 1);                                                              \
		__asm__ volatile("" ::: "memory");                                                 \
	}

__attribute__((noipa)) static void
tree_0(unsigned value)
{
	sink += value;
}
TREE(1, tree_0)
TREE(2, tree_1)
TREE(3, tree_2)
TREE(4, tree_3)
TREE(5, tree_4)
TREE(6, tree_5)
TREE(7, tree_6)
TREE(8, tree_7)
TREE(9, tree_8)

typedef void rare(unsigned way, unsigned depth);
static rare *const functions[FUNCTIONS];

#define FUNCTION(n)                                                                                \
	__attribute__((noipa)) static void rare_##n(unsigned way, unsigned depth)                  \
	{                                                                                          \
		sink += n;                                                                         \
		if (depth)                                                                         \
			functions[way % FUNCTIONS](way / FUNCTIONS, depth - 1);                    \
		__asm__ volatile("" ::: "memory");                                                 \
	}
#define ALL(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15)
ALL(FUNCTION)
#define NAME(n) rare_##n,
static rare *const functions[FUNCTIONS] = {ALL(NAME)};

int
main(int n, char **arguments)
{
	unsigned rounds = n > 1 ? (unsigned)atoi(arguments[1]) : 64 * RARE;
	for (unsigned i = 0; i < rounds; i++) {
		unsigned way = i * 2731u % RARE; /* each once before the first comes again */
		tree_9(i);
		functions[way % FUNCTIONS](way / FUNCTIONS, 2);
	}
	printf("%u\n", sink);
	return 0;
}
