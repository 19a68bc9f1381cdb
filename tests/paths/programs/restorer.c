/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What follows a signal's handler in the function that it interrupted: that is still the one under
 * way, also when the handler's stack lies above its own.
 */
#include "hazard.h"

#include <alloca.h>
#include <signal.h>
#include <string.h>

enum { LARGE = 20000, STACK = 1 << 16 };

NOIPA static void
f_handler(int number)
{
	(void)number;
	DONE;
}

NOIPA static void
f_leaf(void)
{
	DONE;
}

NOIPA static void
f_large(volatile char *at)
{
	at[0] = 1;
	f_leaf();
	DONE;
}

NOIPA static void
f_work(int size)
{
	__asm__ volatile("int3" ::: "memory");
	f_leaf();
	__asm__ volatile("int3" ::: "memory");
	f_large(alloca((size_t)size));
	DONE;
}

int
main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = f_handler};
	stack_t stack = {.ss_sp = alloca(STACK), .ss_size = STACK};
	if (argc > 1 && strcmp(argv[1], "above") == 0) {
		sigaltstack(&stack, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGTRAP, &action, NULL);
	f_work(LARGE);
	return 0;
}
