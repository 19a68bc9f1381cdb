/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dlopen and dlclose in loops: two libraries with the same names and different code take turns at
 * one address; also from four threads at once, with callbacks into the program and thread variables
 * of the library.
 */
/* strobe-test: */
#include "check.h"
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>

#define ROUNDS 48

static char paths[2][4200];
static int reused;

static int
back(int x)
{
	return x * 2;
}

static void
once(int which, int threads)
{
	static void *last;
	void *library = dlopen(paths[which], RTLD_NOW | RTLD_LOCAL);
	int value = which ? 7 : 3;

	CHECK(library, "%s", dlerror());
	int (*f)(int) = (int (*)(int))(uintptr_t)dlsym(library, "library_value");
	int (*s)(void) = (int (*)(void))(uintptr_t)dlsym(library, "library_state");
	int (*c)(int (*)(int), int) =
	        (int (*)(int (*)(int), int))(uintptr_t)dlsym(library, "library_call");
	CHECK(f && s && c, "symbols");
	int first = f(10), second = f(10);
	CHECK(threads || first == 10 * value + 1, "library %d gave %d", which, first);
	CHECK_EQ(second, first + 1);
	CHECK(threads || s() == 100 * value + 2, "state %d", s());
	CHECK_EQ(c(back, 5), (5 + value) * 2 + value);
	if (!threads) {
		reused += last == (void *)(uintptr_t)f;
		last = (void *)(uintptr_t)f;
	}
	CHECK(!dlclose(library), "dlclose");
}

static void *
many(void *arg)
{
	for (int i = 0; i < ROUNDS / 3; i++)
		once((i + (int)(long)arg) % 2, 1);
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t threads[4];

	CHECK(argc == 1, "no arguments");
	for (int i = 0; i < 2; i++)
		snprintf(paths[i], sizeof paths[i], "%s/code-library-%d.so",
		         dirname(strdup(argv[0])), i);
	for (int i = 0; i < ROUNDS; i++)
		once(i % 2, 0);
	CHECK(reused > ROUNDS / 4, "an address was reused only %d times", reused);
	for (long i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, many, (void *)i), "thread");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	puts("libraries come and go");
	return 0;
}
