/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same call-heavy work in each of N threads that share nothing: what one thread costs another.
 * usage: threads N ROUNDS */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rounds;

__attribute__((noinline)) static unsigned
walk(unsigned n, unsigned x)
{
	if (n < 2)
		return x;
	x = x * 1103515245u + 12345u;
	return x & 64 ? walk(n - 1, x) + walk(n - 2, x ^ n) : walk(n - 2, x) ^ walk(n - 1, x + n);
}

static void *
work(void *arg)
{
	unsigned sum = (unsigned)(uintptr_t)arg;
	for (int i = 0; i < rounds; i++)
		sum += walk(22, (unsigned)i);
	return (void *)(uintptr_t)sum;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t threads[64];
	unsigned total = 0;
	rounds = argc > 2 ? atoi(argv[2]) : 100;
	if (n < 1 || n > 64)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)1))
			return 1;
	for (int i = 0; i < n; i++) {
		void *sum;
		pthread_join(threads[i], &sum);
		total += (unsigned)(uintptr_t)sum;
	}
	printf("%u\n", total);
	return 0;
}
