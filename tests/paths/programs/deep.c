/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 100,000 levels of two functions that call each other. */
#include "hazard.h"

#include <pthread.h>

NOIPA int f_b(int n);

NOIPA static int
f_end(void)
{
	DONE;
	return 0;
}

NOIPA int
f_a(int n)
{
	int sum = f_b(n - 1);
	DONE;
	return sum + 1;
}

NOIPA int
f_b(int n)
{
	int sum = n ? f_a(n - 1) : f_end();
	DONE;
	return sum + 1;
}

NOIPA static void *
f_first(void *value)
{
	return f_a(99999) == 100000 ? value : NULL;
}

int
main(void)
{
	static char area[1];
	pthread_attr_t attributes;
	pthread_t thread;
	void *result;

	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, 64 << 20) ||
	    pthread_create(&thread, &attributes, f_first, area) || pthread_join(thread, &result))
		return 1;
	return result != area;
}
