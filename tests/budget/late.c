/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that loads a library late, and calls a function of it: `late LIBRARY`. With `late
 * LIBRARY rare` it loads it when Strobe has set a breakpoint in this program, and calls another
 * function of it when that has one. With -DLIBRARY the library. For test_unique.py. */
#ifdef LIBRARY

int early(int n), rare(int n);

int
early(int n)
{
	return n + 1;
}

int
rare(int n)
{
	return n * 3;
}

#else
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

/* Some ms of CPU time, without system calls: Strobe does not let code run natively that makes many.
 */
static void
work(void)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
}

typedef int function(int);

/* Is never called. */
__attribute__((noinline)) int seldom(int n);
int
seldom(int n)
{
	return n * 5;
}

/* Until there is a breakpoint. Strobe needs some of this program's CPU time to set it, and time of
 * its own. 0: there never is. */
static int
wait_for_breakpoint(function *f)
{
	const struct timespec nap = {0, 10000000};
	for (int i = 0; i < 2000; i++) {
		if (*(volatile unsigned char *)f == 0xcc)
			return 1;
		work();
		nanosleep(&nap, NULL);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const int waits = argc > 2;
	if (waits && !wait_for_breakpoint(seldom))
		return 3;
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	/* That is called by the same code: what is new is in the library only. */
	function *called[] = {library ? (function *)dlsym(library, "early") : NULL,
	                      library ? (function *)dlsym(library, "rare") : NULL};
	if (!called[0] || !called[1])
		return 1;
	int n = called[0](argc);
	if (waits && !wait_for_breakpoint(called[1]))
		return 4;
	n = called[waits](n);
	return n == 0;
}
#endif
