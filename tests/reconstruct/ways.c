/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ways TURNS: loops, choices, a table of jumps, recursion, tail calls, callbacks and longjmp. Which
 * way it takes is the same again after 360 turns. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone))

static jmp_buf back;
static volatile uint64_t sum;

APART static uint64_t
choose(uint64_t x)
{
	if (x % 3 == 0)
		x += 5;
	else
		x ^= x >> 7;
	if (x & 1)
		x = x * 3 + 1;
	return x;
}

APART static uint64_t
jump(uint64_t x)
{
	switch (x % 9) {
	case 0:
		return choose(x);
	case 1:
		sum++;
		break;
	case 2:
		x += 7;
		break;
	case 3:
		x ^= 0x55;
		break;
	case 4:
		return choose(x + 1) + 1;
	case 5:
		sum += x;
		x >>= 1;
		break;
	case 6:
		x = ~x;
		break;
	default:
		x += 3;
	}
	return x + 1;
}

APART static uint64_t
recurse(uint64_t depth)
{
	if (!depth)
		return 1;
	uint64_t x = recurse(depth - 1);
	return depth & 1 ? choose(x) : x + recurse(depth / 3);
}

APART static void
give_up(uint64_t x)
{
	if (x % 4 == 0)
		longjmp(back, 1);
	sum += x;
}

APART static uint64_t
try_it(uint64_t x)
{
	volatile uint64_t tries = 0;
	if (setjmp(back))
		tries++;
	if (tries < 2) {
		give_up(x);
		give_up(x + 1);
	}
	return tries;
}

APART static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

APART static uint64_t
sort(uint64_t x)
{
	uint64_t v[6];
	for (unsigned i = 0; i < 6; i++)
		v[i] = x = jump(x * 7 + i);
	qsort(v, 6, sizeof *v, compare);
	return v[3];
}

int
main(int argc, char **argv)
{
	uint64_t turns = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, x = 1;
	for (uint64_t i = 0; i < turns; i++) {
		x += choose(i % 10);
		x += jump(i % 18);
		x += recurse(i % 5);
		x += try_it(i % 8);
		x += sort(i % 40);
	}
	printf("%llu\n", (unsigned long long)(x + sum));
	return 0;
}
