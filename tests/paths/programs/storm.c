/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals come at any instruction of what counts calls and returns, in two threads; nothing must be
 * lost there, nor counted twice. With the argument `calm` there are none.
 */
#include "hazard.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

enum { TIMES = 60000, EVERY = 30 /* microseconds */ };

static volatile int ticks;

static void
on_tick(int number)
{
	(void)number;
	ticks++;
}

NOIPA static void
f_b(void)
{
	DONE;
}

NOIPA static void
f_c(void)
{
	DONE;
}

NOIPA static void
f_a(int i)
{
	f_b();
	if (i % 2)
		f_b();
	f_c();
}

NOIPA static void *
f_thread(void *argument)
{
	for (int i = 0; i < TIMES; i++)
		f_a(i);
	return argument;
}

int
main(int argc, char **argv)
{
	const struct itimerval often = {{0, EVERY}, {0, EVERY}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	pthread_t thread;
	sigaction(SIGALRM, &action, NULL);
	if (argc < 2 || strcmp(argv[1], "calm") != 0)
		setitimer(ITIMER_REAL, &often, NULL);
	f_thread(NULL);
	if (!pthread_create(&thread, NULL, f_thread, NULL))
		pthread_join(thread, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
