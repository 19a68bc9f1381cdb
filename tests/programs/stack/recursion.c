/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A million frames deep on a thread stack of its own, up and down again, and mutual recursion
 * through pointers.
 */
/* strobe-test: */
#include "check.h"
#include <pthread.h>

#define DEPTH 1000000

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static uint64_t
down(uint64_t n)
{
	if (!n)
		return 1;
	return down(n - 1) * 3 + n;
}

static uint64_t even(uint64_t n), odd(uint64_t n);
static uint64_t (*volatile const ways[2])(uint64_t) = {even, odd};

static uint64_t
even(uint64_t n)
{
	return n ? ways[n & 1](n - 1) + 1 : 0;
}

static uint64_t
odd(uint64_t n)
{
	return n ? ways[n & 1](n - 1) + 2 : 0;
}

static void *
run(void *arg)
{
	uint64_t expected = 1;

	(void)arg;
	for (uint64_t n = 1; n <= DEPTH; n++)
		expected = expected * 3 + n;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(down(DEPTH), expected);
	/* even() is entered with n and for every odd n before it; ways[n & 1] continues. */
	printf("%lu %lu\n", down(DEPTH), ways[0](300000));
	return NULL;
}

int
main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	CHECK(!pthread_attr_setstacksize(&attributes, 256u << 20), "stack size");
	CHECK(!pthread_create(&thread, &attributes, run, NULL), "pthread_create");
	pthread_join(thread, NULL);
	return 0;
}
