/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with a runtime that reads return addresses by itself, as far as Strobe can tell: it has
 * a symbol of OCaml's. Every function below looks at its own return address, which must be one of
 * the program's own code.
 */
#include <stdint.h>
#include <stdio.h>

#define CALLED __attribute__((noinline, noipa))

extern char etext, __executable_start;
static long wrong;

void caml_call_gc(void);
void
caml_call_gc(void)
{
}

static inline void
look(const void *address)
{
	wrong += (uintptr_t)address - (uintptr_t)&__executable_start >=
	         (uintptr_t)(&etext - &__executable_start);
}

CALLED static long
t_fib(long n)
{
	look(__builtin_return_address(0));
	return n < 2 ? n : t_fib(n - 1) + t_fib(n - 2);
}

CALLED static long
t_sum(long n)
{
	long sum = 0;
	look(__builtin_return_address(0));
	for (long i = 0; i < n; i++)
		sum += t_fib(i % 5);
	return sum;
}

int
main(void)
{
	printf("%ld %ld\n", t_sum(1000), t_fib(15));
	printf("%ld wrong\n", wrong);
	return 0;
}
