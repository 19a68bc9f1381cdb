/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Callbacks of libc stand under the function that handed them over. */
#include "hazard.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

NOIPA static int
f_order(int a, int b)
{
	return (a > b) - (a < b);
}

NOIPA static int
f_compare(const void *a, const void *b)
{
	int order = f_order(*(const int *)a, *(const int *)b);
	DONE;
	return order;
}

NOIPA static void
f_init(void)
{
	DONE;
}

NOIPA static void
f_once(void)
{
	pthread_once(&once, f_init);
	DONE;
}

/* bsearch compares 6 times in 63 numbers before it gives up. */
NOIPA static int
f_sorts(void)
{
	int numbers[63], key = 1000;
	for (int i = 0; i < 63; i++)
		numbers[i] = i;
	return bsearch(&key, numbers, 63, sizeof *numbers, f_compare) != NULL;
}

int
main(void)
{
	f_once();
	f_once();
	return f_sorts() || f_sorts();
}
