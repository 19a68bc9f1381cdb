/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two threads. IHPP's prog1 (listing 4.1). */
#include "hazard.h"

#include <pthread.h>

NOIPA static void
b(void)
{
	DONE;
}

NOIPA static void
c(void)
{
	DONE;
}

NOIPA static void
f(void)
{
	DONE;
}

NOIPA static void
a(int x)
{
	b();
	if (x)
		f();
	else
		c();
	DONE;
}

NOIPA static void
d(void)
{
	c();
	c();
	DONE;
}

NOIPA static void
e(void)
{
	d();
	c();
	a(0);
	DONE;
}

static void *
thread2(void *arg)
{
	a(1);
	return arg;
}

int
main(void)
{
	pthread_t th;

	a(0);
	e();
	e();
	if (pthread_create(&th, NULL, thread2, NULL))
		return 1;
	pthread_join(th, NULL);
	return 0;
}
