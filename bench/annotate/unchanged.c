/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Five functions whose costs grow with n and scatter, for checks of unchanged and of changed
 * programs. usage: unchanged SEED SIZES[,SIZE...] [CALLS [planted]]   SIZES: 1..100 at random if 0;
 * planted: n^2 instead of n */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET __attribute__((noinline, noclone))

static unsigned
below(uint64_t *state, unsigned n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((*state >> 33) % n);
}

static void
cost(unsigned long units, unsigned noise)
{
	for (unsigned long i = 0; i < 40 * units; i++)
		__asm__ volatile("" : : "r"(i));
	free(malloc(16 * units + noise));
	__asm__ volatile("" : : : "memory");
}

#define FUNCTION(name, units)                                                                      \
	TARGET void name(unsigned n, unsigned noise, unsigned scale)                               \
	{                                                                                          \
		cost((units)*scale / 10, noise);                                                   \
		__asm__ volatile("" : : : "memory");                                               \
	}
FUNCTION(parse, 10 * n)
FUNCTION(find, 20 * n + 100)
FUNCTION(merge, 5 * n + 300)
FUNCTION(store, 40 * n)
FUNCTION(flush, 500 + 0 * n)

int
main(int argc, char **argv)
{
	uint64_t state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const char *sizes = argc > 2 ? argv[2] : "0";
	const int calls = argc > 3 ? atoi(argv[3]) : 60;
	const int planted = argc > 4 && !strcmp(argv[4], "planted");
	for (const char *p = sizes; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		for (int i = 0; i < calls; i++) {
			const unsigned n = atoi(p) ? (unsigned)atoi(p) : 1 + below(&state, 100),
			               scale = planted ? n : 10;
			parse(n, below(&state, 200), scale);
			find(n, below(&state, 200), scale);
			merge(n, below(&state, 200), scale);
			store(n, below(&state, 200), scale);
			flush(n, below(&state, 200), 10);
		}
	}
	puts("done");
	return 0;
}
