/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions whose calls can be counted: built a second time with -finstrument-functions and
 * count/truth.c, which prints how often each was really called; tests/engine/counts.py compares
 * that with the hot tool. Recursive, called from libraries, through pointers, by tail calls, in
 * threads, at exit, never.
 */
/* strobe-test: */
#include "check.h"
#include <pthread.h>

#define API __attribute__((noipa))

uint64_t fibonacci(uint64_t n), is_even(uint64_t n), is_odd(uint64_t n), hop(uint64_t n),
        hop_end(uint64_t n);
uint64_t by_pointer_0(uint64_t x), by_pointer_1(uint64_t x), by_pointer_2(uint64_t x),
        never(uint64_t x);
int compare_numbers(const void *a, const void *b);
void *thread_body(void *arg);
uint64_t thread_leaf(uint64_t x);
void at_the_end(void);
uint64_t loop_head(uint64_t n);

API uint64_t
fibonacci(uint64_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

API uint64_t
is_even(uint64_t n)
{
	return n ? is_odd(n - 1) : 1;
}

API uint64_t
is_odd(uint64_t n)
{
	return n ? is_even(n - 1) : 0;
}

API uint64_t
hop_end(uint64_t n)
{
	return n + 1;
}

API uint64_t
hop(uint64_t n)
{
	return hop_end(n * 2);
}

API uint64_t
by_pointer_0(uint64_t x)
{
	return x + 3;
}

API uint64_t
by_pointer_1(uint64_t x)
{
	return x * 3;
}

API uint64_t
by_pointer_2(uint64_t x)
{
	return x ^ 3;
}

API uint64_t
never(uint64_t x)
{
	return x;
}

API int
compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

API uint64_t
thread_leaf(uint64_t x)
{
	return x * 31 + 1;
}

API void *
thread_body(void *arg)
{
	uint64_t x = 0;

	for (uint64_t i = 0; i < (uint64_t)(uintptr_t)arg; i++)
		x = thread_leaf(x);
	return (void *)(uintptr_t)x;
}

/* Its first instructions belong to a loop as soon as the compiler lets them. */
API uint64_t
loop_head(uint64_t n)
{
	do {
		__asm__ volatile("" : "+r"(n));
	} while (--n);
	return n;
}

API void
at_the_end(void)
{
	puts("the end");
}

static uint64_t (*volatile const pointers[])(uint64_t) = {by_pointer_0, by_pointer_1, by_pointer_2};

int
main(int argc, char **argv)
{
	pthread_t threads[4];
	int numbers[500];
	uint64_t x = 1;

	(void)argv;
	atexit(at_the_end);
	CHECK_EQ(fibonacci(18), 2584);
	CHECK_EQ(is_even(1001), 0);
	for (int i = 0; i < 3000; i++)
		x = pointers[i % 7 % 3](x);
	for (int i = 0; i < 123; i++)
		x += hop(x);
	for (int i = 0; i < 500; i++)
		numbers[i] = i * 7919 % 500;
	qsort(numbers, 500, sizeof numbers[0], compare_numbers);
	CHECK_EQ(numbers[499], 499);
	for (int i = 0; i < 50; i++)
		x += loop_head(20);
	for (uintptr_t i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, thread_body, (void *)(1000 * (i + 1))),
		      "thread");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	if (argc > 5)
		x = never(x);
	printf("%lu\n", x);
	return 0;
}
