/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that share all memory without being threads, by clone with CLONE_VM and by vfork from a
 * thread, computing while threads compute: whoever stops the others has to reach them too.
 */
/* strobe-test: */
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ROUNDS 30000

typedef unsigned step(unsigned);
static char stack[65536] __attribute__((aligned(16)));
static atomic_int children;

#define STEP(n)                                                                                    \
	__attribute__((noinline)) static unsigned step##n(unsigned x)                              \
	{                                                                                          \
		return x * 1664525u + 1013904223u + n;                                             \
	}
/* It never settles on a layout for these. */
/* clang-format off */
STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
        /* clang-format on */

        /* Calls that nobody can link: no libc, and nothing that needs the thread's own storage. */
        static unsigned compute(void)
{
	static step *const volatile steps[] = {step0, step1, step2, step3,
	                                       step4, step5, step6, step7};
	unsigned x = 1;

	for (int i = 0; i < ROUNDS; i++)
		x = steps[x >> 13 & 7](x);
	return x;
}

static int
child(void *want)
{
	for (int i = 0; i < 10; i++)
		if (compute() != *(unsigned *)want)
			return 1;
	return 42;
}

static void
wait_for(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, __WALL) == pid && WIFEXITED(status) &&
	              WEXITSTATUS(status) == 42,
	      "status %#x", status);
}

static void *
parent_of_shared(void *want)
{
	for (int i = 0; i < 4; i++) {
		pid_t pid = clone(child, stack + sizeof stack, CLONE_VM | SIGCHLD, want);
		CHECK(pid > 0, "clone");
		wait_for(pid);
	}
	atomic_fetch_sub(&children, 1);
	return NULL;
}

static void *
parent_of_vforked(void *want)
{
	for (int i = 0; i < 4; i++) {
		pid_t pid = vfork();
		if (!pid)
			_exit(child(want));
		CHECK(pid > 0, "vfork");
		wait_for(pid);
	}
	atomic_fetch_sub(&children, 1);
	return NULL;
}

int
main(void)
{
	pthread_t threads[2];
	unsigned want = compute();

	atomic_store(&children, 2);
	CHECK(!pthread_create(&threads[0], NULL, parent_of_shared, &want), "thread");
	CHECK(!pthread_create(&threads[1], NULL, parent_of_vforked, &want), "thread");
	while (atomic_load(&children))
		CHECK_EQ(compute(), want);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts("processes that share memory compute beside threads");
	return 0;
}
