/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For gcov: it must count each line as the coverage tool does. A line says where both know better:
 * of several loops gcov adds up the entries and the rounds, where the tool takes the most executed
 * instruction; and gcov does not see setjmp return again. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long sink;

static unsigned
collatz(unsigned n)
{
	unsigned steps = 0;
	while (n != 1) {
		if (n % 2)
			n = 3 * n + 1;
		else
			n /= 2;
		steps++;
	}
	return steps;
}

static int
kind(int c)
{
	switch (c % 5) {
	case 0:
		sink++;
		break;
	case 1:
		sink += 2;
		/* fallthrough */
	case 2:
		sink += 3;
		break;
	default:
		return c;
	}
	if (c > 90)
		return -1;
	return 0;
}

static void
never(void)
{
	puts("never");
	exit(2);
}

static int
compare(const void *a, const void *b)
{
	int x = *(const int *)a;
	int y = *(const int *)b;
	if (x < y)
		return -1;
	if (x > y)
		return 1;
	return 0;
}

static int
search(const int *sorted, int n, int wanted)
{
	int low = 0;
	int high = n;
	do {
		int middle = (low + high) / 2;
		if (sorted[middle] <= wanted)
			low = middle;
		else
			high = middle;
	} while (high - low > 1);
	if (sorted[low] != wanted)
		goto none;
	return low;
none:
	return -1;
}

static jmp_buf away;

static void
leave(int n)
{
	if (n)
		longjmp(away, n);
	sink++;
}

static int
either(int n)
{
	return n > 3 && n < 40 ? n - 1 : n + 1;
}

/* clang-format off */
static void
crowded(void)
{
	for (int i = 0; i < 4; i++) for (int k = 0; k < 5; k++) sink++; /* gcov 25, coverage 24 */
	for (int i = 0; i < 3; i++) sink++; for (int i = 0; i < 5; i++) sink++; /* gcov 9, coverage 6 */
	if (setjmp(away) < 5) /* gcov 1, coverage 2 */
		leave(7);
	for (int i = 0; i < 9; i++) if (i % 2) sink++; else sink += 2;
	sink++; sink++;
}
/* clang-format on */

int
main(int argc, char **argv)
{
	int numbers[50];
	int i = 0;
	while (i < 50) {
		numbers[i] = i * 31 % 53;
		i++;
	}
	qsort(numbers, 50, sizeof *numbers, compare);
	i = 0;
	while (i < 53) {
		if (search(numbers, 50, i) < 0)
			sink += 100;
		sink += collatz((unsigned)i + 1);
		sink += (unsigned)kind(i);
		i++;
	}
	if (argc > 5)
		never();
	i = 0;
	do
		i = either(i) + 2;
	while (i < 50);
	crowded();
	for (int k = 0; k < 7; k++)
		sink ^= (unsigned long)k;
	printf("%lu\n", sink);
	return argv[0] == NULL;
}
