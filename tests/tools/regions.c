/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work in and outside of regions of interest, and memory by known sites: for test_regions.py. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strobe/region.h>

static volatile long sum;

__attribute__((noinline)) static void
work(long n)
{
	for (long i = 0; i < n; i++)
		sum += i;
}

__attribute__((noinline)) static void
border(void)
{
	sum++;
}

__attribute__((noinline)) static void *
keep(size_t bytes)
{
	char *p = malloc(bytes);
	p[0] = 1;
	return p;
}

__attribute__((noinline)) static void *
again(void *p, size_t bytes)
{
	char *q = realloc(p, bytes);
	q[0] = 1;
	return q;
}

/* 100 pieces of 10 bytes, of which 40 are freed and 20 become 30 bytes; in `threads` threads. */
static void *
allocate(void *arg)
{
	void *pieces[100];
	pthread_setname_np(pthread_self(), "keeper");
	for (int i = 0; i < 100; i++)
		pieces[i] = keep(10);
	for (int i = 0; i < 40; i++)
		free(pieces[i]);
	for (int i = 40; i < 60; i++)
		pieces[i] = again(pieces[i], 30);
	sum += (long)pieces[99];
	return arg;
}

int
main(int argc, char **argv)
{
	(void)argv;
	work(100000);
	strobe_region_begin();
	work(1000);
	strobe_region_end();
	work(50000);
	strobe_region_begin();
	work(1000);
	strobe_region_end();
	border();
	work(100);
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, allocate, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return argc - 1;
}
