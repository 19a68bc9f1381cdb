/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Callers whose cost grows because of a callee, or because of their own code. Usage: growth SIZES
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

/* Keeps the calls before it from becoming tail calls. There are no global numbers, because these
 * would be features. */
#define END __asm__ volatile("" : : : "memory")

static NOINLINE void
work(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		__asm__ volatile("" : : "r"(i));
}

static NOINLINE void
take(unsigned long bytes)
{
	free(malloc(bytes));
	END;
}

/* The cost of a call is constant. */
NOINLINE void
small(unsigned n)
{
	work(20 + n % 2);
	take(16);
	END;
}

/* The cost of a call is linear: n calls are quadratic. */
NOINLINE void
merge(unsigned length)
{
	work(30ul * length);
	take(8ul * length);
	END;
}

NOINLINE void
finish(unsigned n)
{
	work(50ul * n);
	take(100);
	END;
}

/* n^2 comes from merge. */
NOINLINE void
callee_grows(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		small(i);
		merge(i);
	}
	finish(n);
	END;
}

/* n^2 is its own. */
NOINLINE void
own_grows(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		small(i);
		work(30ul * n);
		take(8ul * n);
	}
	finish(n);
	END;
}

NOINLINE void
leaves(unsigned n, jmp_buf out)
{
	if (n % 3 == 0)
		longjmp(out, 1);
	take(n);
	END;
}

/* Of its calls of leaves, some do not return; it calls itself once. */
NOINLINE void
recovers(unsigned n)
{
	jmp_buf out;
	if (!setjmp(out))
		leaves(n, out);
	take(10);
	if (n > 1000)
		recovers(n - 1000);
	END;
}

int
main(int argc, char **argv)
{
	(void)argc;
	for (unsigned n = 1; n <= (unsigned)atoi(argv[1]); n++) {
		callee_grows(n);
		own_grows(n);
		recovers(n + (n % 2 ? 1000 : 0));
	}
	puts("done");
	return 0;
}
