/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls sums: its own or that of a library; with -DLOADS, that of the library that it is given. It
 * loads the library twice, so that the second half of the calls may be at another address. */
#include <dlfcn.h>
#include <stdio.h>

#include "sums.h"

enum { MOST = 64 };

static long
call(long (*function)(const struct numbers *, int), int from, int to)
{
	static long numbers[MOST];
	long sum = 0;
	for (int i = from; i < to; i++) {
		const struct numbers v = {i, numbers};
		sum += function(&v, 1 + i % 4);
	}
	return sum;
}

#ifdef LOADS
static int
load(const char *path, int from, int to)
{
	void *library = dlopen(path, RTLD_NOW);
	if (!library) {
		puts(dlerror());
		return 1;
	}
	*(volatile long *)(long[1]){0} =
	        call((long (*)(const struct numbers *, int))dlsym(library, "sums"), from, to);
	return dlclose(library);
}

int
main(int argc, char **argv)
{
	return argc < 2 || load(argv[1], 0, MOST / 2) || load(argv[1], MOST / 2, MOST);
}
#else
int
main(void)
{
	*(volatile long *)(long[1]){0} = call(sums, 0, MOST);
	return 0;
}
#endif
