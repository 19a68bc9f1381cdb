/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Handlers stand under the function that they interrupt, on its stack (`here`) and on one of their
 * own (`there`); one returns, the other is left by a long jump.
 */
#include "hazard.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

static sigjmp_buf landing;
static char stack[1 << 16];

NOIPA static void
f_inside(void)
{
	DONE;
}

NOIPA static void
f_after(void)
{
	DONE;
}

NOIPA static void
f_handler(int number)
{
	(void)number;
	f_inside();
	DONE;
}

NOIPA static void
f_jumper(int number)
{
	f_inside();
	siglongjmp(landing, number);
}

NOIPA static void
f_raise(int number)
{
	raise(number);
	DONE;
}

int
main(int argc, char **argv)
{
	int there = argc > 1 && !strcmp(argv[1], "there");
	stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_flags = there ? SA_ONSTACK : 0};

	action.sa_handler = f_handler;
	if (sigaltstack(&other, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 1;
	action.sa_handler = f_jumper;
	if (sigaction(SIGUSR2, &action, NULL))
		return 1;
	for (volatile int i = 0; i < 2; i++) {
		f_raise(SIGUSR1);
		f_after();
		if (!sigsetjmp(landing, 1))
			f_raise(SIGUSR2);
		f_after();
	}
	return 0;
}
