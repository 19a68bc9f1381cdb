/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that loads a library late, and later still calls a function of it, if asked to:
 * `late LIBRARY [rare]`. With -DLIBRARY the library. For test_unique.py. */
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

/* Up to so many ms of CPU time. */
static void
work(long ms)
{
	struct timespec t;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

typedef int function(int);

int
main(int argc, char **argv)
{
	work(120);
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	/* That is called by the same code: what is new is in the library only. */
	function *called[] = {library ? (function *)dlsym(library, "early") : NULL,
	                      library ? (function *)dlsym(library, "rare") : NULL};
	if (!called[0] || !called[1])
		return 1;
	int n = called[0](argc);
	work(260);
	n = called[argc > 2](n);
	work(300);
	return n == 0;
}
#endif
