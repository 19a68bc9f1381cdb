/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second thread does all the work. */
#include "hazard.h"

#include <pthread.h>

enum { TIMES = 10000000 };

NOIPA static void
f_calls(void)
{
	DONE;
}

static void *
f_thread(void *arg)
{
	for (long i = 0; i < TIMES; i++)
		f_calls();
	return arg;
}

int
main(void)
{
	pthread_t th;
	if (pthread_create(&th, NULL, f_thread, NULL))
		return 1;
	pthread_join(th, NULL);
	return 0;
}
