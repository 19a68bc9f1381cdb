/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls of every kind that C has: recursive, mutual, through pointers, from a library, in threads,
 * in a signal's handler, at exit, left by longjmp. Usage: callers FILE, for the books of callbook.h
 */
#include "callbook.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, MANY = 5000 };

static volatile unsigned long sink;
static jmp_buf away;

static unsigned long
fibonacci(unsigned long n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static unsigned long is_odd(unsigned long n);

static unsigned long
is_even(unsigned long n)
{
	return n ? is_odd(n - 1) : 1;
}

static unsigned long
is_odd(unsigned long n)
{
	return n ? is_even(n - 1) : 0;
}

static unsigned long
ackermann(unsigned long m, unsigned long n)
{
	book_arguments(m, n);
	if (!m)
		return n + 1;
	return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

static unsigned long
add(unsigned long a, unsigned long b)
{
	book_arguments(a, b);
	return a + b;
}

static unsigned long
multiply(unsigned long a, unsigned long b)
{
	book_arguments(a, b);
	return a * b;
}

static unsigned long (*const operations[])(unsigned long, unsigned long) = {add, multiply,
                                                                            ackermann};

static unsigned long
fold(const unsigned char *program)
{
	unsigned long value = 1;
	for (; *program; program++)
		value = operations[*program % 3](value % 3, *program % 4);
	return value;
}

/* The same functions, called from another one: more often than rows of calls find room at once. */
static unsigned long
fold_often(void)
{
	unsigned long value = 1;
	for (unsigned long i = 0; i < MANY; i++)
		value = operations[i % 2](value % 1000, i % 4);
	return value;
}

/* Two functions of one byte, one behind the other, called from one place. */
void neighbour_even(void), neighbour_odd(void);
__asm__(".text\n.p2align 1\n"
        ".type neighbour_even, @function\nneighbour_even: ret\n.size neighbour_even, 1\n"
        ".type neighbour_odd, @function\nneighbour_odd: ret\n.size neighbour_odd, 1\n");

static void
neighbours(void)
{
	char *here = (char *)(uintptr_t)neighbours + 1;
	for (int i = 0; i < 10; i++) {
		void (*called)(void) = i % 3 ? neighbour_even : neighbour_odd;
		__cyg_profile_func_enter((void *)(uintptr_t)called, here);
		called();
		__cyg_profile_func_exit((void *)(uintptr_t)called, here);
	}
}

static int
compare(const void *a, const void *b)
{
	const int *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void
sort(void)
{
	int numbers[40];
	for (int i = 0; i < 40; i++)
		numbers[i] = i * 17 % 41;
	qsort(numbers, 40, sizeof *numbers, compare);
	sink += (unsigned long)numbers[7];
}

static void
leave(int depth)
{
	if (sink && !depth)
		longjmp(away, 1);
	if (depth)
		leave(depth - 1);
	sink++;
}

static void
jump(int depth)
{
	if (setjmp(away))
		book_landed();
	else
		leave(depth);
	sink += fibonacci(2);
}

static void
on_signal(int sig)
{
	sink += is_even((unsigned long)sig);
}

static void
at_exit(void)
{
	sink += fibonacci(3);
}

static void *
work(void *arg)
{
	unsigned long n = *(unsigned long *)arg;
	sink += fibonacci(n) + is_even(n) + ackermann(2, n % 4);
	sort();
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	unsigned long n[THREADS];
	if (argc != 2)
		return 1;
	book_file(argv[1]);
	atexit(at_exit);
	signal(SIGUSR1, on_signal);
	for (unsigned long i = 0; i < THREADS; i++) {
		n[i] = i + 5;
		pthread_create(&threads[i], NULL, work, &n[i]);
	}
	sink += fold((const unsigned char *)"what is executed here is of no consequence");
	sink += fold_often();
	neighbours();
	raise(SIGUSR1);
	for (int depth = 0; depth < 5; depth++)
		jump(depth);
	sort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
