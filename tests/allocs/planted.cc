// SPDX-License-Identifier: GPL-3.0-or-later
// Allocations whose numbers are known for each chain of calls: test_allocs.py has them.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLEE extern "C" __attribute__((noinline, noclone))

static void *volatile kept;

static inline __attribute__((always_inline)) void *
within(size_t n)
{
	return malloc(n); // line 17
}

CALLEE void
leaf(size_t n, int release)
{
	kept = within(n); // line 23
	if (release)
		free(kept);
}

CALLEE void
one(void)
{
	leaf(100, 1); // line 31
	kept = 0;
}

CALLEE void
two(void)
{
	leaf(1000, 0); // line 38
	kept = 0;
}

CALLEE void
deeper(int n)
{
	if (n)
		deeper(n - 1); // line 46
	else
		two(); // line 48
	kept = 0;
}

CALLEE void
zeroed(void)
{
	kept = calloc(8, 8); // line 55
	kept = realloc(kept, 128);
}

CALLEE void
handler(int)
{
	kept = malloc(7);
	free(kept);
}

static void *
in_thread(void *)
{
	for (int i = 0; i < 50; i++)
		one();
	return nullptr;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	for (int i = 0; i < 10; i++)
		one();
	for (int i = 0; i < 5; i++)
		two();
	if (!strcmp(what, "deep"))
		deeper(400);
	if (!strcmp(what, "some"))
		deeper(3);
	if (!strcmp(what, "more"))
		zeroed();
	if (!strcmp(what, "new"))
		kept = new char[500];
	if (!strcmp(what, "signal")) {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
	}
	if (!strcmp(what, "threads")) {
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], nullptr, in_thread, nullptr);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], nullptr);
	}
	if (!strcmp(what, "fork")) {
		pid_t child = fork();
		if (!child) {
			for (int i = 0; i < 3; i++)
				one();
			_exit(0);
		}
		waitpid(child, nullptr, 0);
	}
	if (!strcmp(what, "killed"))
		raise(SIGKILL);
	return 0;
}
