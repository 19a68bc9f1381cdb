/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function in two threads. IHPP's prog5 (listing 4.18). Its first call of a library's function
 * goes through the PLT.
 */
#include "hazard.h"

#include <pthread.h>
#include <stdio.h>

NOIPA static void *
foo(void *arg)
{
	int i = 0;

	while (1) {
		if (arg) {
			if (i >= 3)
				break;
		} else {
			if (i >= 9)
				break;
		}
		printf("%i\n", i);
		i++;
	}
	return NULL;
}

int
main(void)
{
	pthread_t th;

	foo((void *)1);
	if (pthread_create(&th, NULL, foo, NULL))
		return 1;
	pthread_join(th, NULL);
	return 0;
}
