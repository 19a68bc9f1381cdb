/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that are left by longjmp or exit, that threads call, and that children call. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TARGET __attribute__((noinline, noclone))

static jmp_buf back;

TARGET int
leaves(int n)
{
	if (n % 3 == 2)
		longjmp(back, 1);
	__asm__ volatile("" : : : "memory");
	return n + 1;
}

TARGET int
deep(int n)
{
	const int below = n ? deep(n - 1) : 0;
	__asm__ volatile("" : : : "memory");
	return below + 1;
}

TARGET void *
in_thread(long argument)
{
	__asm__ volatile("" : : : "memory");
	return (void *)argument;
}

static void *
thread(void *argument)
{
	return in_thread((long)argument);
}

TARGET int
forked(int n)
{
	printf("forked %d\n", n);
	fflush(stdout);
	return n;
}

TARGET int
ends(int n)
{
	__asm__ volatile("" : : : "memory");
	return n;
}

TARGET void
never_returns(int n)
{
	exit(n);
}

static void
run_threads(void)
{
	pthread_t all[200];
	for (long i = 0; i < 200; i++)
		if (pthread_create(&all[i], NULL, thread, (void *)i))
			abort();
	for (int i = 0; i < 200; i++)
		pthread_join(all[i], NULL);
	deep(10000);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "threads")) {
		run_threads();
	} else if (!strcmp(what, "fork")) {
		forked(1);
		if (!fork()) {
			forked(2);
			_exit(0);
		}
		wait(NULL);
		forked(3);
	} else if (!strcmp(what, "calls")) {
		for (int i = 0; i < 3000; i++)
			ends(i);
		deep(2999);
	} else if (!strcmp(what, "kill")) {
		for (int i = 0; i < 100; i++)
			ends(i);
		kill(getpid(), SIGKILL);
	} else if (!strcmp(what, "code")) {
		return ends(7);
	} else if (!strcmp(what, "exit")) {
		never_returns(argc > 2 ? atoi(argv[2]) : 0);
	} else if (!strcmp(what, "fault")) {
		raise(SIGSEGV);
	} else if (!strcmp(what, "abort")) {
		abort();
	} else if (!strcmp(what, "early")) {
		return 3;
	} else {
		for (volatile int i = 0; i < 10; i++)
			if (!setjmp(back))
				leaves(i);
	}
	return 0;
}
