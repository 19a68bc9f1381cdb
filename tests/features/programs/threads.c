/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls a function while more and more threads wait, none of which ends before the program. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline, noclone)) void
works(int waiting)
{
	for (volatile int i = 0; i < waiting; i++)
		;
}

static void *
waits(void *arg)
{
	pause();
	return arg;
}

int
main(void)
{
	pthread_t thread;
	works(0);
	for (int i = 1; i < 8; i++) {
		if (pthread_create(&thread, NULL, waits, NULL))
			abort();
		works(i);
		works(i);
	}
	_Exit(0);
}
