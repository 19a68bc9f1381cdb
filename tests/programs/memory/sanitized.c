/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program compiled with -fsanitize=address,undefined: its shadow memory, interceptors and
 * unwinder must work, and it must find the overflow that it is asked to make.
 */
/* strobe-test: env=ASAN_OPTIONS=detect_leaks=0 stress=cache,far */
/* strobe-test: name=overflow args=overflow exit=1 stderr=any env=ASAN_OPTIONS=detect_leaks=0 stress=cache,far */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
work(void *arg)
{
	long sum = 0;

	for (int i = 1; i < 300; i++) {
		char *p = malloc((size_t)i);
		memset(p, i, (size_t)i);
		sum += p[i / 2];
		free(p);
	}
	*(long *)arg = sum;
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[4];
	long sums[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, &sums[i]))
			return 2;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
	fflush(stdout);
	if (argc > 1) {
		volatile char *p = malloc(10);
		return p[strlen(argv[1]) + 2]; /* the first byte behind it */
	}
	return 0;
}
